"""Exercise: a transformer for pictures, as a module.

Out of scope: pictures of another size than the table was made for, and training.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, last_of_several_calls, values
from autograder.exercises.chapter_14 import CHAPTER
from autograder.exercises.chapter_14._draws import (
    State,
    in_turn,
    linear,
    stack,
    vector,
    with_new_weights,
)
from autograder.exercises.chapter_14._draws import in_training as trained
from autograder.exercises.chapter_14._draws import not_contiguous as turned
from autograder.inputs import described, integer, normal, sizes
from autograder.slips import always_float32, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Implementation, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request
from solutions.blocks import EncoderBlock
from solutions.norms import RMSNorm
from solutions.patches import patchify
from solutions.vision import ViT

Sizes = dict[str, int]
Shape = tuple[int, int, int]


def _sizes(rng: Generator, **fixed: int) -> Sizes:
    """Draw R rows and N columns of patches with S rows and columns of pixels."""
    of = {**sizes(rng, "B V"), "C": 3, "R": 2, "N": 3, "S": 2, "T": 2, "H": integer(rng, 2, 3)}
    of = {**of, **fixed}
    of["D"] = of["H"] * 4
    return {**of, "I": of["R"] * of["S"], "J": of["N"] * of["S"]}


def _state(rng: Generator, of: Sizes) -> State:
    rows = 1 + of["R"] * of["N"]
    return {
        **linear(rng, "embed", of["D"], of["C"] * of["S"] ** 2),
        "class_token": vector(rng, of["D"]) * 2,
        "positions": 0.7 * normal(rng, "M D", {"M": rows, "D": of["D"]}),
        **stack(rng, of["D"], of["T"]),
        **linear(rng, "head", of["V"], of["D"]),
    }


def _asked(rng: Generator, of: Sizes, state: State, size: float = 1.0) -> Trial:
    pictures = size * normal(rng, "B C I J", of, mean=0.3)
    words = f"{described('pictures', 'B C I J', of)}, size = {of['S']}, {of['V']} classes, "
    words += f"d_model = {of['D']}, {of['T']} layers, {of['H']} heads"
    build = Call(
        ((of["C"], of["I"], of["J"]), of["S"], of["V"]),
        {"d_model": of["D"], "layers": of["T"], "heads": of["H"]},
    )
    return Trial(Request((Call((pictures,)),), build, state), words, of, "B V")


def _trial(rng: Generator, size: float = 1.0, **fixed: int) -> Trial:
    of = _sizes(rng, **fixed)
    return _asked(rng, of, _state(rng, of), size)


def usual(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng)
    yield _trial(rng, R=3, N=2, T=3)


def one_layer(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, T=1)


def no_layer(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, T=0)


def grey(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, C=1, R=3, N=3, T=1)


def one_patch(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, R=1, N=1, S=4, T=1)
    yield _trial(rng, R=1, N=5, S=1, T=1)


def small(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, B=1, T=1)
    yield _trial(rng, V=1, H=1, T=1)


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, B=3, C=3, R=3, N=3, S=3, V=3, T=1)
    yield _trial(rng, B=5, R=2, N=2, T=1)


def bright(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, size=100.0, T=1)


def several_calls(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, B=2, T=1)
    state = _state(rng, of)
    yield in_turn(_asked(rng, of | {"B": batch}, state) for batch in (2, 5))


def new_weights(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, T=1)
    yield with_new_weights(_asked(rng, of, _state(rng, of)), _state(rng, of))


def in_training(rng: Generator) -> Iterator[Trial]:
    yield trained(_trial(rng))


def contiguous_or_not(rng: Generator) -> Iterator[Trial]:
    yield turned(_trial(rng, T=1))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(rng, B=2, H=2), rng)
    yield backward(trained(_trial(rng, B=3, T=1)), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng, T=1))


def kept(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, T=1)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, B=2, T=1))


NEAR = 1e-4  # of the largest: sums in another order go through several layers

CASES = (
    Case("from pictures to scores", usual, values, tolerance=NEAR, weight=3),
    Case("a single layer", one_layer, values, tolerance=NEAR),
    Case("without a layer the picture is not seen", no_layer, values, tolerance=NEAR),
    Case("pictures in grey, square ones", grey, values, tolerance=NEAR),
    Case("a single patch, patches of a single pixel", one_patch, values, tolerance=NEAR),
    Case("one picture, one class, one head", small, values, tolerance=NEAR),
    Case("works where sizes happen to be equal", equal_sizes, values, tolerance=NEAR),
    Case("bright pictures", bright, values, tolerance=NEAR),
    Case("the second call does not depend on the first", several_calls, values, tolerance=NEAR),
    Case(
        "weights that have changed are read anew",
        new_weights,
        last_of_several_calls,
        tolerance=NEAR,
    ),
    Case("training or not, the numbers are the same", in_training, values, tolerance=NEAR),
    Case("works for pictures that are not contiguous", contiguous_or_not, values, tolerance=NEAR),
    Case("the gradient reaches pixels and all weights", gradients, values, tolerance=NEAR),
    Case("the dtype of the weights is kept", dtypes, values, tolerance=1e-1),
    Case("the pictures themselves are not changed", kept, inputs_kept, tolerance=NEAR),
    Case("works on whatever device everything is on", devices, values, tolerance=NEAR),
)


class _Parts(ViT):
    """The right module in steps, of which a mistake changes one."""

    def forward(self, pictures: Tensor) -> Tensor:
        x = self.placed(self.joined(self.embed(self.cut(pictures))))
        return self.read(self.through(x))

    def cut(self, pictures: Tensor) -> Tensor:
        return patchify(pictures, self.size)

    def joined(self, patches: Tensor) -> Tensor:
        return torch.cat([self.token(patches), patches], 1)

    def token(self, patches: Tensor) -> Tensor:
        return self.class_token.expand(len(patches), 1, -1)

    def placed(self, x: Tensor) -> Tensor:
        return x + self.positions

    def through(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return x

    def read(self, x: Tensor) -> Tensor:
        return self.scored(self.norm(x[:, 0]))

    def scored(self, answer: Tensor) -> Tensor:
        return self.head(answer)  # type: ignore[no-any-return]


class TokenLast(_Parts):
    """The class token stands behind the patches, or has the last row of the positions. It comes
    first, and has row 0.
    """

    def joined(self, patches: Tensor) -> Tensor:
        return torch.cat([patches, self.token(patches)], 1)

    def read(self, x: Tensor) -> Tensor:
        return self.scored(self.norm(x[:, -1]))


class TokenLastFirstRead(_Parts):
    """The class token stands behind the patches, but the first token is read: that is a patch."""

    def joined(self, patches: Tensor) -> Tensor:
        return torch.cat([patches, self.token(patches)], 1)


class LastRead(_Parts):
    """The last token is read, which is the last patch. The class token stands first."""

    def read(self, x: Tensor) -> Tensor:
        return self.scored(self.norm(x[:, -1]))


class FirstPatchRead(_Parts):
    """The token after the first is read: that is a patch. The class token has the number 0."""

    def read(self, x: Tensor) -> Tensor:
        return self.scored(self.norm(x[:, 1]))


class MeanOfPatches(_Parts):
    """The patches are averaged. Many models do that, without a class token; here it is read."""

    def read(self, x: Tensor) -> Tensor:
        return self.scored(self.norm(x[:, 1:]).mean(1))


class MeanOfAll(_Parts):
    """All tokens are averaged. Only the class token is read."""

    def read(self, x: Tensor) -> Tensor:
        return self.scored(self.norm(x).mean(1))


class MeanOverTheBatch(_Parts):
    """The mean over the pictures is taken somewhere: all get the same scores."""

    def read(self, x: Tensor) -> Tensor:
        return super().read(x).mean(0, keepdim=True).expand(len(x), -1)


class EveryToken(_Parts):
    """Every token gets scores, (B, L, V). Only the class token is asked."""

    def read(self, x: Tensor) -> Tensor:
        return self.scored(self.norm(x))


class TokenAdded(_Parts):
    """The class token is added to all patches, and the first patch is read. It is a token of its
    own, in front of them.
    """

    def joined(self, patches: Tensor) -> Tensor:
        return torch.cat([self.token(patches), patches + self.class_token], 1)


class NoPositions(_Parts):
    """The positions are not added: the picture may as well be a heap of patches."""

    def placed(self, x: Tensor) -> Tensor:
        return x


class PatchesAlonePlaced(_Parts):
    """The class token gets no position. It has row 0 of the table."""

    def placed(self, x: Tensor) -> Tensor:
        return torch.cat([x[:, :1], x[:, 1:] + self.positions[1:]], 1)


class TokenAlonePlaced(_Parts):
    """Only the class token gets a position, all patches the same none."""

    def placed(self, x: Tensor) -> Tensor:
        return torch.cat([x[:, :1] + self.positions[0], x[:, 1:]], 1)


class OnePositionForAll(_Parts):
    """All tokens of a picture get the same position. Which axis holds the tokens?"""

    def placed(self, x: Tensor) -> Tensor:
        return x + self.positions[0]


class PositionsInEveryBlock(_Parts):
    """The positions are added before every block. Once, at the beginning, is enough."""

    def through(self, x: Tensor) -> Tensor:
        for i, block in enumerate(self.blocks):
            x = block(self.placed(x) if i else x)
        return x


class PositionsMultiplied(_Parts):
    """The positions are multiplied with the tokens. Add them."""

    def placed(self, x: Tensor) -> Tensor:
        return x * self.positions


class PatchesColumnByColumn(_Parts):
    """The patches come column by column. `patchify` gives them in reading order."""

    def cut(self, pictures: Tensor) -> Tensor:
        grid = pictures.unfold(2, self.size, self.size).unfold(3, self.size, self.size)
        return grid.permute(0, 3, 2, 1, 4, 5).flatten(3).flatten(1, 2)


class ChannelsLast(_Parts):
    """Within a patch the channels of a pixel lie side by side. In `patchify` channel 0 comes first,
    with all of its pixels.
    """

    def cut(self, pictures: Tensor) -> Tensor:
        patches = super().cut(pictures)
        apart = patches.reshape(*patches.shape[:2], pictures.shape[1], -1)
        return apart.mT.flatten(2)


class CutByReshape(_Parts):
    """The patches are cut by one reshape, which moves no number: they are stretches of long rows.
    Use `patchify`.
    """

    def cut(self, pictures: Tensor) -> Tensor:
        return pictures.reshape(len(pictures), -1, self.embed.in_features)


class FirstPictureForAll(_Parts):
    """All pictures get the scores of the first one."""

    def cut(self, pictures: Tensor) -> Tensor:
        return super().cut(pictures[:1].expand_as(pictures))


class NormForgotten(_Parts):
    """The class token is read without the norm before the head."""

    def read(self, x: Tensor) -> Tensor:
        return self.scored(x[:, 0])


class NormTooEarly(_Parts):
    """The norm stands before the blocks. It stands behind them, before the head."""

    def through(self, x: Tensor) -> Tensor:
        return super().through(self.norm(x))

    def read(self, x: Tensor) -> Tensor:
        return self.scored(x[:, 0])


class NormAfterEachBlock(_Parts):
    """The norm follows every block. It is applied once, after the last."""

    def through(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = self.norm(block(x))
        return x


class FirstBlockAlone(_Parts):
    """Only the first block is used."""

    def through(self, x: Tensor) -> Tensor:
        for block in self.blocks[:1]:
            x = block(x)
        return x


class FirstBlockRepeated(_Parts):
    """The first block is used again and again. Each layer has a block of its own."""

    def through(self, x: Tensor) -> Tensor:
        for _ in self.blocks:
            x = self.blocks[0](x)
        return x


class BlocksBackwards(_Parts):
    """The blocks are used in reversed order."""

    def through(self, x: Tensor) -> Tensor:
        for block in reversed(self.blocks):
            x = block(x)
        return x


class AroundTheBlocks(_Parts):
    """A block is given x and its answer is added to x once more. The block has its residual
    connections inside.
    """

    def through(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = x + block(x)
        return x


class Causal(_Parts):
    """There is a causal mask, as in a decoder and in its blocks: the class token, which stands
    first, sees nothing but itself.
    """

    def through(self, x: Tensor) -> Tensor:
        seen = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        for block in self.blocks:
            x = block(x, seen)
        return x


class Probabilities(_Parts):
    """These are probabilities. Scores are asked, before any softmax: the loss applies its own."""

    def scored(self, answer: Tensor) -> Tensor:
        return super().scored(answer).softmax(-1)


class HeadCut(_Parts):
    """The numbers are right, but the class token carries no gradient (`.data`, `detach`): it will
    never learn what to ask.
    """

    def token(self, patches: Tensor) -> Tensor:
        return super().token(patches).detach()


class PositionsCut(_Parts):
    """The numbers are right, but the positions carry no gradient (`.data`, `detach`, a buffer)."""

    def placed(self, x: Tensor) -> Tensor:
        return x + self.positions.detach()


class PicturesCentred(_Parts):
    """The pictures are centred or scaled first. They come in as they are."""

    def cut(self, pictures: Tensor) -> Tensor:
        return super().cut(pictures - pictures.mean())


class DropoutInTraining(_Parts):
    """In training some entries are dropped at random. This model has no dropout."""

    def placed(self, x: Tensor) -> Tensor:
        return F.dropout(super().placed(x), 0.1, self.training)


class NormOfTheBatch(_Parts):
    """What is done depends on the other pictures of the batch. Each is scored by itself."""

    def scored(self, answer: Tensor) -> Tensor:
        return super().scored(answer) - super().scored(answer).mean(0)


class OneHead(_Parts):
    """The attention has a single head, whatever `heads` says. The weights have the same shapes, so
    nothing else tells.
    """

    def through(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            attend: Any = block.attend
            attend.heads = 1
            x = block(x)
        return x


class TokenOfTheFirstCall(_Parts):
    """The class token of the first call is kept for all later ones. It learns, and changes."""

    held: Tensor | None = None

    def token(self, patches: Tensor) -> Tensor:
        if self.held is None:
            self.held = self.class_token[None, None].clone()
        return self.held.expand(len(patches), 1, -1)


class TokenWithBatchAxis(ViT):
    """The class token and the positions have axes for the batch. Here they are (d_model,) and
    (1 + patches, d_model).
    """

    def __init__(
        self, shape: Shape, size: int, classes: int, *, d_model: int, layers: int, heads: int
    ) -> None:
        super().__init__(shape, size, classes, d_model=d_model, layers=layers, heads=heads)
        self.class_token = nn.Parameter(self.class_token.data[None, None])
        self.positions = nn.Parameter(self.positions.data[None])


class NoRowForTheToken(ViT):
    """The positions have a row for each patch and none for the class token. It has row 0."""

    def __init__(
        self, shape: Shape, size: int, classes: int, *, d_model: int, layers: int, heads: int
    ) -> None:
        super().__init__(shape, size, classes, d_model=d_model, layers=layers, heads=heads)
        self.positions = nn.Parameter(self.positions.data[1:])


class FourTimesAsWide(ViT):
    """The feed-forward layers are four times as wide as the stream. Here they are twice as wide."""

    def __init__(
        self, shape: Shape, size: int, classes: int, *, d_model: int, layers: int, heads: int
    ) -> None:
        super().__init__(shape, size, classes, d_model=d_model, layers=layers, heads=heads)
        self.blocks = nn.ModuleList(
            EncoderBlock(d_model, heads, 4 * d_model) for _ in range(layers)
        )


class WithoutBias(ViT):
    """Patches are embedded, or classes are scored, without a bias. Here both have one."""

    def __init__(
        self, shape: Shape, size: int, classes: int, *, d_model: int, layers: int, heads: int
    ) -> None:
        super().__init__(shape, size, classes, d_model=d_model, layers=layers, heads=heads)
        self.embed = nn.Linear(self.embed.in_features, d_model, bias=False)
        self.head = nn.Linear(d_model, classes, bias=False)


class PlainList(ViT):
    """The blocks are a plain list: the module does not know their weights, and they never learn.
    `nn.ModuleList` makes them its own.
    """

    def __init__(
        self, shape: Shape, size: int, classes: int, *, d_model: int, layers: int, heads: int
    ) -> None:
        super().__init__(shape, size, classes, d_model=d_model, layers=layers, heads=heads)
        blocks = list(self.blocks)
        del self.blocks
        self.blocks = blocks  # type: ignore[assignment]


class ByTorchUnfold(nn.Module):
    """Patches by unfolding; the class token is written into its place; the sum of two parts."""

    def __init__(
        self, shape: Shape, size: int, classes: int, *, d_model: int, layers: int, heads: int
    ) -> None:
        super().__init__()
        c, i, j = shape
        self.patch = size
        self.class_token = nn.Parameter(torch.zeros(d_model))
        self.positions = nn.Parameter(torch.randn(1 + i * j // size**2, d_model) * 0.1)
        self.embed = nn.Linear(size * size * c, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(layers):
            self.blocks.append(EncoderBlock(d_model, heads, d_model * 2))
        self.norm, self.head = RMSNorm(d_model), nn.Linear(d_model, classes)

    def forward(self, pictures: Tensor) -> Tensor:
        tokens = F.unfold(pictures, self.patch, stride=self.patch).mT
        x = self.positions.expand(len(tokens), -1, -1).clone()
        x[:, 0] += self.class_token
        x[:, 1:] += self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))[:, 0]  # type: ignore[no-any-return]


class ByConvolution(nn.Module):
    """The projection is used as the kernel of a convolution; the blocks are a Sequential."""

    def __init__(
        self, shape: Shape, size: int, classes: int, *, d_model: int, layers: int, heads: int
    ) -> None:
        super().__init__()
        channels, rows, columns = shape
        self.kernel = (d_model, channels, size, size)
        self.embed = nn.Linear(channels * size * size, d_model)
        self.class_token = nn.Parameter(torch.empty(d_model).normal_())
        grid = (rows // size) * (columns // size)
        self.positions = nn.Parameter(torch.zeros(grid + 1, d_model))
        stacked = [EncoderBlock(d_model, heads, 2 * d_model) for _ in range(layers)]
        self.blocks = nn.Sequential(*stacked)
        self.norm = RMSNorm(d_model)
        self.head = nn.Linear(d_model, classes)

    def forward(self, pictures: Tensor) -> Tensor:
        kernel = self.embed.weight.view(self.kernel)
        maps = F.conv2d(pictures, kernel, self.embed.bias, stride=self.kernel[-1])
        patches = maps.flatten(2).transpose(1, 2) + self.positions[1:]
        first = (self.class_token + self.positions[0]).repeat(patches.size(0), 1, 1)
        x = self.blocks(torch.cat((first, patches), dim=1))
        return F.linear(self.norm(x)[:, 0], self.head.weight, self.head.bias)


class PictureByPicture(nn.Module):
    """One picture at a time, with an attention of its own that stands for the blocks' one."""

    def __init__(
        self, shape: Shape, size: int, classes: int, *, d_model: int, layers: int, heads: int
    ) -> None:
        super().__init__()
        self.size = size
        numbers = shape[0] * size * size
        count = shape[1] * shape[2] // (size * size)
        self.head = nn.Linear(d_model, classes)
        self.norm = RMSNorm(d_model)
        self.blocks = nn.ModuleList([EncoderBlock(d_model, heads, 2 * d_model)] * 0)
        self.blocks.extend(EncoderBlock(d_model, heads, 2 * d_model) for _ in range(layers))
        self.positions = nn.Parameter(torch.rand(count + 1, d_model))
        self.class_token = nn.Parameter(torch.rand(d_model))
        self.embed = nn.Linear(numbers, d_model)

    def one(self, picture: Tensor) -> Tensor:
        s = self.size
        strips = torch.split(picture, s, dim=1)
        patches = [patch.flatten() for strip in strips for patch in torch.split(strip, s, dim=2)]
        tokens = [self.class_token, *map(self.embed, patches)]
        x = (torch.stack(tokens) + self.positions).unsqueeze(0)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[0, 0]))  # type: ignore[no-any-return]

    def forward(self, pictures: Tensor) -> Tensor:
        return torch.stack([self.one(picture) for picture in pictures])


