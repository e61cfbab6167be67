"""Exercise: a block that reads what the encoder wrote.

Out of scope: the whole model (the next exercise), caches.
"""

# what a layer of a module is called or gives, torch leaves open
# mypy: disable-error-code="no-any-return, no-untyped-call"

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_11 import CHAPTER
from autograder.exercises.chapter_11._draws import Sizes, block_sizes, cross_block
from autograder.inputs import normal
from autograder.slips import always_float32, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request
from solutions.feedforward import SwiGLU
from solutions.heads import MultiHeadAttention
from solutions.masks import causal_mask
from solutions.norms import LayerNorm, RMSNorm, rms_norm
from solutions.seq2seq import CrossBlock


def _sizes(rng: Generator, **fixed: int) -> Sizes:
    of = block_sizes(rng, "B L M F", **fixed)
    return {**of, "G": of["H"]}


def _trial(rng: Generator, of: Sizes, mask: Tensor | None = None, std: float = 1.0) -> Trial:
    x = normal(rng, "B L D", of, mean=std / 2, std=std)
    memory = normal(rng, "B M D", of, mean=0.5)
    words = f"x (B, L, D) = {tuple(x.shape)}, memory (B, M, D) = {tuple(memory.shape)}"
    words += f", heads = {of['H']}, d_ff = {of['F']}"
    if mask is not None:
        words += f", mask {tuple(mask.shape)}"
    build = Call((of["D"], of["H"], of["F"]))
    one = Call((x, memory), {} if mask is None else {"mask": mask})
    return Trial(Request((one,), build, cross_block(rng, of)), words, of, "B L D")


def _padding(rng: Generator, of: Sizes) -> Tensor:
    lengths = torch.randint(1, of["M"], (of["B"],), generator=rng)
    return torch.arange(of["M"]) < lengths[:, None, None, None]


def plain(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, _sizes(rng, K=5))


