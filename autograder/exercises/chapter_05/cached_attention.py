"""Exercise: one step of generation, for any number of new tokens.

Out of scope: shared heads (grouped_query_attention), positions (chapter 06).
"""

import math
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_05 import CHAPTER
from autograder.exercises.chapter_05._draws import Sizes, cache_of, far_apart, far_below
from autograder.inputs import described, normal, sizes
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request, call
from solutions.cache import KVCache, cached_attention, extend_cache
from solutions.masked import masked_attention
from solutions.masks import causal_mask

NEW = "B H L K"
RETURNS = "answers, cache"
Answer = tuple[Tensor, KVCache]
Weigh = Callable[[Tensor, Tensor], Tensor]  # scores and what may be seen -> weights


def _new(rng: Generator, of: Sizes) -> list[Tensor]:
    return [normal(rng, NEW, of) for _ in "qkv"]


def _words(of: Sizes, before: int) -> str:
    past = f"{before} tokens in the cache" if before else "no cache"
    return f"{past}, {described('q, k and v', NEW, of)}"


def _trial(rng: Generator, of: Sizes, before: int = 0) -> Trial:
    past = [cache_of(rng, "H", of, before)] if before else []
    return Trial(call(*_new(rng, of), *past), _words(of, before), of, RETURNS)


def _drawn(rng: Generator) -> tuple[Sizes, int]:
    of = sizes(rng, "B H L K P")
    return of, of.pop("P")


def first_chunk(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, sizes(rng, NEW))
    of = sizes(rng, NEW)
    yield Trial(call(*_new(rng, of), None), _words(of, 0), of, RETURNS)


def later_chunk(rng: Generator) -> Iterator[Trial]:
    of, before = _drawn(rng)
    yield _trial(rng, of, before)
    yield _trial(rng, {**of, "L": 2}, before + 2)
    yield _trial(rng, {**of, "L": 7}, 2)


def one_token(rng: Generator) -> Iterator[Trial]:
    of, before = _drawn(rng)
    yield _trial(rng, {**of, "L": 1}, before)
    yield _trial(rng, {**of, "L": 1}, 1)
    yield _trial(rng, {**of, "L": 1})


