"""Exercise: a layer with shared keys and a cache.

Out of scope: positions (chapter 06), cross-attention (chapter 04).
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import linear, softmax

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_05 import CHAPTER
from autograder.exercises.chapter_05._draws import GROUPS, Sizes
from autograder.inputs import integer, normal, sizes
from autograder.slips import always_float32, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request
from solutions.cache import KVCache, extend_cache
from solutions.grouped import GroupedQueryAttention, grouped_query_attention
from solutions.heads import merge_heads, split_heads
from solutions.masked import masked_attention
from solutions.masks import causal_mask

RETURNS = "answers, cache"
Answer = tuple[Tensor, KVCache]


def _layer(rng: Generator) -> Sizes:
    """Draw heads, key/value heads and a width of a head; D is heads times width."""
    g, share = GROUPS[integer(rng, 0, len(GROUPS) - 1)]
    width = 5 if g * share == 6 else 3
    return {"H": g * share, "G": g, "K": width, "D": g * share * width}


def _weights(rng: Generator, of: Sizes) -> dict[str, Tensor]:
    d, shared = of["D"], of["G"] * of["K"]
    rows = {"w_q": d, "w_k": shared, "w_v": shared, "w_o": d}
    return {
        f"{name}.weight": normal(rng, "S D", {"S": n, "D": d}, std=d**-0.5)
        for name, n in rows.items()
    }


def _trial(rng: Generator, of: Sizes, *calls: Call, note: str = "") -> Trial:
    build = Call((of["D"], of["H"], of["G"]))
    words = f"d_model = {of['D']}, heads = {of['H']}, kv_heads = {of['G']}, x "
    words += " and ".join(str(tuple(one.args[0].shape)) for one in calls) + note
    return Trial(Request(calls, build, _weights(rng, of)), words, of, RETURNS)


def _cache(rng: Generator, of: Sizes, batch: int, tokens: int) -> KVCache:
    shape = {**of, "B": batch, "M": tokens}
    return normal(rng, "B G M K", shape), normal(rng, "B G M K", shape)


def _x(rng: Generator, of: Sizes, batch: int, length: int) -> Tensor:
    return normal(rng, "B L D", {**of, "B": batch, "L": length})


def _new(rng: Generator, of: Sizes) -> Trial:
    batch, length = sizes(rng, "B L").values()
    return _trial(rng, of, Call((_x(rng, of, batch, length),)))


def _later(rng: Generator, of: Sizes, length: int = 0) -> Trial:
    batch, new, before = sizes(rng, "B L P").values()
    past = _cache(rng, of, batch, before)
    one = Call((_x(rng, of, batch, length or new), past))
    return _trial(rng, of, one, note=f", {before} tokens in the cache")


def first_chunk(rng: Generator) -> Iterator[Trial]:
    yield _new(rng, _layer(rng))
    yield _new(rng, _layer(rng))


def later_chunk(rng: Generator) -> Iterator[Trial]:
    yield _later(rng, _layer(rng))
    yield _later(rng, _layer(rng), length=2)


def one_token(rng: Generator) -> Iterator[Trial]:
    yield _later(rng, _layer(rng), length=1)


def a_generation(rng: Generator) -> Iterator[Trial]:
    """The cache of each step is drawn: the weights are not the exercise's to know."""
    of, batch = _layer(rng), 2
    calls = [Call((_x(rng, of, batch, 3),))]
    for before, length in ((3, 2), (5, 1), (6, 1)):
        calls.append(Call((_x(rng, of, batch, length), _cache(rng, of, batch, before))))
    yield _trial(rng, of, *calls, note=", caches of 3, 5 and 6 tokens")


def two_prompts(rng: Generator) -> Iterator[Trial]:
    of = _layer(rng)
    batch, length = sizes(rng, "B L").values()
    calls = [Call((_x(rng, of, batch, length),)) for _ in range(2)]
    yield _trial(rng, of, *calls, note=", two prompts")


