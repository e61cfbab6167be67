"""Exercise: a block of a decoder, with a cache.

Out of scope: the attention itself (given), the encoder (the exercise CrossBlock).
"""

# what a layer of a module is called or gives, torch leaves open
# mypy: disable-error-code="no-any-return, no-untyped-call, union-attr, arg-type, operator"

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_11 import CHAPTER
from autograder.exercises.chapter_11._draws import Sizes, block, block_sizes, cache_of
from autograder.inputs import integer, normal
from autograder.slips import always_float32, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request
from solutions.blocks import DecoderBlock
from solutions.cache import KVCache
from solutions.causal import CausalSelfAttention
from solutions.feedforward import SwiGLU
from solutions.grouped import GroupedQueryAttention
from solutions.norms import LayerNorm, RMSNorm, rms_norm
from solutions.residual import post_norm_block, pre_norm_block

Answer = tuple[Tensor, KVCache]
RETURNS = "stream, cache"


def _call(
    rng: Generator, of: Sizes, before: int = 0, padded: bool = False, std: float = 1.0
) -> Call:
    """Draw new tokens, and what came before them."""
    x = normal(rng, "B L D", of, mean=std / 2, std=std)
    past = cache_of(rng, of, before) if before else None
    if not padded:
        return Call((x, past) if before else (x,))
    first = torch.randint(0, max(before, of["L"] - 1), (of["B"], 1), generator=rng)
    keep = torch.arange(before + of["L"]) >= first
    return Call((x, past), {"keep": keep})


def _trial(rng: Generator, of: Sizes, *calls: Call, kv_heads: bool = True) -> Trial:
    words = "; then ".join(map(_words, calls))
    words += f"; heads = {of['H']}, kv_heads = {of['G']}, d_ff = {of['F']}"
    build = Call((of["D"], of["H"], of["F"]), {"kv_heads": of["G"]} if kv_heads else {})
    return Trial(Request(calls, build, block(rng, of)), words, of, RETURNS)


def _words(one: Call) -> str:
    words = f"x (B, L, D) = {tuple(one.args[0].shape)}"
    if len(one.args) > 1 and one.args[1] is not None:
        words += f", {one.args[1][0].shape[2]} tokens in the cache"
    return words + (", padding before" if "keep" in one.kwargs else "")


def _single(rng: Generator, before: int = 0, **options: Any) -> Trial:
    of = block_sizes(rng)
    return _trial(rng, of, _call(rng, of, before, **options))


def first_chunk(rng: Generator) -> Iterator[Trial]:
    of = block_sizes(rng, K=4)
    yield _trial(rng, of, _call(rng, of))


def later_chunk(rng: Generator) -> Iterator[Trial]:
    yield _single(rng, before=integer(rng, 10, 11))


def one_token(rng: Generator) -> Iterator[Trial]:
    of = block_sizes(rng, L=1)
    yield _trial(rng, of, _call(rng, of, before=integer(rng, 3, 9)))


def padded(rng: Generator) -> Iterator[Trial]:
    yield _single(rng, padded=True)
    yield _single(rng, before=integer(rng, 10, 11), padded=True)


def groups(rng: Generator) -> Iterator[Trial]:
    of = block_sizes(rng)
    yield _trial(rng, {**of, "G": of["H"]}, _call(rng, {**of, "G": of["H"]}, 3), kv_heads=False)
    yield _trial(rng, {**of, "G": 1}, _call(rng, {**of, "G": 1}, 3))


def silent(rng: Generator) -> Iterator[Trial]:
    trial = _single(rng, before=5, std=3.0)
    state = dict(trial.request.state or {})
    for name in ("attend.w_o.weight", "feed_forward.w_down.weight"):
        state[name] = torch.zeros_like(state[name])
    request = replace(trial.request, state=state)
    yield replace(trial, request=request, inputs=f"{trial.inputs}, w_o and w_down are 0")


def sizes_of_stream(rng: Generator) -> Iterator[Trial]:
    for std in (1e-3, 1e3):
        trial = _single(rng, before=4, std=std)
        yield replace(trial, inputs=f"{trial.inputs}, of the order {std}")


def special_sizes(rng: Generator) -> Iterator[Trial]:
    for letter in "BLF":
        of = {**block_sizes(rng), letter: 1}
        yield _trial(rng, of, _call(rng, of))
    of = dict.fromkeys("BLFD", 4) | {"H": 2, "G": 2, "K": 2}
    yield _trial(rng, of, _call(rng, of, before=4))


