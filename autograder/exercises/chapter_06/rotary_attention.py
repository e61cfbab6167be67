"""Exercise: causal attention with rotary positions and a cache.

Out of scope: grouped heads; gradients that flow back from the cache that is returned.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_06 import CHAPTER
from autograder.exercises.chapter_06 import apply_rope as turning
from autograder.exercises.chapter_06.apply_rope import FAR, Sizes, drawn_sizes, turns
from autograder.inputs import described, normal
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import DTYPES, backward, elsewhere
from autograder.wire import Call, Request, call
from solutions.cache import KVCache, cached_attention, extend_cache
from solutions.masked import masked_attention
from solutions.masks import causal_mask
from solutions.rotary import apply_rope, rotary_attention

NEW = "B H L K"
RETURNS = "answers, cache"
Cache = KVCache | None
Answer = tuple[Tensor, KVCache]
MORE = 12  # rows of angles beyond the last token: more than there are heads
STEEP = 12.0  # times larger queries and keys have scores whose exponentials are infinite


def _new(rng: Generator, of: Sizes) -> list[Tensor]:
    return [normal(rng, NEW, of) for _ in "qkv"]


def _past(rng: Generator, of: Sizes, before: int) -> KVCache:
    old = {**of, "L": before}
    return normal(rng, NEW, old), normal(rng, NEW, old)


def _words(of: Sizes, before: int, rows: int) -> str:
    past = f"{before} tokens in the cache" if before else "no cache"
    return f"{past}, {described('q, k and v', NEW, of)}, angles of {rows} positions"


def _trial(rng: Generator, of: Sizes, before: int = 0, more: int = MORE) -> Trial:
    rows = before + of["L"] + more
    past = [_past(rng, of, before)] if before else []
    angles = turns(rng, "L", {**of, "L": rows})
    request = call(*_new(rng, of), angles, *past)
    return Trial(request, _words(of, before, rows), of, RETURNS)


def first_chunk(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, drawn_sizes(rng))
    yield _trial(rng, drawn_sizes(rng))


def later_chunk(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    yield _trial(rng, of, of["L"] + 2)
    yield _trial(rng, of, 3)


def one_token(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    yield _trial(rng, {**of, "L": 1}, 6)
    yield _trial(rng, {**of, "L": 1}, 1)
    yield _trial(rng, {**of, "L": 1})


def empty_cache(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    trial = _trial(rng, of)
    none = torch.zeros(of["B"], of["H"], 0, of["K"])
    request = call(*trial.request.calls[0].args, (none, none.clone()))
    yield replace(trial, request=request, inputs=f"{trial.inputs}, or one of 0 tokens")


def steep(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng, drawn_sizes(rng), 3)
    q, k, v, angles, (keys, old) = trial.request.calls[0].args
    request = call(STEEP * q, STEEP * k, v, angles, (STEEP * keys, old))
    yield replace(trial, request=request, inputs=f"{trial.inputs}, scores in the hundreds")


def whole_table(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    yield _trial(rng, of, 3, more=0)
    yield _trial(rng, of, more=0)


def a_generation(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    angles, steps, cache = turns(rng, "L", {**of, "L": 7 + MORE}), [], None
    for length in (3, 2, 1, 1):
        q, k, v = _new(rng, {**of, "L": length})
        steps.append(Call((q, k, v, angles, cache) if cache else (q, k, v, angles)))
        cache = rotary_attention(q, k, v, angles, cache)[1]
    words = f"chunks of 3, 2, 1 and 1, {described('heads', 'B H K', of)}, angles of 19 positions"
    yield Trial(Request(calls=tuple(steps)), words, of, RETURNS)


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    n = 4  # small: a class bundle carries the replies of every mistake
    yield _trial(rng, {**dict.fromkeys("BHLK", n), "P": n // 2}, n)


def singles(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    yield _trial(rng, {**of, "B": 1}, 3)
    yield _trial(rng, {**of, "H": 1}, 3)
    yield _trial(rng, {**of, "P": 1, "K": 2}, 3)


def dtypes(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    trial = _trial(rng, of, 3)
    q, k, v, angles, past = trial.request.calls[0].args
    for dtype in reversed(DTYPES):
        new, old = ([one.to(dtype) for one in some] for some in ((q, k, v), past))
        name = str(dtype).removeprefix("torch.")
        words = f"{trial.inputs} in float32, in the hundreds, {name}"
        yield Trial(call(*new, FAR * angles, tuple(old)), words, of, RETURNS)


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(rng, drawn_sizes(rng), 3), rng, NEW)


def kept(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    yield _trial(rng, of, 3)
    yield _trial(rng, of)


def devices(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    yield elsewhere(_trial(rng, of, 3))
    yield elsewhere(_trial(rng, of))


CASES = (
    Case("a first chunk stands at positions from 0 on", first_chunk, values),
    Case("a later chunk stands behind what is in the cache", later_chunk, values, weight=2),
    Case("a single new token", one_token, values),
    Case("the angles are used to the last row", whole_table, values),
    Case("a cache that holds nothing yet", empty_cache, values),
    Case("chunk after chunk, as in generation", a_generation, values),
    Case("scores in the hundreds stay finite", steep, values, tolerance=1e-3),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("works for one example, one head and one pair", singles, values),
    Case("the dtype of q, k and v is kept", dtypes, values, tolerance=6e-2),
    Case("the gradient reaches q, k, v, angles and cache", gradients, values),
    Case("the tensors and the cache are not changed", kept, inputs_kept),
    Case("works on whatever device the tensors are on", devices, values),
)


def _start(cache: Cache) -> int:
    return cache[0].shape[2] if cache else 0


def _own(q: Tensor, angles: Tensor, cache: Cache) -> Tensor:
    return angles[_start(cache) : _start(cache) + q.shape[2]]


def _turned(q: Tensor, k: Tensor, angles: Tensor, cache: Cache) -> tuple[Tensor, Tensor]:
    own = _own(q, angles, cache)
    return apply_rope(q, own), apply_rope(k, own)


def starts_at_zero(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """New tokens always get the angles from position 0 on. A prompt does not show it, the next
    token does: how many tokens stand before it?
    """
    own = angles[: q.shape[2]]
    return cached_attention(apply_rope(q, own), apply_rope(k, own), v, cache)


def one_too_far(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """The new tokens stand one place too far: with 5 tokens in the cache, the next is at 5."""
    shift = 1 if cache else 0
    own = angles.roll(-shift, 0)
    return rotary_attention(q, k, v, own, cache)


def one_too_early(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """The new tokens stand where the last one in the cache does, or one place before they should:
    with 5 tokens in it, at positions 0 to 4, the next is at 5.
    """
    past = max(_start(cache) - 1, 0)
    own = angles[past : past + q.shape[2]]
    return cached_attention(apply_rope(q, own), apply_rope(k, own), v, cache)


def starts_at_heads(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """The new tokens begin at the number of heads. Which axis of the cache counts the tokens?"""
    past = cache[0].shape[1] if cache else 0
    own = angles[past : past + q.shape[2]]
    return cached_attention(apply_rope(q, own), apply_rope(k, own), v, cache)


def starts_at_two(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """With a cache, the new tokens always begin at position 2. The cache is a pair, so 2 is its
    length: how many tokens are in it?
    """
    past = len(cache) if cache else 0
    own = angles[past : past + q.shape[2]]
    return cached_attention(apply_rope(q, own), apply_rope(k, own), v, cache)


def from_the_end(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """The numbers are those of the last rows of the angles. There may be more rows than tokens:
    count from how many are in the cache.
    """
    own = angles[-q.shape[2] :]
    return cached_attention(apply_rope(q, own), apply_rope(k, own), v, cache)


def turned_again(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """The keys from the cache are turned again at every step. They were turned when they came; turn
    the new ones alone.
    """
    if cache is None:
        return rotary_attention(q, k, v, angles)
    old = apply_rope(cache[0], angles[: _start(cache)])
    return rotary_attention(q, k, v, angles, (old, cache[1]))


def cached_unturned(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """The answers are right, but the new keys go into the cache unturned, and the next step takes
    them for turned ones.
    """
    return rotary_attention(q, k, v, angles, cache)[0], extend_cache(cache, k, v)


def values_turned(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """The values are turned as well. They are content: position works in the weights alone."""
    return rotary_attention(q, k, apply_rope(v, _own(q, angles, cache)), angles, cache)


def queries_as_they_are(
    q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None
) -> Answer:
    """The keys are turned, the queries are not. Only turning both gives the distance."""
    return cached_attention(q, _turned(q, k, angles, cache)[1], v, cache)


def keys_as_they_are(
    q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None
) -> Answer:
    """The queries are turned, the keys are not. Only turning both gives the distance."""
    return cached_attention(_turned(q, k, angles, cache)[0], k, v, cache)


def not_turned(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """Nothing is turned: the angles are not used."""
    return cached_attention(q, k, v, cache)


def queries_at_zero(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """The keys stand where they should, but the queries begin at position 0."""
    return cached_attention(
        apply_rope(q, angles[: q.shape[2]]), _turned(q, k, angles, cache)[1], v, cache
    )


def other_way(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """Queries and keys turn the wrong way. Among themselves nobody would notice, but the keys in
    the cache were turned the right way.
    """
    return rotary_attention(q, k, v, -angles, cache)


def half_split(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """Entry i is paired with entry i + K/2: the other layout. Here 2i and 2i + 1 are a pair."""
    own = _own(q, angles, cache)
    return cached_attention(turning.half_split(q, own), turning.half_split(k, own), v, cache)


def no_mask(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """New tokens see those that come after them. RoPE hides nothing: the causal mask is needed."""
    q, k = _turned(q, k, angles, cache)
    grown = extend_cache(cache, k, v)
    return masked_attention(q, *grown), grown


def top_left(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """The mask is aligned at the top left: the first new token sees the first key alone. It stands
    behind everything in the cache.
    """
    q, k = _turned(q, k, angles, cache)
    grown = extend_cache(cache, k, v)
    shape = q.shape[2], grown[0].shape[2]
    mask = torch.ones(shape, dtype=torch.bool, device=q.device).tril()
    return masked_attention(q, *grown, mask), grown


def masked_too_late(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """Weights of the future are set to 0 after the softmax, so what is left does not add up to 1.
    Hide keys before it, in the scores.
    """
    q, k = _turned(q, k, angles, cache)
    grown = extend_cache(cache, k, v)
    seen = causal_mask(q.shape[2], grown[0].shape[2], q.device)
    weights = (q @ grown[0].mT / math.sqrt(q.shape[-1])).softmax(-1)
    return (weights * seen) @ grown[1], grown


def softmax_overflows(
    q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None
) -> Answer:
    """The softmax exponentiates the scores as they are. In float32 that is infinite from 89 on:
    take the largest off first, as in chapter 2, or use a softmax that does.
    """
    q, k = _turned(q, k, angles, cache)
    grown = extend_cache(cache, k, v)
    seen = causal_mask(q.shape[2], grown[0].shape[2], q.device)
    powers = (q @ grown[0].mT / math.sqrt(q.shape[-1])).exp() * seen
    return powers / powers.sum(-1, keepdim=True) @ grown[1], grown


def cache_unread(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """The new tokens attend to each other alone. The cache grows, but nobody reads it."""
    q, k = _turned(q, k, angles, cache)
    return cached_attention(q, k, v)[0], extend_cache(cache, k, v)


def new_alone_kept(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """The cache that comes back holds the new tokens alone. Return all of them so far."""
    answers, (keys, old) = rotary_attention(q, k, v, angles, cache)
    length = q.shape[2]
    return answers, (keys[:, :, -length:], old[:, :, -length:])


def old_cache_returned(
    q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None
) -> Answer:
    """The cache that came in comes back, without the new tokens."""
    answers, grown = rotary_attention(q, k, v, angles, cache)
    return answers, cache or grown


def keys_and_values_exchanged(
    q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None
) -> Answer:
    """In the cache that comes back, keys and values have changed places. Keys come first."""
    answers, (keys, old) = rotary_attention(q, k, v, angles, cache)
    return answers, (old, keys)


def new_tokens_first(
    q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None
) -> Answer:
    """The new tokens are put in front of the old ones, where the mask takes them for the first of
    the text. They come behind.
    """
    q, k = _turned(q, k, angles, cache)
    grown = extend_cache((k, v), *cache) if cache else (k, v)
    return masked_attention(q, *grown, causal_mask(q.shape[2], grown[0].shape[2], q.device)), grown


def answers_alone(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Tensor:
    """Only the answers come back. The caller needs the longer cache for the next step."""
    return rotary_attention(q, k, v, angles, cache)[0]


def no_scale(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """The scores are not divided by the root of the width of a head."""
    return rotary_attention(q * math.sqrt(q.shape[-1]), k, v, angles, cache)


def of_float32_angles(
    q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None
) -> Answer:
    """The angles are float32, and with them everything else becomes float32. Round turned queries
    and keys to the dtype in which they came.
    """
    kind = torch.promote_types(q.dtype, angles.dtype)
    past = cache and (cache[0].to(kind), cache[1].to(kind))
    return rotary_attention(q.to(kind), k.to(kind), v.to(kind), angles, past)


def angles_rounded(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """The angles are rounded to the dtype of q. In half precision an angle in the hundreds is then
    off by a good part of a turn: take sine and cosine first, and round after that.
    """
    return rotary_attention(q, k, v, angles.to(q.dtype), cache)


def angles_cut_off(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """The angles get no gradient: they are detached, or sines and cosines are made under
    `no_grad`.
    """
    return rotary_attention(q, k, v, angles.detach(), cache)


def cache_cut_off(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """What is in the cache gets no gradient: it is detached. In training, a later chunk teaches the
    keys and values of an earlier one.
    """
    past = cache and (cache[0].detach(), cache[1].detach())
    return rotary_attention(q, k, v, angles, past)


def by_complex_numbers(
    q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None
) -> Answer:
    start = cache[0].size(2) if cache is not None else 0
    hand = torch.polar(torch.ones_like(angles), angles)[start : start + q.size(2)]

    def turn(x: Tensor) -> Tensor:
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * hand).flatten(-2).type_as(x)

    q, k = turn(q), turn(k)
    if cache is not None:
        k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
    spot = torch.arange(k.size(2), device=q.device)
    seen = spot <= spot[start:, None]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen), (k, v)


def token_by_token(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """Feed the new tokens one at a time; no mask is needed."""
    keys, olds = cache if cache is not None else (k[:, :, :0], v[:, :, :0])
    answers = []
    for i in range(q.shape[2]):
        own = angles[keys.shape[2]]
        keys = torch.cat([keys, apply_rope(k[:, :, i : i + 1], own[None])], 2)
        olds = torch.cat([olds, v[:, :, i : i + 1]], 2)
        asked = apply_rope(q[:, :, i : i + 1], own[None])
        weights = (asked @ keys.mT / q.shape[-1] ** 0.5).softmax(-1)
        answers.append(weights @ olds)
    return torch.cat(answers, 2), (keys, olds)


def with_triangle(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    past = 0 if cache is None else cache[1].shape[-2]
    length = q.shape[-2]
    row = angles.narrow(0, past, length)
    asked, new = torch.chunk(apply_rope(torch.cat([q, k], 1), row), 2, dim=1)
    grown = (new, v)
    if cache is not None:
        grown = torch.cat([cache[0], new], -2), torch.cat([cache[1], v], -2)
    scores = torch.einsum("bhlk,bhmk->bhlm", asked, grown[0]) / math.sqrt(q.shape[-1])
    hidden = scores.new_ones(length, past + length).triu(past + 1) > 0
    weights = scores.masked_fill(hidden, -math.inf).softmax(dim=-1)
    return torch.einsum("bhlm,bhmk->bhlk", weights, grown[1]), grown


def with_lists(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> list[Any]:
    """Torch's ready-made attention; lists in the place of pairs."""
    past, new = (cache[0].size(-2) if cache is not None else 0), q.size(-2)
    q, k = (apply_rope(x, angles[past:][:new]) for x in (q, k))
    if cache is not None:
        k, v = (torch.cat(both, dim=-2) for both in zip(cache, (k, v), strict=True))
    mask = torch.ones(new, past + new, dtype=torch.bool, device=q.device).tril(past)
    return [F.scaled_dot_product_attention(q, k, v, attn_mask=mask), [k, v]]