def forks(rng: Generator) -> Iterator[Trial]:
    of = _layer(rng)
    batch, length, before = sizes(rng, "B L P").values()
    past = _cache(rng, of, batch, before)
    calls = [Call((_x(rng, of, batch, length), past)) for _ in range(2)]
    yield _trial(rng, of, *calls, note=f", one cache of {before} tokens for both")


def limits(rng: Generator) -> Iterator[Trial]:
    of = _layer(rng)
    for g in (of["H"], 1):
        yield _new(rng, {**of, "G": g})
        yield _later(rng, {**of, "G": g})
    yield _later(rng, {"H": 1, "G": 1, "K": 7, "D": 7})


def gradients(rng: Generator) -> Iterator[Trial]:
    of = _layer(rng)
    batch, length, before = sizes(rng, "B L P").values()
    of |= {"B": batch, "L": length}
    one = Call((_x(rng, of, batch, length), _cache(rng, of, batch, before)))
    yield backward(_trial(rng, of, one), rng, "B L D")


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_later(rng, _layer(rng)))


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_new(rng, _layer(rng)))
    yield elsewhere(_later(rng, _layer(rng)))


def kept(rng: Generator) -> Iterator[Trial]:
    yield _later(rng, _layer(rng))
    yield from one_token(rng)


CASES = (
    Case("a first chunk attends causally to itself", first_chunk, values, weight=2),
    Case("a later chunk sees the cache and its own past", later_chunk, values, weight=2),
    Case("a single new token sees everything so far", one_token, values),
    Case("chunk after chunk, as in generation", a_generation, values),
    Case("a second prompt does not hear of the first", two_prompts, values),
    Case("two continuations can share one cache", forks, inputs_kept),
    Case("works with one key head and with one for each query", limits, values),
    Case("the dtype is kept", dtypes, values, tolerance=6e-2),
    Case("x and the cache are not changed", kept, inputs_kept),
    Case("works on whatever device everything is on", devices, values),
    Case("the gradient reaches x, the cache and all weights", gradients, values),
)