def several_calls(rng: Generator) -> Iterator[Trial]:
    of = block_sizes(rng, B=2, L=3)
    later = _call(rng, of, before=3)
    calls = _call(rng, of), later, _call(rng, {**of, "B": 3, "L": 5}), _call(rng, of, padded=True)
    yield _trial(rng, of, *calls, _call(rng, of), later, _call(rng, {**of, "L": 1}))


def forks(rng: Generator) -> Iterator[Trial]:
    of = block_sizes(rng)
    past = cache_of(rng, of, 5)
    yield _trial(rng, of, *(Call((normal(rng, "B L D", of), past)) for _ in range(2)))


def training(rng: Generator) -> Iterator[Trial]:
    trial = _single(rng, before=4)
    request = replace(trial.request, train=True)
    yield replace(trial, request=request, inputs=f"{trial.inputs}, in training")


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_single(rng), rng, "B L D")
    yield backward(_single(rng, before=6), rng, "B L D")


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_single(rng, before=3))


def kept(rng: Generator) -> Iterator[Trial]:
    yield _single(rng, before=6, padded=True)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_single(rng, before=6, padded=True))


CASES = (
    Case("a token hears from those before it alone", first_chunk, values, weight=2),
    Case("a later chunk hears from the cache, too", later_chunk, values, weight=2),
    Case("a single new token hears from everything so far", one_token, values),
    Case("nobody hears from padding", padded, values),
    Case("one key head, or one for each query", groups, values),
    Case("if both sublayers say 0, x comes out", silent, values),
    Case("works for small and for large numbers", sizes_of_stream, values),
    Case("works where sizes are equal, or 1", special_sizes, values),
    Case("nothing is left from earlier calls", several_calls, values),
    Case("two continuations can share one cache", forks, inputs_kept),
    Case("training or not, the numbers are the same", training, values),
    Case("the gradient reaches x, the cache and all weights", gradients, values),
    Case("the dtype is kept", dtypes, values, tolerance=6e-2),
    Case("x, cache and padding are not changed", kept, inputs_kept),
    Case("works on whatever device everything is on", devices, values),
)


class _InSteps(DecoderBlock):
    """The block in steps, of which a mistake changes one."""

    def forward(
        self, x: Tensor, cache: KVCache | None = None, keep: Tensor | None = None
    ) -> Answer:
        said, grown = self.heard(self.first(x), cache, keep)
        return self.joined(x, said), grown

    def first(self, x: Tensor) -> Tensor:
        return self.norm_1(x)

    def heard(self, x: Tensor, cache: KVCache | None, keep: Tensor | None) -> Answer:
        return self.attend(x, cache, keep)

    def joined(self, x: Tensor, said: Tensor) -> Tensor:
        x = x + said
        return x + self.thought(x)

    def thought(self, x: Tensor) -> Tensor:
        return self.feed_forward(self.norm_2(x))


class PostNorm(_InSteps):
    """This is a post-norm block: the sums are normalised. Here each sublayer reads a normalised
    copy, and the stream itself is never normalised.
    """

    def forward(
        self, x: Tensor, cache: KVCache | None = None, keep: Tensor | None = None
    ) -> Answer:
        said, grown = self.attend(x, cache, keep)
        gains = (self.norm_1.weight, self.norm_2.weight)
        return post_norm_block(x, lambda _: said, self.feed_forward, gains), grown


class StreamOverwritten(_InSteps):
    """What a sublayer says is added to the normalised copy, and the stream itself is lost: `x` got
    a new value before the sum. If both sublayers say 0, x should come out.
    """

    def joined(self, x: Tensor, said: Tensor) -> Tensor:
        x = self.norm_2(self.norm_1(x) + said)
        return x + self.feed_forward(x)


class FirstOverwritten(_InSteps):
    """What attention says is added to the normalised copy instead of the stream; the second sum is
    right.
    """

    def joined(self, x: Tensor, said: Tensor) -> Tensor:
        x = self.norm_1(x) + said
        return x + self.thought(x)


class NoFirstSum(_InSteps):
    """What the attention says takes the place of x. It is added to it."""

    def joined(self, x: Tensor, said: Tensor) -> Tensor:
        return said + self.thought(said)


class NoSecondSum(_InSteps):
    """What the feed-forward layer says takes the place of the stream. It is added to it."""

    def joined(self, x: Tensor, said: Tensor) -> Tensor:
        return self.thought(x + said)


class NoSums(_InSteps):
    """The sublayers take the place of the stream: nothing is added."""

    def joined(self, x: Tensor, said: Tensor) -> Tensor:
        return self.thought(said)