def a_generation(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B H K")
    steps, cache = [], None
    for length in (3, 2, 1, 1):
        q, k, v = _new(rng, {**of, "L": length})
        steps.append(Call((q, k, v, cache) if cache else (q, k, v)))
        cache = extend_cache(cache, k, v)
    words = f"chunks of 3, 2, 1 and 1, {described('heads', 'B H K', of)}"
    yield Trial(Request(calls=tuple(steps)), words, of, RETURNS)


def two_prompts(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, NEW)
    calls = tuple(Call(tuple(_new(rng, of))) for _ in range(2))
    yield Trial(Request(calls=calls), f"{_words(of, 0)}, two prompts", of, RETURNS)


def forks(rng: Generator) -> Iterator[Trial]:
    of, before = _drawn(rng)
    prefix = cache_of(rng, "H", of, before)
    calls = tuple(Call((*_new(rng, of), prefix)) for _ in range(2))
    yield Trial(Request(calls=calls), f"{_words(of, before)}, twice with it", of, RETURNS)


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    n = sizes(rng, "B")["B"]
    yield _trial(rng, dict.fromkeys("BHLK", n), n)
    of, before = _drawn(rng)
    yield _trial(rng, {**of, "L": before}, before)


def turned_heads(rng: Generator) -> Iterator[Trial]:
    """As split heads are: not contiguous."""
    of, before = _drawn(rng)
    turned = [normal(rng, "B L H K", of).transpose(1, 2) for _ in "qkv"]
    past = cache_of(rng, "H", of, before)
    yield Trial(call(*turned, past), _words(of, before), of, RETURNS)


def singles(rng: Generator) -> Iterator[Trial]:
    for single in "BHK":
        of, before = _drawn(rng)
        yield _trial(rng, {**of, single: 1}, before)


def large_scores(rng: Generator) -> Iterator[Trial]:
    of, before = _drawn(rng)
    q, k, v = _new(rng, of)
    past, old = cache_of(rng, "H", of, before)
    q, keys = far_apart(q, torch.cat([past, k], 2), rng)
    words = f"{_words(of, before)}, scores of thousands"
    request = call(q, keys[:, :, before:], v, (keys[:, :, :before], old))
    yield Trial(request, words, of, RETURNS)


def high_but_hidden(rng: Generator) -> Iterator[Trial]:
    """Each token has a far higher score with those after it, which are hidden."""
    of, before = _drawn(rng)
    q, k, v = _new(rng, of)
    past, old = cache_of(rng, "H", of, before)
    keys = torch.cat([past, k], 2)
    q, keys = far_below(q, keys, torch.arange(keys.shape[2]).flip(0))
    words = f"{_words(of, before)}, scores below -30,000"
    request = call(q, keys[:, :, before:], v, (keys[:, :, :before], old))
    yield Trial(request, words, of, RETURNS)


def dtypes(rng: Generator) -> Iterator[Trial]:
    of, before = _drawn(rng)
    yield from in_dtypes(_trial(rng, of, before))


def kept(rng: Generator) -> Iterator[Trial]:
    yield from one_token(rng)
    yield from forks(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    of, before = _drawn(rng)
    yield elsewhere(_trial(rng, of, before))
    yield elsewhere(_trial(rng, of))


def gradients(rng: Generator) -> Iterator[Trial]:
    of, before = _drawn(rng)
    yield backward(_trial(rng, of, before), rng, NEW)


CASES = (
    Case("a first chunk attends causally to itself", first_chunk, values),
    Case("a later chunk sees the cache and its own past", later_chunk, values, weight=2),
    Case("a single new token sees everything so far", one_token, values),
    Case("chunk after chunk, as in generation", a_generation, values),
    Case("a second prompt does not hear of the first", two_prompts, values),
    Case("two continuations can share one cache", forks, inputs_kept),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("works on tensors that are not contiguous", turned_heads, values),
    Case("works for one example, one head and one entry", singles, values),
    Case("scores in the thousands stay finite", large_scores, values),
    Case("later tokens stay hidden, however high their scores", high_but_hidden, values, weight=2),
    Case("the dtype is kept", dtypes, values, tolerance=6e-2),
    Case("the tensors and the cache are not changed", kept, inputs_kept),
    Case("works on whatever device the tensors are on", devices, values),
    Case("the gradient reaches new tokens and cache", gradients, values),
)


def _masked(q: Tensor, cache: KVCache, mask: Tensor | None) -> Answer:
    return masked_attention(q, *cache, mask), cache


def _seen(q: Tensor, cache: KVCache, shift: int) -> Tensor:
    """Let query i see keys j <= i + shift."""
    length, tokens = q.shape[2], cache[0].shape[2]
    return torch.ones(length, tokens, dtype=torch.bool, device=q.device).tril(shift)


def no_mask(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """New tokens see each other in both directions. The first of a chunk must not see the second:
    there is a mask to make, even for a prompt.
    """
    return _masked(q, extend_cache(cache, k, v), None)


def mask_skipped(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """With a cache there is no mask any more. For one new token that is right, for a chunk of
    several it is not: the first of them sees the second.
    """
    if cache is None:
        return cached_attention(q, k, v)
    return _masked(q, extend_cache(cache, k, v), None)


def top_left(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The mask is aligned at the top left (`tril()`, or `is_causal=True`): the first new token sees
    the first key alone. It stands behind everything in the cache. Which keys may it see?
    """
    grown = extend_cache(cache, k, v)
    return _masked(q, grown, _seen(q, grown, 0))


def square_mask(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The mask is square, new tokens by new tokens, but the scores have a column for each old token
    as well.
    """
    grown = extend_cache(cache, k, v)
    return _masked(q, grown, causal_mask(q.shape[2], q.shape[2], q.device))


def itself_hidden(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """A token does not see itself. Position i may attend to j = i as well."""
    grown = extend_cache(cache, k, v)
    return _masked(q, grown, _seen(q, grown, grown[0].shape[2] - q.shape[2] - 1))


def one_too_many(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """Each token sees one token that comes after it: the mask is shifted by one."""
    grown = extend_cache(cache, k, v)
    return _masked(q, grown, _seen(q, grown, grown[0].shape[2] - q.shape[2] + 1))


def mask_inverted(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The mask is upside down: tokens see the future and not the past. True means may attend."""
    grown = extend_cache(cache, k, v)
    return _masked(q, grown, ~causal_mask(q.shape[2], grown[0].shape[2], q.device))


def cache_ignored(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The new tokens attend to each other alone. The cache grows, but nobody reads it."""
    return cached_attention(q, k, v)[0], extend_cache(cache, k, v)


def new_unseen(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The new tokens see the cache but not themselves: extend the cache first, then attend."""
    if cache is None:
        return cached_attention(q, k, v)
    return masked_attention(q, *cache), extend_cache(cache, k, v)


def new_not_kept(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The cache that comes back lacks the new tokens. This step is right, but the next one will
    have forgotten them.
    """
    answers, grown = cached_attention(q, k, v, cache)
    return answers, cache or grown


def new_alone_kept(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The cache that comes back holds the new tokens alone. Return all of them so far."""
    return cached_attention(q, k, v, cache)[0], (k, v)


def new_first(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The new tokens stand in front of the old ones, and the mask hides the wrong keys."""
    if cache is None:
        return cached_attention(q, k, v)
    grown = extend_cache((k, v), *cache)
    return _masked(q, grown, causal_mask(q.shape[2], grown[0].shape[2], q.device))


def queries_kept(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The cache that comes back has queries where its keys should be. A query is used once."""
    return cached_attention(q, k, v, cache)[0], extend_cache(cache, q, v)


def cache_swapped(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The cache that comes back is (values, keys). The keys come first."""
    answers, (keys, grown) = cached_attention(q, k, v, cache)
    return answers, (grown, keys)


def answers_alone(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Tensor:
    """Only the answers come back. The caller needs the longer cache for the next step."""
    return cached_attention(q, k, v, cache)[0]


def cache_first(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Any:
    """You return (cache, answers). The answers come first."""
    answers, grown = cached_attention(q, k, v, cache)
    return grown, answers


def three_results(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Any:
    """You return three things. Keys and values together are the second of two."""
    answers, (keys, grown) = cached_attention(q, k, v, cache)
    return answers, keys, grown


_LEFT: list[weakref.ReferenceType[Tensor]] = []


def left_from_before(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """Something is remembered between calls, in a global variable or in a default argument: a new
    prompt hears of the one before. A cache that is not passed in is empty.
    """
    left = [one for ref in _LEFT if (one := ref()) is not None and one.shape == k.shape]
    _LEFT[:] = [weakref.ref(k), weakref.ref(v)]
    past = (left[0], left[1]) if cache is None and len(left) == 2 else cache
    return cached_attention(q, k, v, past)


def written_over(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The new tokens are written into the cache that came in, over its last ones. It is not yours
    to change: make a longer pair.
    """
    if cache is None:
        return cached_attention(q, k, v)
    keys, grown = cache
    length = min(k.shape[2], keys.shape[2])
    keys[:, :, -length:], grown[:, :, -length:] = k[:, :, :length], v[:, :, :length]
    return _masked(q, cache, causal_mask(q.shape[2], keys.shape[2], q.device))


def no_scale(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The scores are not divided by the root of the width of a head."""
    return cached_attention(q * math.sqrt(q.shape[-1]), k, v, cache)


def _weighted(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None, weigh: Weigh) -> Answer:
    """Attend with weights that are made of scores and a mask."""
    grown = extend_cache(cache, k, v)
    scores = q @ grown[0].mT / math.sqrt(q.shape[-1])
    seen = causal_mask(q.shape[2], grown[0].shape[2], q.device)
    return weigh(scores, seen) @ grown[1], grown


def divided_by_width(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The scores are divided by K, the width of a head. It should be the root of it."""
    return cached_attention(q / math.sqrt(q.shape[-1]), k, v, cache)


def over_queries(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The softmax runs over the new tokens, axis -2. Each of them shares its weight among keys."""
    return _weighted(q, k, v, cache, lambda s, seen: s.masked_fill(~seen, -math.inf).softmax(-2))


def filled_with_zero(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """Hidden scores are set to 0, or multiplied by it. A score of 0 is an ordinary one, and exp(0)
    is 1: which score gives no weight at all?
    """
    return _weighted(q, k, v, cache, lambda s, seen: (s * seen).softmax(-1))


def masked_afterwards(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """Hidden weights are set to 0 after the softmax, and the rest of a row no longer sums to 1."""
    return _weighted(q, k, v, cache, lambda s, seen: s.softmax(-1) * seen)


def fill_not_low_enough(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """Hidden scores get a number that is low, but not low enough, such as -10,000: where scores
    that count are lower still, the hidden keys win. Nothing is below -inf.
    """
    return _weighted(q, k, v, cache, lambda s, seen: s.masked_fill(~seen, -1e4).softmax(-1))


def masked_too_late(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The mask comes after the softmax, and each row is divided by its sum once more. If a hidden
    score is far above the others, their weights are 0 by then: hide scores, not weights.
    """

    def late(scores: Tensor, seen: Tensor) -> Tensor:
        weights = scores.softmax(-1) * seen
        return (weights / weights.sum(-1, keepdim=True)).nan_to_num(0.0)

    return _weighted(q, k, v, cache, late)


def other_triangle(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The mask keeps the wrong triangle (`triu` instead of `tril`): a token sees itself and what
    comes after it. True means may attend.
    """
    grown = extend_cache(cache, k, v)
    length, tokens = q.shape[2], grown[0].shape[2]
    seen = torch.ones(length, tokens, dtype=torch.bool, device=q.device)
    return _masked(q, grown, seen.triu(tokens - length))


def grown_in_place(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The tensors of the cache that came in grow themselves (`.data =`, `set_`, `resize_`). Whoever
    else continues from it finds tokens in it that it never saw: make a new pair.
    """
    answers, grown = cached_attention(q, k, v, cache)
    for old, new in zip(cache or (), grown, strict=False):
        old.data = new
    return answers, grown


def old_detached(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The cache is cut off before the tokens attend to it, so no gradient reaches it. If you want
    to cut, cut what you return.
    """
    return cached_attention(q, k, v, cache and (cache[0].detach(), cache[1].detach()))


def last_answer_alone(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """Only the answer for the last new token comes back. Asked is one for each of them: the layers
    above need all.
    """
    answers, grown = cached_attention(q, k, v, cache)
    return answers[:, :, -1:], grown


def unstable(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """The scores are exponentiated as they are. Shift each row by its maximum first, or use the
    functions of chapters 2 and 3.
    """
    grown = extend_cache(cache, k, v)
    scores = q @ grown[0].mT / math.sqrt(q.shape[-1])
    powers = scores.exp() * causal_mask(q.shape[2], grown[0].shape[2], q.device)
    return powers / powers.sum(-1, keepdim=True) @ grown[1], grown


def query_by_query(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """Each new token attends to a slice, with no mask at all."""
    keys, grown = (k, v) if cache is None else (
        torch.cat((old, new), -2) for old, new in zip(cache, (k, v), strict=True)
    )  # fmt: skip
    past, answers = keys.size(2) - q.size(2), []
    for i in range(q.size(2)):
        end = past + i + 1
        weights = F.softmax(q[:, :, i : i + 1] @ keys[:, :, :end].mT / q.size(3) ** 0.5, dim=-1)
        answers.append(weights @ grown[:, :, :end])
    return torch.cat(answers, dim=2), (keys, grown)


def by_positions(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """Compare positions, and add -inf to the scores."""
    start = 0 if cache is None else cache[0].shape[-2]
    if cache is not None:
        k, v = torch.cat([cache[0], k], -2), torch.cat([cache[1], v], -2)
    spot = torch.arange(k.shape[-2], device=q.device)
    hidden = spot > spot[start:].unsqueeze(-1)
    bias = torch.zeros(hidden.shape, dtype=q.dtype, device=q.device)
    bias = bias.masked_fill(hidden, -math.inf)
    scores = torch.einsum("bhlk,bhmk->bhlm", q, k) * k.shape[-1] ** -0.5 + bias
    return torch.einsum("bhlm,bhmk->bhlk", scores.softmax(-1), v), (k, v)


def in_two_parts(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Answer:
    """Scores with the cache are never masked; those with the chunk itself are a triangle."""
    past = cache or (k[:, :, :0], v[:, :, :0])
    length, root = q.shape[2], math.sqrt(q.shape[-1])
    own = (q @ k.transpose(-2, -1) / root).masked_fill(
        torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1), float("-inf")
    )
    weights = torch.softmax(torch.cat([q @ past[0].transpose(-2, -1) / root, own], -1), -1)
    cut = past[0].shape[2]
    answers = weights[..., :cut] @ past[1] + weights[..., cut:] @ v
    return answers, (torch.cat([past[0], k], 2), torch.cat([past[1], v], 2))


def one_by_one(q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None) -> Any:
    """New tokens join one by one, each attends to all; no gradient for what is returned."""
    held, answers = [] if cache is None else [cache], []
    for i in range(q.shape[2]):
        held.append((k[:, :, i : i + 1], v[:, :, i : i + 1]))
        keys, grown = (torch.cat(parts, 2) for parts in zip(*held, strict=True))
        scores = torch.einsum("bhk,bhmk->bhm", q[:, :, i], keys) * q.size(-1) ** -0.5
        powers = (scores - scores.amax(-1, keepdim=True)).exp()
        answers.append(torch.einsum("bhm,bhmk->bhk", powers, grown) / powers.sum(-1, keepdim=True))
    return torch.stack(answers, 2), [keys.detach(), grown.detach()]


EXERCISE = Exercise(
    solution=cached_attention,
    chapter=CHAPTER,
    title="One step of generation",
    points=4,
    minutes=15,
    difficulty=3,
    statement=(
        "New tokens arrive, one or many. Let each attend to everything in the cache, to the new "
        "tokens before it and to itself. Return the answers, and the cache with the new tokens in "
        "it. `causal_mask(n_q, n_k, device)` and `masked_attention(q, k, v, mask)` of chapter 3 "
        "are imported at the top, and your `extend_cache` is there too; torch's ready-made "
        "attention is not allowed."
    ),
    example=(
        "One token with key 0 and value 0 is in the cache. A second one arrives with query 0, key "
        "0 and value 1. Both scores are 0, both weights 1/2, so its answer is 0.5 x 0 + 0.5 x 1 = "
        "0.5, and the new cache holds both tokens."
    ),
    conventions=(
        "With 5 tokens in the cache, new token 0 sees keys 0 to 5 and new token 1 keys 0 to 6.",
        "Two results: answers (B, H, L, K), and the pair (keys, values), old tokens first.",
        "No cache, None, means that nothing came before. Nothing is remembered between calls, and "
        "the cache that comes in is not changed.",
        "Gradients flow from the answers to everything that comes in. The cache that is returned "
        "may be cut off from them, as it often is where text is generated.",
    ),
    hints=(
        "Extend the cache first. Then there are L queries, and one key for each token so far.",
        "If p tokens are in the cache, new token i is at position p + i. For which j may it attend "
        "to key j? `causal_mask` of chapter 3 takes two numbers, n_q and n_k: what are they here, "
        "and where is its last row?",
        "The mask goes over a rectangle: as many rows as new tokens, as many columns as all.",
    ),
    cases=CASES,
    mistakes=(
        no_mask,
        mask_skipped,
        top_left,
        square_mask,
        itself_hidden,
        one_too_many,
        mask_inverted,
        cache_ignored,
        new_unseen,
        new_not_kept,
        new_alone_kept,
        new_first,
        queries_kept,
        cache_swapped,
        answers_alone,
        cache_first,
        three_results,
        left_from_before,
        written_over,
        no_scale,
        last_answer_alone,
        unstable,
        divided_by_width,
        over_queries,
        filled_with_zero,
        masked_afterwards,
        fill_not_low_enough,
        masked_too_late,
        other_triangle,
        grown_in_place,
        old_detached,
        on_the_cpu(cached_attention),
        always_float32(cached_attention),
        cut_from_autograd(cached_attention),
        changed_in_place(cached_attention),
    ),
    alternatives=(query_by_query, by_positions, in_two_parts, one_by_one),
    forbidden=READY_MADE_ATTENTION,
)