WRONG: tuple[Implementation, ...] = (
    TokenLast,
    TokenLastFirstRead,
    LastRead,
    FirstPatchRead,
    MeanOfPatches,
    MeanOfAll,
    MeanOverTheBatch,
    EveryToken,
    TokenAdded,
    NoPositions,
    PatchesAlonePlaced,
    TokenAlonePlaced,
    OnePositionForAll,
    PositionsInEveryBlock,
    PositionsMultiplied,
    PatchesColumnByColumn,
    ChannelsLast,
    CutByReshape,
    FirstPictureForAll,
    NormForgotten,
    NormTooEarly,
    NormAfterEachBlock,
    FirstBlockAlone,
    FirstBlockRepeated,
    BlocksBackwards,
    AroundTheBlocks,
    Causal,
    Probabilities,
    HeadCut,
    PositionsCut,
    PicturesCentred,
    DropoutInTraining,
    NormOfTheBatch,
    OneHead,
    TokenOfTheFirstCall,
    TokenWithBatchAxis,
    NoRowForTheToken,
    FourTimesAsWide,
    WithoutBias,
    PlainList,
)

EXERCISE = Exercise(
    solution=ViT,
    chapter=CHAPTER,
    title="A transformer that looks",
    points=5,
    minutes=20,
    difficulty=4,
    statement=(
        "Write the module: patches, their projection, a class token in front, positions, blocks, "
        "a norm, and scores that are read off the class token. `EncoderBlock(d_model, heads, "
        "d_ff)` and `RMSNorm(width)` are imported at the top, and your `patchify` is there."
    ),
    example=(
        "Pictures with 1 channel, 4 rows and 6 columns have 2 x 3 = 6 patches of size 2, with 4 "
        "numbers each. The stream holds 7 tokens, and so do the positions: row 0 is for the class "
        "token, row 1 for the patch at the top left."
    ),
    conventions=(
        "The weights are called embed, class_token, positions, blocks, norm and head, and have the "
        "shapes that the docstring says. The checks copy weights into these.",
        "How the weights begin is up to you and not checked.",
        "Patches are in the order of `patchify`. The class token gets a position, too.",
        "The feed-forward layers are twice as wide as the stream.",
        "Scores are read off the class token alone, after the norm. No softmax, no dropout.",
    ),
    hints=(
        "How many patches are there, and how many numbers are in one?",
        "The class token is one vector for all pictures. `expand` makes it fit the batch.",
        "First join, then add the positions: the table has a row for every token.",
        "After the blocks, which token do you read?",
    ),
    cases=CASES,
    mistakes=(
        *WRONG,
        on_the_cpu(ViT),
        always_float32(ViT),
        cut_from_autograd(ViT),
    ),
    alternatives=(ByTorchUnfold, ByConvolution, PictureByPicture),
)