class SideBySide(_InSteps):
    """Both sublayers read the same x. Here the feed-forward layer reads what attention has written
    already.
    """

    def joined(self, x: Tensor, said: Tensor) -> Tensor:
        return x + said + self.thought(x)


class OntoX(_InSteps):
    """The feed-forward layer is added to the x that came into the block: what attention said is
    lost from the stream.
    """

    def joined(self, x: Tensor, said: Tensor) -> Tensor:
        return x + self.thought(x + said)


class NoNorms(_InSteps):
    """Nothing is normalised: the two norms are there and not used."""

    def first(self, x: Tensor) -> Tensor:
        return x

    def thought(self, x: Tensor) -> Tensor:
        return self.feed_forward(x)


class NoFirstNorm(_InSteps):
    """Attention reads the stream as it is. It reads a normalised copy."""

    def first(self, x: Tensor) -> Tensor:
        return x


class NoSecondNorm(_InSteps):
    """The feed-forward layer reads the stream as it is. It reads a normalised copy."""

    def thought(self, x: Tensor) -> Tensor:
        return self.feed_forward(x)


class NormsExchanged(_InSteps):
    """The norms have changed places: norm_1 belongs to the attention."""

    def first(self, x: Tensor) -> Tensor:
        return self.norm_2(x)

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

    def joined(self, x: Tensor, said: Tensor) -> Tensor:
        return rms_norm(super().joined(x, said), torch.ones_like(self.norm_1.weight))


class CacheIgnored(_InSteps):
    """The cache is not handed on to the attention: new tokens hear from each other alone."""

    def heard(self, x: Tensor, cache: KVCache | None, keep: Tensor | None) -> Answer:
        keep = keep if keep is None else keep[:, -x.shape[1] :]
        return self.attend(x, None, keep)


class OldCacheReturned(_InSteps):
    """The cache comes back as it was. The one that the attention gives has the new tokens in it:
    the next step needs them.
    """

    def forward(
        self, x: Tensor, cache: KVCache | None = None, keep: Tensor | None = None
    ) -> Answer:
        mixed, grown = super().forward(x, cache, keep)
        return mixed, grown if cache is None else cache


class PaddingForgotten(_InSteps):
    """`keep` is not handed on to the attention: everybody hears from padding."""

    def heard(self, x: Tensor, cache: KVCache | None, keep: Tensor | None) -> Answer:
        return self.attend(x, cache)


class PaddingInverted(_InSteps):
    """`keep` is read the other way round: it is False at padding."""

    def heard(self, x: Tensor, cache: KVCache | None, keep: Tensor | None) -> Answer:
        return self.attend(x, cache, keep if keep is None else ~keep)


class LeftFromBefore(_InSteps):
    """The block keeps the cache in itself and goes on from it where none is passed: a second prompt
    hears of the first.
    """

    left: KVCache | None = None

    def heard(self, x: Tensor, cache: KVCache | None, keep: Tensor | None) -> Answer:
        held = self.left if cache is None else cache
        fits = held is not None and held[0].shape[0] == len(x) and keep is None
        said, self.left = self.attend(x, held if fits else cache, keep)
        return said, self.left


class LeftForOneToken(_InSteps):
    """The block keeps the cache in itself, and a single token that comes without one hears from it.
    It is a text of one token, which hears from itself alone.
    """

    left: KVCache | None = None

    def heard(self, x: Tensor, cache: KVCache | None, keep: Tensor | None) -> Answer:
        alone = self.left if cache is None and x.shape[1] == 1 else None
        fits = alone is not None and alone[0].shape[0] == len(x)
        said, self.left = self.attend(x, alone if fits else cache, keep)
        return said, self.left


class OldDetached(_InSteps):
    """The cache is cut off before the tokens attend to it, so no gradient reaches it. If you want
    to cut, cut what you return.
    """

    def heard(self, x: Tensor, cache: KVCache | None, keep: Tensor | None) -> Answer:
        return self.attend(x, cache and (cache[0].detach(), cache[1].detach()), keep)


class StreamAlone(_InSteps):
    """Only the stream comes back. The caller needs the cache for the next step."""

    def forward(self, x: Tensor, cache: KVCache | None = None, keep: Tensor | None = None) -> Any:
        return super().forward(x, cache, keep)[0]


class CacheFirst(_InSteps):
    """You return (cache, stream). The stream comes first."""

    def forward(self, x: Tensor, cache: KVCache | None = None, keep: Tensor | None = None) -> Any:
        mixed, grown = super().forward(x, cache, keep)
        return grown, mixed


