"""Exercise: a block of an encoder.

Out of scope: the past (the next exercise), dropout (chapter 12).
"""

# what a layer of a module is called or gives, torch leaves open
# mypy: disable-error-code="no-any-return, no-untyped-call, union-attr, arg-type, operator"

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_11 import CHAPTER
from autograder.exercises.chapter_11._draws import Sizes, block, block_sizes
from autograder.inputs import described, integer, normal
from autograder.slips import always_float32, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request
from solutions.blocks import EncoderBlock
from solutions.feedforward import SwiGLU
from solutions.heads import MultiHeadAttention, multi_head_attention
from solutions.masks import causal_mask
from solutions.norms import LayerNorm, RMSNorm, rms_norm
from solutions.residual import post_norm_block, pre_norm_block


def _trial(rng: Generator, of: Sizes, mask: Tensor | None = None, std: float = 1.0) -> Trial:
    of = {**of, "G": of["H"]}
    x = normal(rng, "B L D", of, mean=std / 2, std=std)
    words = f"{described('x', 'B L D', of)}, heads = {of['H']}, d_ff = {of['F']}"
    if mask is not None:
        words += f", mask {tuple(mask.shape)}"
    build = Call((of["D"], of["H"], of["F"]))
    one = Call((x,), {} if mask is None else {"mask": mask})
    return Trial(Request((one,), build, block(rng, of)), words, of, "B L D")


def _padding(rng: Generator, of: Sizes) -> Tensor:
    """Let each sequence have another length, at least 1."""
    lengths = torch.randint(1, of["L"], (of["B"],), generator=rng)
    return torch.arange(of["L"]) < lengths[:, None, None, None]


def _some(rng: Generator, *shape: int) -> Tensor:
    """Let everybody see about half of the others, and its neighbour at least."""
    mask = torch.rand(shape, generator=rng) < 0.5
    return mask | torch.eye(shape[-1], dtype=torch.bool).roll(1, -1)


def everything(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, block_sizes(rng, K=5))


def padded(rng: Generator) -> Iterator[Trial]:
    of = block_sizes(rng)
    yield _trial(rng, of, _padding(rng, of))


def masked(rng: Generator) -> Iterator[Trial]:
    of = block_sizes(rng)
    yield _trial(rng, of, _some(rng, of["L"], of["L"]))
    yield _trial(rng, of, _some(rng, of["B"], 1, of["L"], of["L"]))
    yield _trial(rng, of, _some(rng, of["B"], of["H"], of["L"], of["L"]))


def nobody(rng: Generator) -> Iterator[Trial]:
    of = block_sizes(rng)
    mask = _padding(rng, of)
    mask[-1] = False
    yield _trial(rng, of, mask)


def silent(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng, block_sizes(rng), std=3.0)
    state = dict(trial.request.state or {})
    for name in ("attend.w_o.weight", "feed_forward.w_down.weight"):
        state[name] = torch.zeros_like(state[name])
    request = replace(trial.request, state=state)
    yield replace(trial, request=request, inputs=f"{trial.inputs}, w_o and w_down are 0")


def sizes_of_stream(rng: Generator) -> Iterator[Trial]:
    for std in (1e-3, 1e3):
        trial = _trial(rng, block_sizes(rng), std=std)
        yield replace(trial, inputs=f"{trial.inputs}, of the order {std}")


def special_sizes(rng: Generator) -> Iterator[Trial]:
    for letter in "BLF":
        yield _trial(rng, {**block_sizes(rng), letter: 1})
    yield _trial(rng, {**block_sizes(rng), "H": 1, "K": 5, "D": 5})
    yield _trial(rng, dict.fromkeys("BLFHD", 4) | {"K": 1, "G": 4})


def several_calls(rng: Generator) -> Iterator[Trial]:
    of = block_sizes(rng, B=2, L=3)
    trial = _trial(rng, of, _padding(rng, of))
    small = trial.request.calls[0]
    large = Call((normal(rng, "B L D", {**of, "B": 3, "L": 5}),))
    request = replace(trial.request, calls=(small, large, Call(small.args), small))
    words = f"{trial.inputs}, then (3, 5, D), then the first without and with its mask"
    yield replace(trial, request=request, inputs=words)


