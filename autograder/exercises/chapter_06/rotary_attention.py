"""Exercise: causal attention with rotary positions and a cache.

Out of scope: grouped heads; scores of thousands (chapter 05).
"""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_06 import CHAPTER
from autograder.exercises.chapter_06 import apply_rope as turning
from autograder.exercises.chapter_06.apply_rope import Sizes, drawn_sizes, turns
from autograder.inputs import described, normal
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import DTYPES, backward, elsewhere
from autograder.wire import Call, Request, call
from solutions.cache import KVCache, cached_attention, extend_cache
from solutions.masked import masked_attention
from solutions.rotary import apply_rope, rotary_attention

NEW = "B H L K"
RETURNS = "answers, cache"
Cache = KVCache | None
Answer = tuple[Tensor, KVCache]


def _new(rng: Generator, of: Sizes) -> list[Tensor]:
    return [normal(rng, NEW, of) for _ in "qkv"]


def _past(rng: Generator, of: Sizes, before: int) -> KVCache:
    old = {**of, "L": before}
    return normal(rng, NEW, old), normal(rng, NEW, old)


def _words(of: Sizes, before: int, rows: int) -> str:
    past = f"{before} tokens in the cache" if before else "no cache"
    return f"{past}, {described('q, k and v', NEW, of)}, angles of {rows} positions"


def _trial(rng: Generator, of: Sizes, before: int = 0, more: int = 4) -> Trial:
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
    yield _trial(rng, of, 2)


def one_token(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    yield _trial(rng, {**of, "L": 1}, 6)
    yield _trial(rng, {**of, "L": 1}, 1)
    yield _trial(rng, {**of, "L": 1})


def whole_table(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    yield _trial(rng, of, 3, more=0)
    yield _trial(rng, of, more=0)


def a_generation(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    angles, steps, cache = turns(rng, "L", {**of, "L": 9}), [], None
    for length in (3, 2, 1, 1):
        q, k, v = _new(rng, {**of, "L": length})
        steps.append(Call((q, k, v, angles, cache) if cache else (q, k, v, angles)))
        cache = rotary_attention(q, k, v, angles, cache)[1]
    words = f"chunks of 3, 2, 1 and 1, {described('heads', 'B H K', of)}, angles of 9 positions"
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
        words = f"{trial.inputs}, {name}, angles float32"
        yield Trial(call(*new, angles, tuple(old)), words, of, RETURNS)


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
    Case("chunk after chunk, as in generation", a_generation, values),
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


def from_the_end(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """You take the last rows of the angles. There may be more of them than tokens: count from how
    many are in the cache.
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


def cache_unread(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """The new tokens attend to each other alone. The cache grows, but nobody reads it."""
    q, k = _turned(q, k, angles, cache)
    return cached_attention(q, k, v)[0], extend_cache(cache, k, v)


def new_alone_kept(q: Tensor, k: Tensor, v: Tensor, angles: Tensor, cache: Cache = None) -> Answer:
    """The cache that comes back holds the new tokens alone. Return all of them so far."""
    answers, (keys, old) = rotary_attention(q, k, v, angles, cache)
    length = q.shape[2]
    return answers, (keys[:, :, -length:], old[:, :, -length:])


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
        "tokens in the cache, the first new token stands at position 5.",
        "The keys in the cache have been turned already, and those that you put in are turned. "
        "Values never are.",
        "Causal: new token 0 sees the whole cache and itself. Scores are divided by the root of K.",
        "Two results: answers (B, H, L, K), and the pair (keys, values), old tokens first. The "
        "cache that comes in is not changed, and q, k and v keep their dtype.",
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
        cache_unread,
        new_alone_kept,
        answers_alone,
        no_scale,
        of_float32_angles,
        on_the_cpu(rotary_attention),
        always_float32(rotary_attention),
        cut_from_autograd(rotary_attention),
        changed_in_place(rotary_attention),
    ),
    alternatives=(by_complex_numbers, token_by_token, with_triangle),
)