class FeedForwardFirst(_InSteps):
    """The feed-forward layer comes first. Attention does."""

    def forward(
        self, x: Tensor, cache: KVCache | None = None, keep: Tensor | None = None
    ) -> Answer:
        x = x + self.thought(x)
        said, grown = self.heard(self.norm_1(x), cache, keep)
        return x + said, grown


class NoPositions(DecoderBlock):
    """Your attention knows no positions. `CausalSelfAttention` turns queries and keys, by where
    they stand.
    """

    def __init__(self, d_model: int, heads: int, d_ff: int, kv_heads: int | None = None) -> None:
        super().__init__(d_model, heads, d_ff, kv_heads)
        attend = GroupedQueryAttention(d_model, heads, kv_heads or heads)
        self.attend = attend  # type: ignore[assignment]

    def forward(
        self, x: Tensor, cache: KVCache | None = None, keep: Tensor | None = None
    ) -> Answer:
        answers, grown = self.attend(self.norm_1(x), cache)
        x = x + answers
        return x + self.feed_forward(self.norm_2(x)), grown


class HeadsNotShared(DecoderBlock):
    """`kv_heads` is not handed on to the attention: w_k and w_v have d_model rows, as if each query
    head had its own keys.
    """

    def __init__(self, d_model: int, heads: int, d_ff: int, kv_heads: int | None = None) -> None:
        super().__init__(d_model, heads, d_ff)


class DropoutInTraining(_InSteps):
    """In training some entries are dropped at random. This block has no dropout."""

    def thought(self, x: Tensor) -> Tensor:
        return F.dropout(super().thought(x), 0.1, self.training)


class StreamWrittenInto(_InSteps):
    """x itself is written into (`+=`, `add_`): the caller may still need it, and the norm that has
    read it needs it on the way back. Give the sum a tensor of its own.
    """

    def joined(self, x: Tensor, said: Tensor) -> Tensor:
        x += said
        return x + self.thought(x)


class LayerNorms(DecoderBlock):
    """Your norms are layer norms, with weight and bias. Here they are `RMSNorm`, with a weight
    alone.
    """

    def __init__(self, d_model: int, heads: int, d_ff: int, kv_heads: int | None = None) -> None:
        super().__init__(d_model, heads, d_ff, kv_heads)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)  # type: ignore[assignment]


class OneNorm(nn.Module):
    """There is one norm for both sublayers. Each has its own: norm_1 and norm_2."""

    def __init__(self, d_model: int, heads: int, d_ff: int, kv_heads: int | None = None) -> None:
        super().__init__()
        self.norm = RMSNorm(d_model)
        self.attend = CausalSelfAttention(d_model, heads, kv_heads)
        self.feed_forward = SwiGLU(d_model, d_ff)


class EpsOfLayerNorm(DecoderBlock):
    """The eps of your norms is 1e-5. Here it is that of `RMSNorm`, 1e-6."""

    def __init__(self, d_model: int, heads: int, d_ff: int, kv_heads: int | None = None) -> None:
        super().__init__(d_model, heads, d_ff, kv_heads)
        self.norm_1, self.norm_2 = RMSNorm(d_model, 1e-5), RMSNorm(d_model, 1e-5)


class WithPreNormBlock(DecoderBlock):
    """Use the function of chapter 07; the attention leaves its cache on the way."""

    def forward(
        self, x: Tensor, cache: KVCache | None = None, keep: Tensor | None = None
    ) -> Answer:
        left: list[KVCache] = []

        def attend(copy: Tensor) -> Tensor:
            said, grown = self.attend(copy, cache=cache, keep=keep)
            left.append(grown)
            return said

        gains = (self.norm_1.weight, self.norm_2.weight)
        return pre_norm_block(x, attend, self.feed_forward, gains), left[0]


class WithTorchsNorms(nn.Module):
    """Other parts of torch; a cache that is returned for inference alone, as a list."""

    def __init__(self, d_model: int, heads: int, d_ff: int, kv_heads: int | None = None) -> None:
        super().__init__()
        groups = heads if kv_heads is None else kv_heads
        self.attend = CausalSelfAttention(d_model, heads, kv_heads=groups)
        self.norm_2 = nn.RMSNorm(d_model, eps=1e-6)
        self.norm_1 = nn.RMSNorm(d_model, eps=1e-6)
        self.feed_forward = nn.Module()
        self.feed_forward.w_gate = nn.Linear(d_model, d_ff, bias=False)
        self.feed_forward.w_up = nn.Linear(d_model, d_ff, bias=False)
        self.feed_forward.w_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor, cache: KVCache | None = None, keep: Tensor | None = None) -> Any:
        layer = self.feed_forward
        said, new_cache = self.attend(self.norm_1(x), cache, keep)
        middle = torch.add(x, said)
        copy = self.norm_2(middle)
        out = layer.w_down(F.silu(layer.w_gate(copy)).mul(layer.w_up(copy))) + middle
        return out, [part.detach() for part in new_cache]