def training(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng, block_sizes(rng))
    request = replace(trial.request, train=True)
    yield replace(trial, request=request, inputs=f"{trial.inputs}, in training")


def not_contiguous(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng, block_sizes(rng))
    (x,) = trial.request.calls[0].args
    turned = x.transpose(0, 1).contiguous().transpose(0, 1)
    request = replace(trial.request, calls=(Call((turned,)),))
    yield replace(trial, request=request, inputs=f"{trial.inputs}, not contiguous")


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(rng, block_sizes(rng)), rng)
    of = block_sizes(rng)
    yield backward(_trial(rng, of, _padding(rng, of)), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    of = block_sizes(rng, L=integer(rng, 3, 5))
    yield from in_dtypes(_trial(rng, of, _padding(rng, of)))


def kept(rng: Generator) -> Iterator[Trial]:
    of = block_sizes(rng)
    yield _trial(rng, of, _padding(rng, of))


def devices(rng: Generator) -> Iterator[Trial]:
    of = block_sizes(rng)
    yield elsewhere(_trial(rng, of, _padding(rng, of)))


CASES = (
    Case("every token hears from all, also from later ones", everything, values, weight=2),
    Case("nobody hears from padding", padded, values),
    Case("a mask for each token, example or head", masked, values),
    Case("where all is hidden the attention says 0", nobody, values),
    Case("if both sublayers say 0, x comes out", silent, values),
    Case("works for small and for large numbers", sizes_of_stream, values),
    Case("works where sizes are equal, or 1", special_sizes, values),
    Case("the second call does not depend on the first", several_calls, values),
    Case("training or not, the numbers are the same", training, values),
    Case("works for a tensor that is not contiguous", not_contiguous, values),
    Case("the gradient reaches x and all weights", gradients, values),
    Case("the dtype is kept", dtypes, values, tolerance=6e-2),
    Case("x and the mask are not changed", kept, inputs_kept),
    Case("works on whatever device everything is on", devices, values),
)


class _InSteps(EncoderBlock):
    """The block in steps, of which a mistake changes one."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = x + self.heard(x, mask)
        return x + self.thought(x)

    def heard(self, x: Tensor, mask: Tensor | None) -> Tensor:
        return self.attend(self.norm_1(x), mask=self.seen(mask))

    def seen(self, mask: Tensor | None) -> Tensor | None:
        return mask

    def thought(self, x: Tensor) -> Tensor:
        return self.feed_forward(self.norm_2(x))


class PostNorm(EncoderBlock):
    """This is a post-norm block: the sums are normalised, as in the first paper. Here each sublayer
    reads a normalised copy, and the stream itself is never normalised.
    """

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        gains = (self.norm_1.weight, self.norm_2.weight)
        return post_norm_block(x, lambda y: self.attend(y, mask=mask), self.feed_forward, gains)


class StreamOverwritten(EncoderBlock):
    """What a sublayer says is added to the normalised copy, and the stream itself is lost: `x` got
    a new value before the sum. If both sublayers say 0, x should come out.
    """

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.norm_1(x)
        x = x + self.attend(x, mask=mask)
        x = self.norm_2(x)
        return x + self.feed_forward(x)


class SumInside(EncoderBlock):
    """The sum is inside of the sublayer, which reads the normalised copy plus x. Add x to what the
    sublayer says.
    """

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.attend(self.norm_1(x) + x, mask=mask)
        return self.feed_forward(self.norm_2(x) + x)


class NoSums(_InSteps):
    """The sublayers take the place of the stream: nothing is added."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.thought(self.heard(x, mask))


class NoFirstSum(_InSteps):
    """What the attention says takes the place of x. It is added to it."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.heard(x, mask)
        return x + self.thought(x)


class NoSecondSum(_InSteps):
    """What the feed-forward layer says takes the place of the stream. It is added to it."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.thought(x + self.heard(x, mask))


class SideBySide(_InSteps):
    """Both sublayers read the same x. Here the feed-forward layer reads what attention has written
    already.
    """

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return x + self.heard(x, mask) + self.thought(x)


class OntoX(_InSteps):
    """The feed-forward layer is added to the x that came into the block: what attention said is
    lost from the stream.
    """

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return x + self.thought(x + self.heard(x, mask))


class FeedForwardFirst(_InSteps):
    """The feed-forward layer comes first. Attention does."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = x + self.thought(x)
        return x + self.heard(x, mask)


class NoNorms(_InSteps):
    """Nothing is normalised: the two norms are there and not used."""

    def heard(self, x: Tensor, mask: Tensor | None) -> Tensor:
        return self.attend(x, mask=mask)

    def thought(self, x: Tensor) -> Tensor:
        return self.feed_forward(x)


class NoFirstNorm(_InSteps):
    """Attention reads the stream as it is. It reads a normalised copy."""

    def heard(self, x: Tensor, mask: Tensor | None) -> Tensor:
        return self.attend(x, mask=mask)


class NoSecondNorm(_InSteps):
    """The feed-forward layer reads the stream as it is. It reads a normalised copy."""

    def thought(self, x: Tensor) -> Tensor:
        return self.feed_forward(x)


class QueriesNormalisedAlone(_InSteps):
    """Only the queries come from the normalised copy; keys and values from the stream as it is. All
    three are made of the copy.
    """

    def heard(self, x: Tensor, mask: Tensor | None) -> Tensor:
        return self.attend(self.norm_1(x), x, mask)


class NormsExchanged(_InSteps):
    """The norms have changed places: norm_1 belongs to the attention."""

    def heard(self, x: Tensor, mask: Tensor | None) -> Tensor:
        return self.attend(self.norm_2(x), mask=mask)

    def thought(self, x: Tensor) -> Tensor:
        return self.feed_forward(self.norm_1(x))


class FirstNormTwice(_InSteps):
    """norm_1 is used for both sublayers. The second has its own, norm_2."""

    def thought(self, x: Tensor) -> Tensor:
        return self.feed_forward(self.norm_1(x))


class NormAtTheEnd(_InSteps):
    """What leaves the block is normalised. A pre-norm *model* has a norm at its very end; a block
    leaves the stream as it is.
    """

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        out = super().forward(x, mask)
        return rms_norm(out, torch.ones_like(self.norm_1.weight))


class LayerNormalised(_InSteps):
    """Your norms subtract the mean, as layer norms do. RMS norms divide, and that is all."""

    def heard(self, x: Tensor, mask: Tensor | None) -> Tensor:
        return super().heard(x - x.mean(-1, keepdim=True), mask)

    def thought(self, x: Tensor) -> Tensor:
        return super().thought(x - x.mean(-1, keepdim=True))


class MaskForgotten(_InSteps):
    """The mask is not handed on to the attention: everybody hears from padding."""

    def seen(self, mask: Tensor | None) -> Tensor | None:
        return None


class MaskInverted(_InSteps):
    """The mask is read the other way round: here True means that attending is allowed."""

    def seen(self, mask: Tensor | None) -> Tensor | None:
        return None if mask is None else ~mask


class MaskOfQueries(_InSteps):
    """The mask is turned: it says which keys each query may see, not which queries may ask."""

    def seen(self, mask: Tensor | None) -> Tensor | None:
        return None if mask is None else mask.transpose(-1, -2)


class Causal(_InSteps):
    """A token hears from those before it alone. That is a decoder: in an encoder all may be
    heard, unless the mask hides them.
    """

    def seen(self, mask: Tensor | None) -> Tensor | None:
        length = self.length
        past = causal_mask(length, length, self.norm_1.weight.device)
        return past if mask is None else past & mask

    length = 0

    def heard(self, x: Tensor, mask: Tensor | None) -> Tensor:
        self.length = x.shape[1]
        return super().heard(x, mask)


class FirstMaskKept(_InSteps):
    """The mask of the first call is used for later ones. Each call brings its own, or none."""

    known: Tensor | None = None

    def seen(self, mask: Tensor | None) -> Tensor | None:
        self.known = mask if self.known is None else self.known
        known = self.known
        return mask if known is None or known.shape[-1] != self.length else known

    length = 0

    def heard(self, x: Tensor, mask: Tensor | None) -> Tensor:
        self.length = x.shape[1]
        return super().heard(x, mask)


class EpsOfLayerNorm(EncoderBlock):
    """The eps of your norms is 1e-5. Here it is that of `RMSNorm`, 1e-6."""

    def __init__(self, d_model: int, heads: int, d_ff: int) -> None:
        super().__init__(d_model, heads, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model, 1e-5), RMSNorm(d_model, 1e-5)


class SquaredInHalf(EncoderBlock):
    """Your norm squares in the dtype of x, or adds its eps there. Use `RMSNorm`, which computes in
    float32 at least.
    """

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        def norm(x: Tensor, weight: Tensor) -> Tensor:
            if x.dtype in (torch.float32, torch.float64):
                return rms_norm(x, weight)
            return x / (x.square().sum(-1, keepdim=True) * 4096).sqrt() * weight

        x = x + self.attend(norm(x, self.norm_1.weight), mask=mask)
        return x + self.feed_forward(norm(x, self.norm_2.weight))


class DropoutInTraining(_InSteps):
    """In training some entries are dropped at random. This block has no dropout."""

    def thought(self, x: Tensor) -> Tensor:
        return F.dropout(super().thought(x), 0.1, self.training)


class StreamWrittenInto(_InSteps):
    """x itself is written into (`+=`, `add_`): the caller may still need it, and the norm that has
    read it needs it on the way back. Give the sum a tensor of its own.
    """

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x += self.heard(x, mask)
        return x + self.thought(x)


class LayerNorms(EncoderBlock):
    """Your norms are layer norms, with weight and bias. Here they are `RMSNorm`, with a weight
    alone.
    """

    def __init__(self, d_model: int, heads: int, d_ff: int) -> None:
        super().__init__(d_model, heads, d_ff)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)  # type: ignore[assignment]


class OneNorm(nn.Module):
    """There is one norm for both sublayers. Each has its own: norm_1 and norm_2."""

    def __init__(self, d_model: int, heads: int, d_ff: int) -> None:
        super().__init__()
        self.norm = RMSNorm(d_model)
        self.attend = MultiHeadAttention(d_model, heads)
        self.feed_forward = SwiGLU(d_model, d_ff)


class PlainFeedForward(EncoderBlock):
    """The feed-forward layer has two matrices. Here it is the gated one of chapter 8, `SwiGLU`."""

    def __init__(self, d_model: int, heads: int, d_ff: int) -> None:
        super().__init__(d_model, heads, d_ff)
        layers = nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model)
        self.feed_forward = nn.Sequential(*layers)  # type: ignore[assignment]


class WithPreNormBlock(EncoderBlock):
    """Use the function of chapter 07."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        def attend(copy: Tensor) -> Tensor:
            return self.attend(copy, mask=mask)

        gains = (self.norm_1.weight, self.norm_2.weight)
        return pre_norm_block(x, attend, self.feed_forward, gains)


class WithTorch(nn.Module):
    """Torch's norms, and the function of chapter 04."""

    def __init__(self, d_model: int, heads: int, d_ff: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = (nn.RMSNorm(d_model, eps=1e-6) for _ in range(2))
        self.attend = nn.Module()
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self.attend, name, nn.Linear(d_model, d_model, bias=False))
        self.feed_forward = nn.Module()
        self.feed_forward.w_gate = nn.Linear(d_model, d_ff, bias=False)
        self.feed_forward.w_up = nn.Linear(d_model, d_ff, bias=False)
        self.feed_forward.w_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        layer, matrices = self.feed_forward, self.attend
        four = (matrices.w_q, matrices.w_k, matrices.w_v, matrices.w_o)
        weights = tuple(matrix.weight for matrix in four)
        copy = self.norm_1(x)
        middle = x + multi_head_attention(copy, copy, weights, self.heads, mask)
        copy = self.norm_2(middle)
        return torch.add(middle, layer.w_down(F.silu(layer.w_gate(copy)) * layer.w_up(copy)))


class InALoop(nn.Module):
    """The same line for each sublayer; the parts made in another order."""

    def __init__(self, d_model: int, heads: int, d_ff: int) -> None:
        super().__init__()
        self.feed_forward = SwiGLU(d_ff=d_ff, d_model=d_model)
        self.attend = MultiHeadAttention(heads=heads, d_model=d_model)
        for i in (1, 2):
            self.add_module(f"norm_{i}", RMSNorm(d_model))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        first = lambda copy: self.attend(copy, copy, mask)  # noqa: E731
        for norm, sublayer in ((self.norm_1, first), (self.norm_2, self.feed_forward)):
            residual = x
            x = norm(x)
            x = sublayer(x)
            x = residual + x
        return x


EXERCISE = Exercise(
    solution=EncoderBlock,
    chapter=CHAPTER,
    title="A block of an encoder",
    points=2,
    minutes=7,
    difficulty=2,
    statement=(
        "Put the parts of the earlier chapters together: attention in which every token may hear "
        "every other, and the gated feed-forward layer, each on a normalised copy of the stream "
        "and each added to the stream itself. `MultiHeadAttention`, `RMSNorm` and `SwiGLU` are "
        "imported at the top; torch's ready-made attention is not allowed."
    ),
    example=(
        "EncoderBlock(6, heads=2, d_ff=10) has two norms of 6, four matrices of 6 x 6 and three of "
        "6 x 10: 336 numbers. If w_o and w_down are all 0, both sublayers say 0, and x comes out "
        "as it went in, whatever the norms are."
    ),
    conventions=(
        "The parts are called norm_1, attend, norm_2 and feed_forward, so that `state_dict` holds "
        "`attend.w_q.weight` and so on. norm_1 belongs to the attention.",
        "With a width d they are made by `RMSNorm(d)`, `MultiHeadAttention(d, heads)` and "
        "`SwiGLU(d, d_ff)`. Each is called with the stream; the attention takes "
        "`mask=mask` besides.",
        "Pre-norm: the copy that a sublayer reads is normalised, the stream never is. Attention "
        "comes first.",
        "The mask is boolean, True where attending is allowed; None hides nothing. A token "
        "that may hear nobody gets 0 from the attention. There are no "
        "positions here, no dropout and no biases.",
    ),
    hints=(
        "The constructor makes four parts; the method uses each of them once.",
        "You wrote this block as a function in chapter 7, with attention as an unknown. Now it is "
        "known, and wants a mask.",
        "Give the normalised copy no name of its own, or another one than the stream's.",
    ),
    cases=CASES,
    mistakes=(
        PostNorm,
        StreamOverwritten,
        SumInside,
        NoSums,
        NoFirstSum,
        NoSecondSum,
        SideBySide,
        OntoX,
        FeedForwardFirst,
        NoNorms,
        NoFirstNorm,
        NoSecondNorm,
        QueriesNormalisedAlone,
        NormsExchanged,
        FirstNormTwice,
        NormAtTheEnd,
        LayerNormalised,
        MaskForgotten,
        MaskInverted,
        MaskOfQueries,
        Causal,
        FirstMaskKept,
        EpsOfLayerNorm,
        SquaredInHalf,
        DropoutInTraining,
        StreamWrittenInto,
        LayerNorms,
        OneNorm,
        PlainFeedForward,
        on_the_cpu(EncoderBlock),
        always_float32(EncoderBlock),
        cut_from_autograd(EncoderBlock),
    ),
    alternatives=(WithPreNormBlock, WithTorch, InALoop),
    forbidden=READY_MADE_ATTENTION,
)
