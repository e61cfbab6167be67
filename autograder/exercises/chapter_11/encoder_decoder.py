"""Exercise: the whole encoder-decoder.

Out of scope: the blocks (exercises of their own), loss and training.
"""

# what a layer of a module is called or gives, torch leaves open
# mypy: disable-error-code="no-any-return, arg-type"

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_11 import CHAPTER
from autograder.exercises.chapter_11._draws import (
    Sizes,
    State,
    block,
    block_sizes,
    cross_block,
    gain,
    ids,
    stacked,
    tables,
)
from autograder.slips import on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request
from solutions.blocks import EncoderBlock
from solutions.masks import padding_mask
from solutions.norms import RMSNorm
from solutions.positions import position_angles, sinusoidal_encoding
from solutions.seq2seq import CrossBlock, EncoderDecoder


def _sizes(rng: Generator, layers: int = 2, **fixed: int) -> Sizes:
    of = block_sizes(rng, "B L M F V", **fixed)
    return {**of, "G": of["H"], "N": layers}


def _weights(rng: Generator, of: Sizes) -> State:
    encoder = stacked("encoder", (block(rng, of) for _ in range(of["N"])))
    decoder = stacked("decoder", (cross_block(rng, of) for _ in range(of["N"])))
    norms = gain(rng, of, "encoder_norm") | gain(rng, of, "norm")
    return tables(rng, of, std=0.7) | encoder | decoder | norms


def _trial(rng: Generator, of: Sizes, *calls: Call, note: str = "") -> Trial:
    words = f"sources (B, M) = ({of['B']}, {of['M']}), targets (B, L) = ({of['B']}, {of['L']})"
    words += f", {of['N']} layers, heads = {of['H']}, d_ff = {of['F']}"
    words += f", vocabulary = {of['V']}, d_model = {of['D']}{note}"
    named = {"layers": of["N"], "heads": of["H"], "d_ff": of["F"]}
    build = Call((of["V"], of["D"]), named)
    return Trial(Request(calls, build, _weights(rng, of)), words, of, "B L V")


def _call(rng: Generator, of: Sizes, padded: bool = False) -> Call:
    return Call((ids(rng, of, "B M"), ids(rng, of, "B L"), *([_real(rng, of)] if padded else [])))


def _real(rng: Generator, of: Sizes) -> Tensor:
    """Draw how many tokens of each source are real."""
    return torch.randint(1, of["M"], (of["B"],), generator=rng)


def _single(rng: Generator, padded: bool = False, layers: int = 1) -> Trial:
    of = _sizes(rng, layers)
    return _trial(rng, of, _call(rng, of, padded), note=", padded sources" if padded else "")


def whole(rng: Generator) -> Iterator[Trial]:
    yield _single(rng, layers=2)


def padded_sources(rng: Generator) -> Iterator[Trial]:
    yield _single(rng, padded=True, layers=2)


def long_and_short(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, layers=1)
    short, long = sorted((of["L"], of["M"]))
    for one in ({"L": short, "M": long}, {"L": long, "M": short}, {"L": short, "M": short}):
        yield _trial(rng, of | one, _call(rng, of | one))


def placed(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, layers=1)
    yield replace(_trial(rng, of, Call((ids(rng, of, "B L"),), method="place")), returns="B L D")