def lengths(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    short, long = sorted((of["L"], of["M"]))
    yield _trial(rng, of | {"L": short, "M": long})
    yield _trial(rng, of | {"L": long, "M": short})
    yield _trial(rng, of | {"L": long, "M": long})


def padded(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    yield _trial(rng, of, _padding(rng, of))


def masked(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    for shape in ((of["L"], of["M"]), (of["B"], of["H"], of["L"], of["M"])):
        mask = torch.rand(shape, generator=rng) < 0.6
        yield _trial(rng, of, mask)


def silent(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng, _sizes(rng), std=3.0)
    state = dict(trial.request.state or {})
    for name in ("attend.w_o.weight", "cross.w_o.weight", "feed_forward.w_down.weight"):
        state[name] = torch.zeros_like(state[name])
    request = replace(trial.request, state=state)
    yield replace(trial, request=request, inputs=f"{trial.inputs}, w_o and w_down are 0")


def sizes_of_stream(rng: Generator) -> Iterator[Trial]:
    for std in (1e-3, 1e3):
        trial = _trial(rng, _sizes(rng), std=std)
        yield replace(trial, inputs=f"{trial.inputs}, x of the order {std}")


def special_sizes(rng: Generator) -> Iterator[Trial]:
    for letter in "BLMF":
        yield _trial(rng, {**_sizes(rng), letter: 1})
    yield _trial(rng, dict.fromkeys("BLMFHDG", 4) | {"K": 1})


def several_calls(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, B=2, L=3, M=5)
    trial = _trial(rng, of, _padding(rng, of))
    small = trial.request.calls[0]
    other = Call((small.args[0], normal(rng, "B M D", of)))
    large = Call(tuple(normal(rng, f"B {n} D", {**of, "B": 3, "L": 4, "M": 2}) for n in "LM"))
    request = replace(trial.request, calls=(small, other, large, small))
    words = f"{trial.inputs}, then another memory, other sizes, and the first again"
    yield replace(trial, request=request, inputs=words)


def training(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng, _sizes(rng))
    request = replace(trial.request, train=True)
    yield replace(trial, request=request, inputs=f"{trial.inputs}, in training")


def not_contiguous(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng, _sizes(rng))
    turned = (a.transpose(0, 1).contiguous().transpose(0, 1) for a in trial.request.calls[0].args)
    request = replace(trial.request, calls=(Call((*turned,)),))
    yield replace(trial, request=request, inputs=f"{trial.inputs}, not contiguous")


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(rng, _sizes(rng)), rng)
    of = _sizes(rng)
    yield backward(_trial(rng, of, _padding(rng, of)), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    yield from in_dtypes(_trial(rng, of, _padding(rng, of)))


def kept(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    yield _trial(rng, of, _padding(rng, of))


def devices(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    yield elsewhere(_trial(rng, of, _padding(rng, of)))


CASES = (
    Case("targets hear from their past and the whole source", plain, values, weight=2),
    Case("sources may be shorter or longer than targets", lengths, values),
    Case("nobody hears from padding of the source", padded, values),
    Case("a mask for each token or head, also all hidden", masked, values),
    Case("if all sublayers say 0, x comes out", silent, values),
    Case("works for small and for large numbers", sizes_of_stream, values),
    Case("works where sizes are equal, or 1", special_sizes, values),
    Case("nothing is left from earlier calls", several_calls, values),
    Case("training or not, the numbers are the same", training, values),
    Case("works for tensors that are not contiguous", not_contiguous, values),
    Case("the gradient reaches x, memory and all weights", gradients, values),
    Case("the dtype is kept", dtypes, values, tolerance=8e-2),
    Case("x, memory and mask are not changed", kept, inputs_kept),
    Case("works on whatever device everything is on", devices, values),
)


class _InSteps(CrossBlock):
    """The block in steps, of which a mistake changes one."""

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        x = x + self.past(x)
        x = x + self.read(x, memory, mask)
        return x + self.thought(x)

    def past(self, x: Tensor) -> Tensor:
        mask = causal_mask(x.shape[1], x.shape[1], x.device)
        return self.attend(self.norm_1(x), mask=mask)

    def read(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        return self.cross(self.norm_2(x), memory, mask)

    def thought(self, x: Tensor) -> Tensor:
        return self.feed_forward(self.norm_3(x))


class SeesTheFuture(_InSteps):
    """The targets hear from later targets: the first attention has no causal mask. In training the
    answer would be read off.
    """

    def past(self, x: Tensor) -> Tensor:
        return self.attend(self.norm_1(x))


class ItselfHidden(_InSteps):
    """A target does not hear from itself. Token i hears from 0 to i."""

    def past(self, x: Tensor) -> Tensor:
        mask = causal_mask(x.shape[1], x.shape[1], x.device)
        return self.attend(self.norm_1(x), mask=mask.roll(-1, 1).tril(-1))


class CausalInCross(_InSteps):
    """The second attention is causal, too: target i reads the source up to i alone. The source is
    there as a whole.
    """

    def read(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        shape, device = (x.shape[1], memory.shape[1]), x.device
        past = torch.ones(shape, dtype=torch.bool, device=device).tril()
        return super().read(x, memory, past if mask is None else past & mask)


class MaskOnTheTarget(_InSteps):
    """The mask of the source hides targets as well, in the first attention. It belongs to the
    memory alone.
    """

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        past = causal_mask(x.shape[1], x.shape[1], x.device)
        if mask is not None:
            hidden = F.pad(mask.to(torch.uint8), (0, max(0, x.shape[1] - mask.shape[-1]))).bool()
            past = past & hidden[..., : x.shape[1]]
        x = x + self.attend(self.norm_1(x), mask=past)
        x = x + self.read(x, memory, mask)
        return x + self.thought(x)


class MaskForgotten(_InSteps):
    """The mask is not handed on to the second attention: everybody reads padding."""

    def read(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        return super().read(x, memory, None)


class MaskInverted(_InSteps):
    """The mask is read the other way round: here True means that reading is allowed."""

    def read(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        return super().read(x, memory, mask if mask is None else ~mask)


class MemoryNormalised(_InSteps):
    """The memory is normalised here. It is read as it is: the encoder has a norm at its end."""

    def read(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        return super().read(x, self.norm_2(memory), mask)


class MemoryIgnored(_InSteps):
    """The second attention reads the stream itself, and the memory is not used."""

    def read(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        mask = causal_mask(x.shape[1], x.shape[1], x.device)
        return self.cross(self.norm_2(x), mask=mask) + 0 * memory.sum()


class MemoryAsks(_InSteps):
    """Queries come from the memory, keys and values from the stream. It is the targets that ask."""

    def read(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        said = self.cross(memory, self.norm_2(x))
        short = F.pad(said, (0, 0, 0, max(0, x.shape[1] - said.shape[1])))
        return short[:, : x.shape[1]]


class MemoryBesideThePast(_InSteps):
    """Keys and values of the second attention come from memory and stream, joined. They come from
    the memory alone.
    """

    def read(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        copy = self.norm_2(x)
        past = causal_mask(x.shape[1], x.shape[1], x.device)
        seen = past.new_ones(x.shape[1], memory.shape[1]) if mask is None else mask
        sizes = (*torch.broadcast_shapes(seen.shape[:-2], (1, 1)), x.shape[1])
        parts = seen.expand(*sizes, memory.shape[1]), past.expand(*sizes, x.shape[1])
        return self.cross(copy, torch.cat([memory, copy], 1), torch.cat(parts, -1))


class CrossFirst(_InSteps):
    """The source is read first, and the targets hear from each other afterwards. First comes the
    past.
    """

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        x = x + self.read(x, memory, mask)
        x = x + self.past(x)
        return x + self.thought(x)


class FeedForwardBetween(_InSteps):
    """The feed-forward layer stands between the two attentions. It comes last."""

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        x = x + self.past(x)
        x = x + self.thought(x)
        return x + self.read(x, memory, mask)


class SideBySide(_InSteps):
    """All sublayers read the same x. Each reads what the one before it has written already."""

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        return x + self.past(x) + self.read(x, memory, mask) + self.thought(x)


class OneAttention(_InSteps):
    """`attend` is used twice, `cross` never. The two attentions have weights of their own."""

    def read(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        return self.attend(self.norm_2(x), memory, mask)


class AttentionsExchanged(_InSteps):
    """The two attentions have changed places: `attend` is for the past, `cross` for the memory."""

    def past(self, x: Tensor) -> Tensor:
        mask = causal_mask(x.shape[1], x.shape[1], x.device)
        return self.cross(self.norm_1(x), mask=mask)

    def read(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        return self.attend(self.norm_2(x), memory, mask)


class NormsByPart(_InSteps):
    """norm_2 and norm_3 have changed places. They are numbered in the order of the sublayers: past,
    memory, feed-forward.
    """

    def read(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        return self.cross(self.norm_3(x), memory, mask)

    def thought(self, x: Tensor) -> Tensor:
        return self.feed_forward(self.norm_2(x))


class NoCrossNorm(_InSteps):
    """The second attention reads the stream as it is. Its queries come from a normalised copy."""

    def read(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        return self.cross(x, memory, mask)


class NoFirstNorm(_InSteps):
    """The first attention reads the stream as it is. It reads a normalised copy."""

    def past(self, x: Tensor) -> Tensor:
        mask = causal_mask(x.shape[1], x.shape[1], x.device)
        return self.attend(x, mask=mask)


class NoLastNorm(_InSteps):
    """The feed-forward layer reads the stream as it is. It reads a normalised copy."""

    def thought(self, x: Tensor) -> Tensor:
        return self.feed_forward(x)


class CrossWithoutSum(_InSteps):
    """What is read from the memory takes the place of the stream. It is added to it."""

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        x = x + self.past(x)
        x = self.read(x, memory, mask)
        return x + self.thought(x)


class NoSums(_InSteps):
    """The sublayers take the place of the stream: nothing is added."""

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.thought(self.read(self.past(x), memory, mask))


class StreamOverwritten(CrossBlock):
    """What a sublayer says is added to the normalised copy, and the stream itself is lost: `x` got
    a new value before the sum. If all sublayers say 0, x should come out.
    """

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.norm_1(x)
        x = x + self.attend(x, mask=causal_mask(x.shape[1], x.shape[1], x.device))
        x = self.norm_2(x)
        x = x + self.cross(x, memory, mask)
        x = self.norm_3(x)
        return x + self.feed_forward(x)


class PostNorm(_InSteps):
    """This is a post-norm block, as in the first paper: the sums are normalised. Here each sublayer
    reads a normalised copy, and the stream itself is never normalised.
    """

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        past = causal_mask(x.shape[1], x.shape[1], x.device)
        x = self.norm_1(x + self.attend(x, mask=past))
        x = self.norm_2(x + self.cross(x, memory, mask))
        return self.norm_3(x + self.feed_forward(x))


class NormAtTheEnd(_InSteps):
    """What leaves the block is normalised. A pre-norm *model* has a norm at its very end; a block
    leaves the stream as it is.
    """

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        return rms_norm(super().forward(x, memory, mask), torch.ones_like(self.norm_1.weight))


class FirstMemoryKept(_InSteps):
    """The memory of the first call is used for later ones. Each call brings its own."""

    known: Tensor | None = None

    def read(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        self.known = memory if self.known is None else self.known
        held = self.known if self.known.shape == memory.shape else memory
        return super().read(x, held, mask)


class MemoryCutOff(_InSteps):
    """No gradient reaches the memory (`detach`, `no_grad`): the encoder would never learn."""

    def read(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        return super().read(x, memory.detach(), mask)


class DropoutInTraining(_InSteps):
    """In training some entries are dropped at random. This block has no dropout."""

    def thought(self, x: Tensor) -> Tensor:
        return F.dropout(super().thought(x), 0.1, self.training)


class StreamWrittenInto(_InSteps):
    """x itself is written into (`+=`, `add_`): the caller may still need it, and the norm that has
    read it needs it on the way back. Give the sum a tensor of its own.
    """

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        x += self.past(x)
        x = x + self.read(x, memory, mask)
        return x + self.thought(x)


class LayerNorms(CrossBlock):
    """Your norms are layer norms, with weight and bias. Here they are `RMSNorm`, with a weight
    alone.
    """

    def __init__(self, d_model: int, heads: int, d_ff: int) -> None:
        super().__init__(d_model, heads, d_ff)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)  # type: ignore[assignment]
        self.norm_3 = LayerNorm(d_model)  # type: ignore[assignment]


class TwoNorms(nn.Module):
    """There are two norms for three sublayers. Each has its own: norm_1, norm_2, norm_3."""

    def __init__(self, d_model: int, heads: int, d_ff: int) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)
        self.attend = MultiHeadAttention(d_model, heads)
        self.cross = MultiHeadAttention(d_model, heads)
        self.feed_forward = SwiGLU(d_model, d_ff)


class InALoop(nn.Module):
    """A list of norms and sublayers; the parts made in another order."""

    def __init__(self, d_model: int, heads: int, d_ff: int) -> None:
        super().__init__()
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.cross, self.attend = (MultiHeadAttention(d_model, heads) for _ in range(2))
        self.norm_3, self.norm_2, self.norm_1 = (RMSNorm(d_model) for _ in range(3))

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        i = torch.arange(x.size(1), device=x.device)
        steps = (
            (self.norm_1, lambda copy: self.attend(copy, mask=i[:, None] >= i)),
            (self.norm_2, lambda copy: self.cross(copy, memory, mask)),
            (self.norm_3, self.feed_forward),
        )
        for norm, sublayer in steps:
            x = x + sublayer(norm(x))
        return x


class WithTorchsNorms(nn.Module):
    """Torch's norms; the stream kept as a list of what was said, and its sum."""

    def __init__(self, d_model: int, heads: int, d_ff: int) -> None:
        super().__init__()
        self.norm_1 = nn.RMSNorm(d_model, eps=1e-6)
        self.norm_2 = nn.RMSNorm(d_model, eps=1e-6)
        self.norm_3 = nn.RMSNorm(d_model, eps=1e-6)
        self.attend = MultiHeadAttention(d_model, heads)
        self.cross = MultiHeadAttention(d_model, heads)
        self.feed_forward = SwiGLU(d_model, d_ff)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        length = x.shape[1]
        past = torch.tril(torch.ones(length, length, device=x.device)) == 1
        copy = self.norm_1(x)
        first = self.attend(copy, copy, past)
        second = self.cross(self.norm_2(x + first), memory, mask=mask)
        stream = first + second + x
        return self.feed_forward(self.norm_3(stream)).add(stream)


EXERCISE = Exercise(
    solution=CrossBlock,
    chapter=CHAPTER,
    title="A block that reads the source",
    points=3,
    minutes=10,
    difficulty=3,
    statement=(
        "The decoder's block of an encoder-decoder has three sublayers: the targets hear from "
        "their own past, then from the memory that the encoder left, then each thinks alone. It "
        "has no cache and no positions. `MultiHeadAttention`, `SwiGLU`, `RMSNorm` and "
        "`causal_mask` are imported at the top; torch's ready-made attention is not allowed."
    ),
    example=(
        "With L = 5 targets and M = 3 sources, `attend` has 5 x 5 scores, of which a target uses "
        "those up to itself, and `cross` has 5 x 3, of which it uses all that the mask allows."
    ),
    conventions=(
        "The parts are norm_1, attend, norm_2, cross, norm_3 and feed_forward. The norms are "
        "numbered in the order in which the sublayers are used: past, memory, feed-forward.",
        "Pre-norm: what the targets ask with is a normalised copy of the stream. The memory is "
        "read as it is.",
        "`MultiHeadAttention(d, heads)`, d wide, is called as attend(x, memory, mask): who asks, "
        "who answers, what is allowed. Without a memory x answers itself.",
        "The mask is for the memory, boolean, True where reading is allowed; the causal mask of "
        "the targets is yours to make. Where all of the memory is hidden, `cross` says 0.",
    ),
    hints=(
        "Three lines, each of the kind: stream plus sublayer of a normalised copy.",
        "Which of the two attentions gets the causal mask, and which the one that is given?",
        "`MultiHeadAttention` takes who asks, then who answers, then a mask.",
    ),
    cases=CASES,
    mistakes=(
        SeesTheFuture,
        ItselfHidden,
        CausalInCross,
        MaskOnTheTarget,
        MaskForgotten,
        MaskInverted,
        MemoryNormalised,
        MemoryIgnored,
        MemoryAsks,
        MemoryBesideThePast,
        CrossFirst,
        FeedForwardBetween,
        SideBySide,
        OneAttention,
        AttentionsExchanged,
        NormsByPart,
        NoCrossNorm,
        NoFirstNorm,
        NoLastNorm,
        CrossWithoutSum,
        NoSums,
        StreamOverwritten,
        PostNorm,
        NormAtTheEnd,
        FirstMemoryKept,
        MemoryCutOff,
        DropoutInTraining,
        StreamWrittenInto,
        LayerNorms,
        TwoNorms,
        on_the_cpu(CrossBlock),
        always_float32(CrossBlock),
        cut_from_autograd(CrossBlock),
    ),
    alternatives=(InALoop, WithTorchsNorms),
    forbidden=READY_MADE_ATTENTION,
)