EXERCISE = Exercise(
    solution=rotary_attention,
    chapter=CHAPTER,
    title="Rotary attention with a cache",
    points=4,
    minutes=14,
    difficulty=4,
    statement=(
        "New tokens arrive, one or many. Turn their queries and keys by the angles of their "
        "positions, and let each attend to everything in the cache, to the new tokens before it "
        "and to itself. Return the answers, and the cache with the new tokens in it. Your "
        "functions from chapters 3 and 5 may help."
    ),
    example=(
        "Two tokens with query, key and value (1, 1) arrive one after the other; the angles of "
        "positions 0 and 1 are 0 and a quarter turn. The first key goes into the cache as (1, 1), "
        "the second as (-1, 1)."
    ),
    conventions=(
        "Row p of the angles belongs to position p. There may be more rows than tokens. With 5 "
        "tokens in the cache, the first new token stands at position 5; a cache may also hold none "
        "yet.",
        "The keys in the cache have been turned already, and those that you put in are turned. "
        "Values never are.",
        "Causal: new token 0 sees the whole cache and itself. Scores are divided by the root of K; "
        "they may be in the hundreds.",
        "Two results: answers (B, H, L, K), and the pair (keys, values), old tokens first. The "
        "cache that comes in is not changed. From the answers, gradients flow back to q, k, v, the "
        "angles and the cache.",
        "The results have the dtype of q, k and v. The angles may be float32 where these are half "
        "precision, and in the hundreds: they are not rounded.",
    ),
    hints=(
        "How many tokens are in the cache? That is where the new ones start.",
        "Only what is new has to be turned. Which three of q, k, v and the cache stay as they are?",
        "After that it is one step of generation, as in chapter 5.",
    ),
    cases=CASES,
    mistakes=(
        starts_at_zero,
        one_too_far,
        one_too_early,
        starts_at_heads,
        starts_at_two,
        from_the_end,
        turned_again,
        cached_unturned,
        values_turned,
        queries_as_they_are,
        keys_as_they_are,
        not_turned,
        queries_at_zero,
        other_way,
        half_split,
        no_mask,
        top_left,
        masked_too_late,
        softmax_overflows,
        cache_unread,
        new_alone_kept,
        old_cache_returned,
        keys_and_values_exchanged,
        new_tokens_first,
        answers_alone,
        no_scale,
        of_float32_angles,
        angles_rounded,
        angles_cut_off,
        cache_cut_off,
        on_the_cpu(rotary_attention),
        always_float32(rotary_attention),
        cut_from_autograd(rotary_attention),
        changed_in_place(rotary_attention),
    ),
    alternatives=(by_complex_numbers, token_by_token, with_triangle, with_lists),
)