def encoded(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    yield replace(_trial(rng, of, Call((ids(rng, of, "B M"),), method="encode")), returns="B M D")


def decoded(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, layers=1)
    memory = torch.randn(of["B"], of["M"], of["D"], generator=rng)
    target = ids(rng, of, "B L")
    yield _trial(rng, of, Call((target, memory), method="decode"))
    one = Call((target, memory, _real(rng, of)), method="decode")
    yield _trial(rng, of, one, note=", padded sources")


def depths(rng: Generator) -> Iterator[Trial]:
    yield _single(rng, padded=True, layers=3)


def special_sizes(rng: Generator) -> Iterator[Trial]:
    for letter in "BLMF":
        of = {**_sizes(rng, layers=1), letter: 1}
        yield _trial(rng, of, _call(rng, of))
    of = dict.fromkeys("BLMFDV", 4) | {"H": 2, "G": 2, "K": 2, "N": 1}
    yield _trial(rng, of, _call(rng, of))


def several_calls(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, layers=1, B=2, L=3, M=5)
    other = {**of, "B": 3, "L": 4, "M": 6}
    calls = _call(rng, of, padded=True), _call(rng, of), _call(rng, other, padded=True)
    yield _trial(rng, of, *calls, note=", three calls")
    memories = (torch.randn(of["B"], of["M"], of["D"], generator=rng) for _ in range(2))
    decode = (Call((ids(rng, of, "B L"), memory), method="decode") for memory in memories)
    yield _trial(rng, of, _call(rng, of), *decode, note=", then other memories of that shape")


def training(rng: Generator) -> Iterator[Trial]:
    trial = _single(rng, padded=True)
    request = replace(trial.request, train=True)
    yield replace(trial, request=request, inputs=f"{trial.inputs}, in training")


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_single(rng, padded=True), rng, "B L V")


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_single(rng), (torch.float16, torch.bfloat16))


def float64(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_single(rng), (torch.float64,))


def kept(rng: Generator) -> Iterator[Trial]:
    yield _single(rng, padded=True)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_single(rng, padded=True))


CASES = (
    Case("the source is read, and every next target scored", whole, values, weight=2),
    Case("nobody hears from padding of the sources", padded_sources, values, weight=2),
    Case("sources may be shorter or longer than targets", long_and_short, values),
    Case("tokens get their vector, scaled, and a position", placed, values),
    Case("the encoder ends with its own norm", encoded, values),
    Case("the decoder works with any memory it is given", decoded, values),
    Case("three blocks on each side", depths, values),
    Case("works where sizes are equal, or 1", special_sizes, values),
    Case("nothing is left from earlier calls", several_calls, values),
    Case("training or not, the numbers are the same", training, values),
    Case("the gradient reaches all weights of both sides", gradients, values),
    Case("half precision is kept", dtypes, values, tolerance=8e-2),
    Case("double precision is kept", float64, values),
    Case("tokens and lengths are not changed", kept, inputs_kept),
    Case("works on whatever device everything is on", devices, values),
)