class ResidualNamed(nn.Module):
    """As transformers' models are written: keep the stream under another name."""

    def __init__(self, d_model: int, heads: int, d_ff: int, kv_heads: int | None = None) -> None:
        super().__init__()
        parts = {
            "norm_1": RMSNorm(d_model),
            "norm_2": RMSNorm(d_model),
            "feed_forward": SwiGLU(d_model, d_ff),
            "attend": CausalSelfAttention(d_model, heads, kv_heads),
        }
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(
        self, x: Tensor, cache: KVCache | None = None, keep: Tensor | None = None
    ) -> Answer:
        residual = x
        hidden = self.norm_1(x)
        hidden, cache = self.attend(hidden, cache, keep)
        hidden = residual + hidden
        residual = hidden
        hidden = self.norm_2(hidden)
        hidden = self.feed_forward(hidden)
        hidden = residual + hidden
        return hidden, cache


EXERCISE = Exercise(
    solution=DecoderBlock,
    chapter=CHAPTER,
    title="A block of a decoder",
    points=2,
    minutes=8,
    difficulty=2,
    statement=(
        "The same block for a model that writes: its attention hears from the past alone, and it "
        "keeps a cache, so that a new token does not make the old ones be computed again. The "
        "given `CausalSelfAttention` does both, and knows positions. It takes what you get, and "
        "returns two things; so do you. `RMSNorm` and `SwiGLU` are imported at the top; torch's "
        "ready-made attention is not allowed."
    ),
    example=(
        "DecoderBlock(12, heads=6, d_ff=10, kv_heads=3): a head is 2 wide, so 5 tokens leave keys "
        "of shape (B, 3, 5, 2) in the cache, and one token more makes them (B, 3, 6, 2)."
    ),
    conventions=(
        "The parts are called norm_1, attend, norm_2 and feed_forward, so that `state_dict` holds "
        "`attend.w_q.weight` and so on. norm_1 belongs to the attention.",
        "`CausalSelfAttention(d, heads, kv_heads)`, d wide, is called as attend(x, cache, keep). "
        "`keep` is (B, N), True at the real ones of all tokens so far, those in the cache and the "
        "new ones.",
        "Pre-norm, as in the encoder's block; attention comes first.",
        "Positions count all tokens, also padding at the left. That does no harm: the attention "
        "depends on distances alone.",
        "The block remembers nothing: cache and padding are arguments, which stay as they are. "
        "The stream is returned first, the longer cache second.",
        "Gradients flow from the stream to x, to the cache that comes in and to all weights. The "
        "cache that is returned may be cut off from them.",
    ),
    hints=(
        "Compared with the encoder's block, one part is another one and has one argument more.",
        "What the attention returns is a pair: add the first to the stream, return the second.",
        "Hand on everything you get: the cache, which tokens are real, and in the constructor how "
        "many heads share.",
    ),
    cases=CASES,
    mistakes=(
        PostNorm,
        StreamOverwritten,
        FirstOverwritten,
        NoFirstSum,
        NoSecondSum,
        NoSums,
        SideBySide,
        OntoX,
        NoNorms,
        NoFirstNorm,
        NoSecondNorm,
        NormsExchanged,
        FirstNormTwice,
        NormAtTheEnd,
        CacheIgnored,
        OldCacheReturned,
        PaddingForgotten,
        PaddingInverted,
        LeftFromBefore,
        LeftForOneToken,
        OldDetached,
        StreamAlone,
        CacheFirst,
        FeedForwardFirst,
        NoPositions,
        HeadsNotShared,
        DropoutInTraining,
        StreamWrittenInto,
        LayerNorms,
        OneNorm,
        EpsOfLayerNorm,
        on_the_cpu(DecoderBlock),
        always_float32(DecoderBlock),
        cut_from_autograd(DecoderBlock),
    ),
    alternatives=(WithPreNormBlock, WithTorchsNorms, ResidualNamed),
    forbidden=READY_MADE_ATTENTION,
)