class _Parts(GroupedQueryAttention):
    """The right layer in steps, so that a mistake can change one."""

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Give queries (B, H, L, K), keys and values (B, G, L, K)."""
        q = split_heads(self.w_q(x), self.heads)
        k = split_heads(self.w_k(x), self.kv_heads)
        return q, k, split_heads(self.w_v(x), self.kv_heads)

    def mask(self, new: int, tokens: int, device: torch.device) -> Tensor | None:
        """Say which key each new token may see."""
        return causal_mask(new, tokens, device)

    def attend(self, q: Tensor, cache: KVCache, mask: Tensor | None) -> Tensor:
        """Give answers (B, H, L, K)."""
        return grouped_query_attention(q, *cache, mask)

    def join(self, answers: Tensor) -> Tensor:
        """Give answers (B, L, D)."""
        return self.w_o(merge_heads(answers))  # type: ignore[no-any-return]

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Answer:
        """Attend from new tokens to all so far."""
        q, k, v = self.project(x)
        grown = extend_cache(cache, k, v)
        mask = self.mask(x.shape[1], grown[0].shape[2], x.device)
        return self.join(self.attend(q, grown, mask)), grown


class Tiled(_Parts):
    """Query head i uses key/value head i % G: the keys are tiled, 0 1 0 1. Here neighbours share:
    0 0 1 1.
    """

    def attend(self, q: Tensor, cache: KVCache, mask: Tensor | None) -> Tensor:
        share = self.heads // self.kv_heads
        keys, grown = (x.repeat(1, share, 1, 1) for x in cache)
        return masked_attention(q, keys, grown, mask)


class NoMask(_Parts):
    """There is no mask: the first token of a chunk sees the second."""

    def mask(self, new: int, tokens: int, device: torch.device) -> Tensor | None:
        return None


class MaskSkipped(_Parts):
    """With a cache there is no mask any more. For one new token that is right, for a chunk of
    several it is not.
    """

    def mask(self, new: int, tokens: int, device: torch.device) -> Tensor | None:
        return causal_mask(new, tokens, device) if new == tokens else None


class TopLeft(_Parts):
    """The mask is aligned at the top left: the first new token sees the first key alone, though it
    stands behind everything in the cache.
    """

    def mask(self, new: int, tokens: int, device: torch.device) -> Tensor | None:
        return torch.ones(new, tokens, dtype=torch.bool, device=device).tril()


class ItselfHidden(_Parts):
    """A token does not see itself. It may."""

    def mask(self, new: int, tokens: int, device: torch.device) -> Tensor | None:
        seen = torch.ones(new, tokens, dtype=torch.bool, device=device)
        return seen.tril(tokens - new - 1)


class NoOutputMatrix(_Parts):
    """The heads are joined, but w_o is not applied: nothing mixes them."""

    def join(self, answers: Tensor) -> Tensor:
        return merge_heads(answers)


class MergedByReshape(_Parts):
    """The heads are joined by a reshape alone, which mixes up tokens and heads. First bring the
    pieces of a token next to each other.
    """

    def join(self, answers: Tensor) -> Tensor:
        batch, _, length, _ = answers.shape
        return self.w_o(answers.reshape(batch, length, -1))  # type: ignore[no-any-return]


def _viewed(x: Tensor, heads: int) -> Tensor:
    batch, length, width = x.shape
    return x.reshape(batch, heads, length, width // heads)


class SplitByReshape(_Parts):
    """The heads are cut by a reshape straight to (B, H, L, K), which mixes up tokens and heads. Cut
    the last axis, then exchange two axes.
    """

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q = _viewed(self.w_q(x), self.heads)
        return q, _viewed(self.w_k(x), self.kv_heads), _viewed(self.w_v(x), self.kv_heads)


class KeysAndValuesSwapped(_Parts):
    """w_k makes the values and w_v makes the keys."""

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = super().project(x)
        return q, v, k


class ScaleOfTheModel(_Parts):
    """The scores are divided by the root of d_model. Each head is d_model / heads wide."""

    def attend(self, q: Tensor, cache: KVCache, mask: Tensor | None) -> Tensor:
        return super().attend(q / math.sqrt(self.heads), cache, mask)


class ResidualAdded(_Parts):
    """x is added to the answers. A residual connection belongs to the block (chapter 7)."""

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Answer:
        answers, grown = super().forward(x, cache)
        return answers + x, grown


class ValuesFromKeys(_Parts):
    """w_k makes both keys and values, and w_v is not used."""

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, k, _ = super().project(x)
        return q, k, k


class QueriesByReshape(_Parts):
    """The query heads are cut by a reshape straight to (B, H, L, K), which mixes up tokens and
    heads. Keys and values are cut as they should be: do the same for the queries.
    """

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        _, k, v = super().project(x)
        return _viewed(self.w_q(x), self.heads), k, v


class KeysByReshape(_Parts):
    """Keys and values are cut into heads by a reshape straight to (B, G, L, K), which mixes up
    tokens and heads. The queries are cut as they should be: do the same for keys and values.
    """

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, _, _ = super().project(x)
        return q, _viewed(self.w_k(x), self.kv_heads), _viewed(self.w_v(x), self.kv_heads)


class CacheIgnored(_Parts):
    """New tokens attend to each other alone: the cache grows, but nobody reads it."""

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Answer:
        _, grown = super().forward(x, cache)
        return super().forward(x)[0], grown


class NewNotKept(_Parts):
    """The cache that comes back lacks the new tokens: the next step will have forgotten them."""

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Answer:
        answers, grown = super().forward(x, cache)
        return answers, cache or grown


class NewAloneKept(_Parts):
    """The cache that comes back holds the new tokens alone. Return all of them so far."""

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Answer:
        answers, grown = super().forward(x, cache)
        return answers, (grown[0][:, :, -x.shape[1] :], grown[1][:, :, -x.shape[1] :])


class RepeatedKept(_Parts):
    """The cache holds keys that were already repeated for every query head. It is as large as
    without sharing: keep G heads, and repeat when you attend.
    """

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Answer:
        answers, grown = super().forward(x, cache)
        share = self.heads // self.kv_heads
        keys, held = (t.repeat_interleave(share, dim=1) for t in grown)
        return answers, (keys, held)


class TimeSecond(_Parts):
    """The cache has the shape (B, M, G, K). Some libraries keep it so; here heads come second."""

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Answer:
        answers, (keys, held) = super().forward(x, cache)
        return answers, (keys.transpose(1, 2), held.transpose(1, 2))


class LeftFromBefore(_Parts):
    """The layer keeps the cache in itself and goes on from it where none is passed: a second prompt
    hears of the first.
    """

    left: KVCache | None = None

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Answer:
        answers, grown = super().forward(x, self.left if cache is None else cache)
        self.left = grown
        return answers, grown


class OwnCacheAlone(_Parts):
    """The layer keeps a cache in itself and does not read the one that is passed. It is an
    argument: start from it, return the longer one, and keep nothing.
    """

    own: KVCache | None = None

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Answer:
        answers, self.own = super().forward(x, self.own)
        return answers, self.own


class OldDetached(_Parts):
    """The cache is cut off before the tokens attend to it, so no gradient reaches it. If you want
    to cut, cut what you return.
    """

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Answer:
        return super().forward(x, cache and (cache[0].detach(), cache[1].detach()))


class QueryMatrixCut(_Parts):
    """The numbers are right, but w_q is cut off (`.data`, `detach`) and will never learn. Use the
    module, `self.w_q(x)`, or its weight as it is.
    """

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        _, k, v = super().project(x)
        return split_heads(linear(x, self.w_q.weight.detach()), self.heads), k, v


class AllMatricesCut(_Parts):
    """The numbers are right and the gradient reaches x, but no weight gets one (`.data`, `detach`):
    this layer will never learn. Use the modules, `self.w_q(x)`, or their weights as they are.
    """

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = (linear(x, w.weight.detach()) for w in (self.w_q, self.w_k, self.w_v))
        q, k = split_heads(q, self.heads), split_heads(k, self.kv_heads)
        return q, k, split_heads(v, self.kv_heads)

    def join(self, answers: Tensor) -> Tensor:
        return linear(merge_heads(answers), self.w_o.weight.detach())


class AnswersAlone(_Parts):
    """Only the answers come back. The caller needs the longer cache for the next step."""

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Any:
        return super().forward(x, cache)[0]


class CacheFirst(_Parts):
    """You return (cache, answers). The answers come first."""

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Any:
        answers, grown = super().forward(x, cache)
        return grown, answers


class HeadsNotShared(GroupedQueryAttention):
    """w_k and w_v have d_model rows, as in multi-head attention. They make `kv_heads` heads, each
    d_model / heads wide.
    """

    def __init__(self, d_model: int, heads: int, kv_heads: int) -> None:
        super().__init__(d_model, heads, heads)


class WithBias(GroupedQueryAttention):
    """The projections have a bias, which is the default of nn.Linear. Here they have none."""

    def __init__(self, d_model: int, heads: int, kv_heads: int) -> None:
        super().__init__(d_model, heads, kv_heads)
        for name in ("w_q", "w_k", "w_v", "w_o"):
            rows = getattr(self, name).out_features
            setattr(self, name, nn.Linear(d_model, rows))


class BiasOnOutput(GroupedQueryAttention):
    """w_o has a bias, which is the default of nn.Linear. Here none of the four has one."""

    def __init__(self, d_model: int, heads: int, kv_heads: int) -> None:
        super().__init__(d_model, heads, kv_heads)
        self.w_o = nn.Linear(d_model, d_model)


class Fused(nn.Module):
    """One matrix makes queries, keys and values. Many models do so; here they are w_q, w_k and w_v,
    since they differ in size.
    """

    def __init__(self, d_model: int, heads: int, kv_heads: int) -> None:
        super().__init__()
        shared = kv_heads * (d_model // heads)
        self.w_qkv = nn.Linear(d_model, d_model + 2 * shared, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)


class ChangedInPlace(_Parts):
    """The cache that came in has other numbers afterwards. Somebody else may continue from it: make
    a new pair.
    """

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Answer:
        answers, grown = super().forward(x, cache)
        if cache is not None:
            cache[0].zero_()
        return answers, grown


class GrownInPlace(_Parts):
    """The tensors of the cache that came in grow themselves (`.data =`, `set_`, `resize_`). Whoever
    else continues from it finds tokens in it that it never saw: make a new pair.
    """

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Answer:
        answers, grown = super().forward(x, cache)
        for old, new in zip(cache or (), grown, strict=False):
            old.data = new
        return answers, grown


class ByEinsum(nn.Module):
    """Groups as an axis; positions compared; nothing repeated."""

    def __init__(self, d_model: int, heads: int, kv_heads: int) -> None:
        super().__init__()
        width = d_model // heads
        self.shape = kv_heads, heads // kv_heads, width
        self.w_q = nn.Linear(d_model, heads * width, bias=False)
        self.w_k = nn.Linear(d_model, kv_heads * width, bias=False)
        self.w_v = nn.Linear(d_model, kv_heads * width, bias=False)
        self.w_o = nn.Linear(heads * width, d_model, bias=False)

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Answer:
        g, share, width = self.shape
        q = self.w_q(x).unflatten(-1, (g, share, width))
        k = self.w_k(x).unflatten(-1, (g, width)).movedim(1, 2)
        v = self.w_v(x).unflatten(-1, (g, width)).movedim(1, 2)
        start = 0
        if cache is not None:
            start = cache[0].size(2)
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        spot = torch.arange(k.size(2), device=x.device)
        scores = torch.einsum("blgsk,bgmk->bgslm", q, k) / math.sqrt(width)
        scores = torch.where(spot <= spot[start:, None], scores, -math.inf)
        mixed = torch.einsum("bgslm,bgmk->blgsk", softmax(scores, dim=-1), v)
        return self.w_o(mixed.flatten(2)), (k, v)


class ByOwner(nn.Module):
    """Look the owner of each query head up; the cache that is returned is for inference alone."""

    def __init__(self, d_model: int, heads: int, kv_heads: int) -> None:
        super().__init__()
        self.width = d_model // heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            nn.Linear(d_model, count * self.width, bias=False)
            for count in (heads, kv_heads, kv_heads, heads)
        )

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Any:
        batch, new, width = x.shape
        q, k, v = (
            w(x).view(batch, new, -1, self.width).permute(0, 2, 1, 3)
            for w in (self.w_q, self.w_k, self.w_v)
        )
        if cache:
            k, v = (torch.cat(both, 2) for both in zip(cache, (k, v), strict=True))
        tokens, heads = k.shape[2], q.shape[1]
        owner = torch.arange(heads, device=x.device) * k.shape[1] // heads
        scores = q @ k[:, owner].transpose(-1, -2) * self.width**-0.5
        last = torch.arange(tokens - new, tokens, device=x.device)
        hidden = torch.arange(tokens, device=x.device) > last.unsqueeze(1)
        weights = torch.softmax(scores.masked_fill(hidden, float("-inf")), -1)
        mixed = (weights @ v[:, owner]).permute(0, 2, 1, 3).reshape(batch, new, width)
        return self.w_o(mixed), [k.detach(), v.detach()]


class HeadByHead(nn.Module):
    """A loop over query heads, with parameters of its own kind."""

    class Matrix(nn.Module):
        """A weight without the rest of nn.Linear."""

        def __init__(self, rows: int, columns: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.empty(rows, columns).normal_())

    def __init__(self, d_model: int, heads: int, kv_heads: int) -> None:
        super().__init__()
        self.heads, self.share, self.width = heads, heads // kv_heads, d_model // heads
        self.w_q = self.Matrix(d_model, d_model)
        self.w_k = self.Matrix(kv_heads * self.width, d_model)
        self.w_v = self.Matrix(kv_heads * self.width, d_model)
        self.w_o = self.Matrix(d_model, d_model)

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Answer:
        batch, length, _ = x.shape
        k, v = (
            linear(x, w.weight).view(batch, length, -1, self.width).transpose(1, 2)
            for w in (self.w_k, self.w_v)
        )
        grown = (k, v) if cache is None else extend_cache(cache, k, v)
        mask = causal_mask(length, grown[0].shape[2], x.device)
        pieces = []
        for i, q in enumerate(torch.split(linear(x, self.w_q.weight), self.width, -1)):
            owner = i // self.share
            pieces.append(masked_attention(q, grown[0][:, owner], grown[1][:, owner], mask))
        return linear(torch.cat(pieces, -1), self.w_o.weight), grown


EXERCISE = Exercise(
    solution=GroupedQueryAttention,
    chapter=CHAPTER,
    title="A layer with a cache",
    points=5,
    minutes=25,
    difficulty=4,
    statement=(
        "Write the module: projections, heads that share keys, causal attention over the cache and "
        "the new tokens, and the output matrix. It takes new tokens and a cache, and returns "
        "answers and the longer cache. Your functions of this chapter are there, and "
        "`split_heads(x, heads)`, "
        "`merge_heads(x)` and `causal_mask(n_q, n_k, device)` are imported at the top; "
        "torch's ready-made attention is not allowed."
    ),
    example=(
        "With d_model = 12, 6 heads and 3 key/value heads, a head is 2 wide: w_k has 6 rows, and 5 "
        "tokens of one example leave keys of shape (1, 3, 5, 2) in the cache."
    ),
    conventions=(
        "Weights are called w_q, w_k, w_v and w_o, nn.Linear without bias; the first rows of each "
        "belong to head 0.",
        "The cache is a pair (keys, values), each (B, G, M, K): G heads, not H, old tokens first.",
        "The layer remembers nothing between calls and leaves x and the cache as they are. Where "
        "no cache is passed, nothing came before.",
        "Gradients flow from the answers to x, to the cache that comes in and to all four weights. "
        "The cache that is returned may be cut off from them.",
    ),
    hints=(
        "How wide is a head, and how many rows have w_k and w_v?",
        "Cut queries into H heads, keys and values into G. Extend the cache with the keys and "
        "values before you attend.",
        "The mask has a row for each new token and a column for each key of the longer cache. "
        "Join the heads and apply w_o at the end.",
    ),
    cases=CASES,
    mistakes=(
        Tiled,
        NoMask,
        MaskSkipped,
        TopLeft,
        ItselfHidden,
        NoOutputMatrix,
        MergedByReshape,
        SplitByReshape,
        KeysAndValuesSwapped,
        ScaleOfTheModel,
        ResidualAdded,
        CacheIgnored,
        NewNotKept,
        NewAloneKept,
        RepeatedKept,
        TimeSecond,
        LeftFromBefore,
        AnswersAlone,
        CacheFirst,
        HeadsNotShared,
        WithBias,
        Fused,
        on_the_cpu(GroupedQueryAttention),
        always_float32(GroupedQueryAttention),
        cut_from_autograd(GroupedQueryAttention),
        ChangedInPlace,
        GrownInPlace,
        ValuesFromKeys,
        QueriesByReshape,
        KeysByReshape,
        OwnCacheAlone,
        OldDetached,
        QueryMatrixCut,
        AllMatricesCut,
        BiasOnOutput,
    ),
    alternatives=(ByEinsum, HeadByHead, ByOwner),
    forbidden=READY_MADE_ATTENTION,
)