class _InSteps(EncoderDecoder):
    """The model in steps, of which a mistake changes one."""

    def place(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        return self.scaled(x) + self.code(x).to(x.dtype)

    def scaled(self, x: Tensor) -> Tensor:
        return x * math.sqrt(x.shape[-1])

    def code(self, x: Tensor) -> Tensor:
        places = torch.arange(x.shape[1], device=x.device)
        return sinusoidal_encoding(position_angles(places, x.shape[-1]))

    def seen(self, lengths: Tensor | None, memory: int) -> Tensor | None:
        return None if lengths is None else padding_mask(lengths, memory)

    def encode(self, source: Tensor, lengths: Tensor | None = None) -> Tensor:
        x = self.place(source)
        mask = self.seen(lengths, source.shape[1])
        for one in self.encoder:
            x = one(x, mask)
        return self.encoder_norm(x)

    def decode(self, target: Tensor, memory: Tensor, lengths: Tensor | None = None) -> Tensor:
        mask = self.seen(lengths, memory.shape[1])
        x = self.place(target)
        for one in self.decoder:
            x = one(x, memory, mask)
        return self.scored(x)

    def scored(self, x: Tensor) -> Tensor:
        return self.head(self.norm(x))


class NotScaled(_InSteps):
    """The embeddings are not scaled. They are multiplied by the root of d_model, so that they do
    not drown in the positions.
    """

    def scaled(self, x: Tensor) -> Tensor:
        return x


class ScaledByWidth(_InSteps):
    """The embeddings are multiplied by d_model, without the root."""

    def scaled(self, x: Tensor) -> Tensor:
        return x * x.shape[-1]


class DividedByRoot(_InSteps):
    """The embeddings are divided by the root of d_model. They are multiplied by it."""

    def scaled(self, x: Tensor) -> Tensor:
        return x / math.sqrt(x.shape[-1])


class PositionsScaled(_InSteps):
    """The positions are multiplied as well. Only the embeddings are."""

    def code(self, x: Tensor) -> Tensor:
        return super().code(x) * math.sqrt(x.shape[-1])


class NoPositions(_InSteps):
    """No positions are added. Neither of the attentions knows any: the order of the source would be
    lost.
    """

    def code(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


class FromOne(_InSteps):
    """The positions begin with 1. The first token stands at 0."""

    def code(self, x: Tensor) -> Tensor:
        places = torch.arange(1, x.shape[1] + 1, device=x.device)
        return sinusoidal_encoding(position_angles(places, x.shape[-1]))


class Halves(_InSteps):
    """Sines and cosines stand in two halves. Some code does that; here they alternate, as in
    `sinusoidal_encoding`.
    """

    def code(self, x: Tensor) -> Tensor:
        places = torch.arange(x.shape[1], device=x.device)
        angles = position_angles(places, x.shape[-1])
        return torch.cat([angles.sin(), angles.cos()], dim=-1)


class SourcePlacedAlone(_InSteps):
    """The targets have no positions. They are placed like the source."""

    def decode(self, target: Tensor, memory: Tensor, lengths: Tensor | None = None) -> Tensor:
        mask = self.seen(lengths, memory.shape[1])
        x = self.scaled(self.embed(target))
        for one in self.decoder:
            x = one(x, memory, mask)
        return self.scored(x)


class PaddingInEncoder(_InSteps):
    """The encoder hears from padding: its blocks get no mask. Only the decoder's do."""

    def encode(self, source: Tensor, lengths: Tensor | None = None) -> Tensor:
        return super().encode(source)


class PaddingInDecoder(_InSteps):
    """The decoder reads padding: its blocks get no mask. Only the encoder's do."""

    def decode(self, target: Tensor, memory: Tensor, lengths: Tensor | None = None) -> Tensor:
        return super().decode(target, memory)


class LengthsForgotten(_InSteps):
    """The lengths are not used: padding of the sources is heard everywhere."""

    def seen(self, lengths: Tensor | None, memory: int) -> Tensor | None:
        return None


class OneTokenLess(_InSteps):
    """The last real token of each source is hidden as well."""

    def seen(self, lengths: Tensor | None, memory: int) -> Tensor | None:
        return super().seen(None if lengths is None else (lengths - 1).clamp(min=1), memory)


class PaddingShown(_InSteps):
    """The mask is the wrong way round: True at padding. True means that attending is allowed."""

    def seen(self, lengths: Tensor | None, memory: int) -> Tensor | None:
        mask = super().seen(lengths, memory)
        return mask if mask is None else ~mask


class LayerByLayer(_InSteps):
    """Block i of the decoder reads what block i of the encoder wrote. All read the memory, which
    the last one wrote.
    """

    def forward(self, source: Tensor, target: Tensor, lengths: Tensor | None = None) -> Tensor:
        mask = self.seen(lengths, source.shape[1])
        m, x = self.place(source), self.place(target)
        for reads, writes in zip(self.encoder, self.decoder, strict=True):
            m = reads(m, mask)
            x = writes(x, self.encoder_norm(m), mask)
        return self.scored(x)


class FirstBlocksMemory(_InSteps):
    """The memory is what the first block of the encoder wrote. It is the last one's."""

    def encode(self, source: Tensor, lengths: Tensor | None = None) -> Tensor:
        mask = self.seen(lengths, source.shape[1])
        return self.encoder_norm(self.encoder[0](self.place(source), mask))


class EmbeddedSource(_InSteps):
    """The decoder reads the source as it was embedded: the encoder's blocks are not used."""

    def encode(self, source: Tensor, lengths: Tensor | None = None) -> Tensor:
        return self.encoder_norm(self.place(source))


class NoEncoderNorm(_InSteps):
    """The encoder's last norm is missing. The memory is normalised once, at its end."""

    def encode(self, source: Tensor, lengths: Tensor | None = None) -> Tensor:
        x = self.place(source)
        mask = self.seen(lengths, source.shape[1])
        for one in self.encoder:
            x = one(x, mask)
        return x


class OneNormForBoth(_InSteps):
    """Encoder and decoder end with the same norm, `norm`. Each has its own."""

    def encode(self, source: Tensor, lengths: Tensor | None = None) -> Tensor:
        x = self.place(source)
        mask = self.seen(lengths, source.shape[1])
        for one in self.encoder:
            x = one(x, mask)
        return self.norm(x)


class NoLastNorm(_InSteps):
    """The decoder's last norm is missing. Its stream is normalised once, before the output."""

    def scored(self, x: Tensor) -> Tensor:
        return self.head(x)


class Probabilities(_InSteps):
    """You return probabilities. The scores themselves are asked: the loss does the softmax."""

    def scored(self, x: Tensor) -> Tensor:
        return super().scored(x).softmax(-1)


class LogProbabilities(_InSteps):
    """You return logarithms of probabilities. The scores themselves are asked."""

    def scored(self, x: Tensor) -> Tensor:
        return super().scored(x).log_softmax(-1)


class HeadIsEmbedding(_InSteps):
    """The scores are made with the embedding's matrix. Here the head has its own, unless somebody
    ties them.
    """

    def scored(self, x: Tensor) -> Tensor:
        return F.linear(self.norm(x), self.embed.weight)


class WithoutTheLast(_InSteps):
    """The last position is missing. What the decoder is given is shifted already; every position
    is scored.
    """

    def scored(self, x: Tensor) -> Tensor:
        return super().scored(x)[:, :-1]


class ShiftedInside(_InSteps):
    """The targets are shifted in the model. They come as the decoder is to read them, with a start
    token in front.
    """

    def decode(self, target: Tensor, memory: Tensor, lengths: Tensor | None = None) -> Tensor:
        shifted = F.pad(target, (1, 0))[:, :-1]
        return super().decode(shifted, memory, lengths)


class Exchanged(_InSteps):
    """Source and target have changed places."""

    def forward(self, source: Tensor, target: Tensor, lengths: Tensor | None = None) -> Tensor:
        if source.shape == target.shape or lengths is not None:
            return super().forward(source, target, lengths)
        return super().forward(target, source)


class FirstMemoryKept(_InSteps):
    """The memory of the first source is kept for later ones. Each call has its own source."""

    known: Tensor | None = None

    def encode(self, source: Tensor, lengths: Tensor | None = None) -> Tensor:
        memory = super().encode(source, lengths)
        self.known = memory if self.known is None else self.known
        return self.known if self.known.shape == memory.shape else memory


class OwnMemoryRead(_InSteps):
    """The decoder reads what the encoder made last, not the memory that it is given. Between the
    two the encoder may have read another source.
    """

    last: Tensor | None = None

    def encode(self, source: Tensor, lengths: Tensor | None = None) -> Tensor:
        self.last = super().encode(source, lengths)
        return self.last

    def decode(self, target: Tensor, memory: Tensor, lengths: Tensor | None = None) -> Tensor:
        fits = self.last is not None and self.last.shape == memory.shape
        return super().decode(target, self.last if fits else memory, lengths)


class MemoryCutOff(_InSteps):
    """No gradient reaches the encoder (`detach`, `no_grad`): it would never learn."""

    def encode(self, source: Tensor, lengths: Tensor | None = None) -> Tensor:
        return super().encode(source, lengths).detach()


class DropoutInTraining(_InSteps):
    """In training some entries are dropped at random. This model has no dropout."""

    def scaled(self, x: Tensor) -> Tensor:
        return F.dropout(super().scaled(x), 0.1, self.training)


class SharedBlocks(EncoderDecoder):
    """All blocks of a side are the same object (`[block] * layers`): they share their weights. Make
    a new one for each.
    """

    def __init__(
        self, vocabulary: int, d_model: int, *, layers: int, heads: int, d_ff: int
    ) -> None:
        super().__init__(vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff)
        self.encoder = nn.ModuleList([self.encoder[0]] * layers)
        self.decoder = nn.ModuleList([self.decoder[0]] * layers)


class PlainList(EncoderDecoder):
    """The blocks are in plain lists, which torch does not look into: nobody sees their weights.
    There is an `nn.ModuleList`.
    """

    def __init__(
        self, vocabulary: int, d_model: int, *, layers: int, heads: int, d_ff: int
    ) -> None:
        super().__init__(vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff)
        for name in ("encoder", "decoder"):
            blocks = [*getattr(self, name)]
            delattr(self, name)
            setattr(self, name, blocks)


class TwoEmbeddings(EncoderDecoder):
    """Source and target have an embedding each. Here they share one: the vocabulary is the same."""

    def __init__(
        self, vocabulary: int, d_model: int, *, layers: int, heads: int, d_ff: int
    ) -> None:
        super().__init__(vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff)
        self.target_embed = nn.Embedding(vocabulary, d_model)


class HeadWithBias(EncoderDecoder):
    """The head has a bias, which is the default of nn.Linear. Here it has none."""

    def __init__(
        self, vocabulary: int, d_model: int, *, layers: int, heads: int, d_ff: int
    ) -> None:
        super().__init__(vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff)
        self.head = nn.Linear(d_model, vocabulary)


class NoEncoderNormMade(EncoderDecoder):
    """The encoder has no norm at its end. It has one, `encoder_norm`."""

    def __init__(
        self, vocabulary: int, d_model: int, *, layers: int, heads: int, d_ff: int
    ) -> None:
        super().__init__(vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff)
        del self.encoder_norm


class OneFunctionForBoth(nn.Module):
    """Torch's norms; positions by hand, in float64; a helper that runs any stack."""

    def __init__(
        self, vocabulary: int, d_model: int, *, layers: int, heads: int, d_ff: int
    ) -> None:
        super().__init__()
        self.head = nn.Linear(d_model, vocabulary, bias=False)
        self.norm, self.encoder_norm = (nn.RMSNorm(d_model, eps=1e-6) for _ in range(2))
        for name, kind in (("encoder", EncoderBlock), ("decoder", CrossBlock)):
            stack = [kind(d_model, heads, d_ff) for _ in range(layers)]
            self.add_module(name, nn.ModuleList(stack))
        self.embed = nn.Embedding(vocabulary, d_model)

    def place(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        length, width = x.shape[1:]
        hands = torch.arange(0, width, 2, device=x.device, dtype=torch.float64)
        i = torch.arange(length, device=x.device, dtype=torch.float64)
        angles = i[:, None] / 10_000 ** (hands / width)
        code = x.new_zeros(length, width)
        code[:, 0::2], code[:, 1::2] = angles.sin().to(x), angles.cos().to(x)
        return x.mul(width**0.5).add(code)

    def run(self, stack: nn.ModuleList, x: Tensor, *given: Tensor | None) -> Tensor:
        for one in stack:
            x = one(x, *given)
        return x

    def mask(self, lengths: Tensor | None, size: int) -> Tensor | None:
        if lengths is None:
            return None
        places = torch.arange(size, device=lengths.device)
        return (places[None] < lengths[:, None]).view(-1, 1, 1, size)

    def encode(self, source: Tensor, lengths: Tensor | None = None) -> Tensor:
        mask = self.mask(lengths, source.size(1))
        return self.encoder_norm(self.run(self.encoder, self.place(source), mask))

    def decode(self, target: Tensor, memory: Tensor, lengths: Tensor | None = None) -> Tensor:
        mask = self.mask(lengths, memory.size(1))
        return self.head(self.norm(self.run(self.decoder, self.place(target), memory, mask)))

    def forward(self, source: Tensor, target: Tensor, lengths: Tensor | None = None) -> Tensor:
        memory = self.encode(source, lengths)
        return self.decode(target, memory, lengths)


class AlwaysMasked(nn.Module):
    """Lengths that are not given are made; blocks are called by number."""

    def __init__(
        self, vocabulary: int, d_model: int, *, layers: int, heads: int, d_ff: int
    ) -> None:
        super().__init__()
        self.width, self.layers = d_model, layers
        self.embed = nn.Embedding(vocabulary, d_model)
        self.encoder, self.decoder = nn.ModuleList(), nn.ModuleList()
        for _ in range(layers):
            self.encoder.append(EncoderBlock(d_model, heads, d_ff))
            self.decoder.append(CrossBlock(d_model, heads, d_ff))
        self.encoder_norm, self.norm = RMSNorm(d_model), RMSNorm(d_model)
        self.head = nn.Linear(d_model, vocabulary, bias=False)

    def place(self, tokens: Tensor) -> Tensor:
        spots = torch.arange(tokens.shape[-1], device=tokens.device)
        code = sinusoidal_encoding(position_angles(spots, self.width))
        vectors = self.embed(tokens)
        return self.width**0.5 * vectors + code.to(vectors)

    def known(self, lengths: Tensor | None, like: Tensor) -> Tensor:
        batch, size = like.shape[:2]
        if lengths is None:
            lengths = torch.full((batch,), size, device=like.device)
        return padding_mask(lengths, size)

    def encode(self, source: Tensor, lengths: Tensor | None = None) -> Tensor:
        mask = self.known(lengths, source)
        hidden = self.place(source)
        for i in range(self.layers):
            hidden = self.encoder[i](hidden, mask=mask)
        return self.encoder_norm(hidden)

    def decode(self, target: Tensor, memory: Tensor, lengths: Tensor | None = None) -> Tensor:
        mask = self.known(lengths, memory)
        hidden = self.place(target)
        for i in range(self.layers):
            hidden = self.decoder[i](hidden, memory=memory, mask=mask)
        return self.head(self.norm(hidden))

    def forward(self, source: Tensor, target: Tensor, lengths: Tensor | None = None) -> Tensor:
        return self.decode(target, self.encode(source, lengths), lengths)


EXERCISE = Exercise(
    solution=EncoderDecoder,
    chapter=CHAPTER,
    title="From one sequence to another",
    points=4,
    minutes=18,
    difficulty=4,
    statement=(
        "The first transformer, with pre-norm blocks: a stack that reads the whole source, and one "
        "that writes the target while it reads what the first has left. Write the constructor and "
        "four short methods. Your `EncoderBlock` and `CrossBlock` are there: correct them first, "
        "if their checks are not green. `RMSNorm`, `padding_mask`, `position_angles` and "
        "`sinusoidal_encoding` are imported at the top."
    ),
    example=(
        "EncoderDecoder(11, 6, layers=2, heads=3, d_ff=10) with sources of 4 tokens and targets of "
        "3 makes a memory of shape (B, 4, 6) and logits of shape (B, 3, 11). If only 2 tokens of a "
        "source are real, its last two change nothing, whatever they are."
    ),
    conventions=(
        "The parts are embed, encoder, encoder_norm, decoder, norm and head. Source and target "
        "share embed; head has a matrix of its own.",
        "Embeddings are scaled, then positions are added, on both sides, beginning with 0. "
        "Positions are the interleaved sinusoids of chapter 6: "
        "`sinusoidal_encoding(position_angles(places, d_model))`, float32 whatever the model is. "
        "In a model of half or double precision, `.to(x.dtype)` before they are added.",
        "Both stacks end with a norm of their own. Every block of the decoder reads the same "
        "memory, which comes from the encoder's end.",
        "The lengths are those of the sources. They hide padding from the encoder and from the "
        "decoder: `padding_mask(lengths, n)` gives (B, 1, 1, n), True at real tokens. Targets are "
        "used as they come: nothing is shifted here.",
        "The model remembers nothing: `decode` reads the memory that it is given.",
    ),
    hints=(
        "Write the method that places tokens first: it serves both sides.",
        "Turn lengths into a mask, once for each side. All blocks of a side get the same one.",
        "The last method is one line: the two others after each other.",
    ),
    cases=CASES,
    mistakes=(
        NotScaled,
        ScaledByWidth,
        DividedByRoot,
        PositionsScaled,
        NoPositions,
        FromOne,
        Halves,
        SourcePlacedAlone,
        PaddingInEncoder,
        PaddingInDecoder,
        LengthsForgotten,
        OneTokenLess,
        PaddingShown,
        LayerByLayer,
        FirstBlocksMemory,
        EmbeddedSource,
        NoEncoderNorm,
        OneNormForBoth,
        NoLastNorm,
        Probabilities,
        LogProbabilities,
        HeadIsEmbedding,
        WithoutTheLast,
        ShiftedInside,
        Exchanged,
        FirstMemoryKept,
        OwnMemoryRead,
        MemoryCutOff,
        DropoutInTraining,
        SharedBlocks,
        PlainList,
        TwoEmbeddings,
        HeadWithBias,
        NoEncoderNormMade,
        on_the_cpu(EncoderDecoder),
    ),
    alternatives=(OneFunctionForBoth, AlwaysMasked),
    forbidden=READY_MADE_ATTENTION,
)
