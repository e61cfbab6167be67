"""Exercise: one new token, and a cache with room for a window.

Out of scope: several tokens at a time, shared key/value heads. Positions travel with the keys.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_10 import CHAPTER
from autograder.exercises.chapter_10._draws import Sizes, drawn_sizes, qkv, turned, words
from autograder.inputs import integer, normal
from autograder.slips import (
    always_float32,
    changed_in_place,
    cut_from_autograd,
    float64_narrowed,
    on_the_cpu,
)
from autograder.spec import Case, Exercise, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request, call
from solutions.masked import masked_attention
from solutions.windows import KVCache, rolling_cache_step

RETURNS = "answer, cache"
Answer = tuple[Tensor, KVCache]


def _sizes(rng: Generator, w: int) -> Sizes:
    """Draw sizes; "S" counts the slots."""
    return {**drawn_sizes(rng, S=w), "L": 1}


def _cache(rng: Generator, of: Sizes) -> KVCache:
    return normal(rng, "B H S K", of), normal(rng, "B H S W", of)


def _given(of: Sizes, position: int, given: tuple[Any, ...], note: str = "") -> Trial:
    shown = f"{words(of)}, {of['S']} slots, position {position}{note}"
    return Trial(call(*given, position), shown, of, RETURNS)


def _trial(rng: Generator, w: int, position: int, note: str = "") -> Trial:
    of = _sizes(rng, w)
    return _given(of, position, (*qkv(rng, of), _cache(rng, of)), note)


def first_token(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, integer(rng, 4, 6), 0)


def filling(rng: Generator) -> Iterator[Trial]:
    w = integer(rng, 5, 7)
    yield _trial(rng, w, w - 2)


def just_full(rng: Generator) -> Iterator[Trial]:
    w = integer(rng, 4, 6)
    yield _trial(rng, w, w - 1)
    yield _trial(rng, w, w)


def going_round(rng: Generator) -> Iterator[Trial]:
    w = integer(rng, 5, 7)
    yield _trial(rng, w, w + 2)
    yield _trial(rng, w, 8 * w - 1)


def much_later(rng: Generator) -> Iterator[Trial]:
    w = integer(rng, 4, 6)
    yield _trial(rng, w, 10**12 + integer(rng, 0, 9))


def never_written(rng: Generator) -> Iterator[Trial]:
    """What lies in free slots is loud, and must not be heard."""
    of = _sizes(rng, 6)
    q, k, v = qkv(rng, of)
    keys, kept = _cache(rng, of)
    q, free = q.abs() + 1, (torch.arange(6) > 2)[:, None]
    keys, kept = keys.where(~free, torch.tensor(50.0)), kept.where(~free, torch.tensor(-70.0))
    yield _given(of, 2, (q, k, v, (keys, kept)), ", large numbers in the free slots")


def just_forgotten(rng: Generator) -> Iterator[Trial]:
    """The key that the new one replaces is loud, and must not be heard any more."""
    of = _sizes(rng, 5)
    q, k, v = qkv(rng, of)
    keys, kept = _cache(rng, of)
    position = integer(rng, 11, 13)
    q = q.abs() + 1
    keys[:, :, position % 5] = 40.0
    yield _given(of, position, (q, k, v, (keys, kept)), ", a loud key in the slot of the new one")


def a_generation(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, 3)
    cache = torch.zeros_like(_cache(rng, of)[0]), torch.zeros_like(_cache(rng, of)[1])
    steps = []
    for position in range(6):
        q, k, v = qkv(rng, of)
        steps.append(Call((q, k, v, cache, position)))
        _, cache = rolling_cache_step(q, k, v, cache, position)
    yield Trial(Request(tuple(steps)), f"{words(of)}, 3 slots, positions 0 to 5", of, RETURNS)


def two_texts(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, 4)
    texts = [(_cache(rng, of), start) for start in (9, 2)]
    steps = [
        Call((*qkv(rng, of), *texts[i % 2][:1], texts[i % 2][1] + 3 * (i // 2))) for i in range(4)
    ]
    shown = f"{words(of)}, 4 slots, two texts in turn, positions 9, 2, 12, 5"
    yield Trial(Request(tuple(steps)), shown, of, RETURNS)


def forks(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, 5)
    cache, position = _cache(rng, of), integer(rng, 6, 9)
    calls = tuple(Call((*qkv(rng, of), cache, position)) for _ in range(2))
    yield Trial(Request(calls), f"{words(of)}, 5 slots, position {position}, twice", of, RETURNS)


def singles(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 1, integer(rng, 0, 3))
    for letter in "HK":
        of = {**_sizes(rng, 3), "B": 1, "W": 1, letter: 1}
        yield _given(of, 4, (*qkv(rng, of), _cache(rng, of)))


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    of = {**dict.fromkeys("BHKWS", 3), "L": 1}
    yield _given(of, integer(rng, 4, 5), (*qkv(rng, of), _cache(rng, of)))


def large_scores(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, 4)
    q, k, v = qkv(rng, of)
    keys, kept = _cache(rng, of)
    keys, k = torch.zeros_like(keys), torch.zeros_like(k)
    keys[..., 0] = 20.0 + 20.0 * torch.arange(4)
    k[..., 0], q[..., 0] = 50.0, 500.0
    for sign in (1, -1):
        given = (sign * q, k, v, (keys, kept))
        yield _given(of, 9, given, f", scores of {'plus' if sign > 0 else 'minus'} thousands")


def not_contiguous(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, 4)
    keys, kept = turned([*_cache(rng, of)])
    yield _given(of, 6, (*turned(qkv(rng, of)), (keys, kept)), ", not contiguous")


def gradients(rng: Generator) -> Iterator[Trial]:
    for w, position in ((4, 2), (5, 8)):
        yield backward(_trial(rng, w, position), rng, "B H L W")


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng, 4, 6))
    of = _sizes(rng, 4)
    q, k, v = (x.double() for x in qkv(rng, of))
    keys, kept = (x.double() for x in _cache(rng, of))
    yield _given(of, 7, (q, k, 1e60 * v, (keys, 1e60 * kept)), ", float64, values of size 1e60")


def kept(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 4, 2)
    yield _trial(rng, 5, 9)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, 4, 6))


CASES = (
    Case("the first token sees itself alone", first_token, values),
    Case("the cache fills up slot by slot", filling, values),
    Case("the last free slot, and the first that is used again", just_full, values, weight=2),
    Case("slots are used again in turn", going_round, values, weight=2),
    Case("the position may be any number", much_later, values),
    Case("slots never written are not heard", never_written, values, weight=2),
    Case("the token that is replaced is not heard any more", just_forgotten, values),
    Case("token after token, as in generation", a_generation, values),
    Case("two texts in turn do not hear of each other", two_texts, values),
    Case("two continuations can share one cache", forks, inputs_kept),
    Case("works for one slot, example, head or entry", singles, values),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("scores in the thousands stay finite", large_scores, values),
    Case("works on tensors that are not contiguous", not_contiguous, values),
    Case("the gradient reaches token and cache", gradients, values),
    Case("the dtype is kept, and its range", dtypes, values),
    Case("nothing that comes in is changed", kept, inputs_kept),
    Case("works on whatever device the tensors are on", devices, values),
)


def _placed(cache: KVCache, k: Tensor, v: Tensor, slot: int) -> KVCache:
    """Give the cache with a token in a slot."""
    keys, kept = (slots.clone() for slots in cache)
    keys[:, :, slot], kept[:, :, slot] = k[:, :, 0], v[:, :, 0]
    return keys, kept


def _heard(q: Tensor, cache: KVCache, which: slice) -> Tensor:
    return masked_attention(q, cache[0][:, :, which], cache[1][:, :, which])


def _step(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cache: KVCache,
    position: int,
    *,
    slot: int | None = None,
    held: int | None = None,
) -> Answer:
    """Take a step with another slot, or another number of slots that are read."""
    w = cache[0].shape[2]
    grown = _placed(cache, k, v, position % w if slot is None else slot)
    return _heard(q, grown, slice(min(position + 1, w) if held is None else held)), grown


def slot_after(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The token lies one slot too far: positions are counted from 0, so the first token lies in
    slot 0.
    """
    return _step(q, k, v, cache, position, slot=(position + 1) % cache[0].shape[2])


def slot_before(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The token lies one slot too early. `position` tokens came before, so it is itself at that
    position.
    """
    return _step(q, k, v, cache, position, slot=(position - 1) % cache[0].shape[2])


def last_slot_for_ever(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """Once the cache is full, each token replaces the one before it, in the last slot. The oldest
    should go.
    """
    return _step(q, k, v, cache, position, slot=min(position, cache[0].shape[2] - 1))


def first_slot_for_ever(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """Once the cache is full, each token goes to slot 0. The slots take turns."""
    w = cache[0].shape[2]
    return _step(q, k, v, cache, position, slot=position if position < w else 0)


def moved_along(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The answers are right, but all slots move by one at every step and the new token is the last.
    So w keys are copied for each new one. Here tokens stay where they are: position j in slot
    j mod w.
    """
    answer, _ = rolling_cache_step(q, k, v, cache, position)
    if position < cache[0].shape[2]:
        return answer, _placed(cache, k, v, position)
    return answer, tuple(
        torch.cat([old[:, :, 1:], new], 2) for old, new in zip(cache, (k, v), strict=True)
    )  # type: ignore[return-value]  # two of them


def sorted_by_age(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The cache that comes back is sorted by age, the oldest first. A token stays in its slot."""
    answer, grown = rolling_cache_step(q, k, v, cache, position)
    w = cache[0].shape[2]
    turn = (position + 1) % w if position >= w else 0
    return answer, (grown[0].roll(-turn, 2), grown[1].roll(-turn, 2))


def newest_first(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The slots are used backwards, the last one first."""
    w = cache[0].shape[2]
    return _step(q, k, v, cache, position, slot=w - 1 - position % w, held=w)


def cache_grows(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The cache grows by one slot. It has room for w, and the new token takes the place of the
    oldest.
    """
    grown = (torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2))
    return _heard(q, grown, slice(None)), grown


def all_slots_heard(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """All slots are read, also those in which nothing has been written yet. How many tokens are
    there at position 2?
    """
    return _step(q, k, v, cache, position, held=cache[0].shape[2])


def one_slot_less(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """While the cache fills, the new token does not hear itself: at position p there are p + 1
    tokens with it.
    """
    return _step(q, k, v, cache, position, held=min(position, cache[0].shape[2]))


def one_slot_more(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """While the cache fills, one free slot is read, too: at position p there are p + 1 tokens."""
    return _step(q, k, v, cache, position, held=min(position + 2, cache[0].shape[2]))


def up_to_the_slot(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """Slots behind that of the new token are never read. Once the cache is full, older tokens lie
    there: the order of the slots is not that of time.
    """
    return _step(q, k, v, cache, position, held=position % cache[0].shape[2] + 1)


def oldest_hidden(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The window is one token too narrow: with w slots the new token hears w, itself included."""
    _, grown = rolling_cache_step(q, k, v, cache, position)
    w = cache[0].shape[2]
    seen = torch.arange(w, device=q.device) <= position
    if position >= w - 1 and w > 1:
        seen = seen & (torch.arange(w, device=q.device) != (position + 1) % w)
    return masked_attention(q, *grown, seen), grown


def read_before_written(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The token hears the cache as it was, with the one that it replaces and without itself. Write
    first, then read.
    """
    _, grown = rolling_cache_step(q, k, v, cache, position)
    return _heard(q, cache, slice(min(position + 1, cache[0].shape[2]))), grown


def one_too_wide(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The token hears w others and itself. The one that it replaces is outside of the window."""
    _, grown = rolling_cache_step(q, k, v, cache, position)
    held = slice(min(position, cache[0].shape[2]))
    both = (torch.cat([old[:, :, held], new], 2) for old, new in zip(cache, (k, v), strict=True))
    return masked_attention(q, *both), grown


def itself_alone(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The token hears itself alone. The cache is written, and nobody reads it."""
    _, grown = rolling_cache_step(q, k, v, cache, position)
    return masked_attention(q, k, v), grown


def token_not_kept(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The cache comes back as it was. This answer is right, and the next one will not be."""
    return rolling_cache_step(q, k, v, cache, position)[0], cache


def values_not_kept(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The new key is written and the new value is not."""
    grown = (_placed(cache, k, v, position % cache[0].shape[2])[0], cache[1])
    return _heard(q, grown, slice(min(position + 1, cache[0].shape[2]))), grown


def queries_kept(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The cache that comes back has the query where the new key should be. A query is used once."""
    grown = _placed(cache, q, v, position % cache[0].shape[2])
    return rolling_cache_step(q, k, v, cache, position)[0], grown


def written_over(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The token is written into the cache that came in. Whoever else continues from it finds a
    token that it never saw: make a new pair.
    """
    slot = position % cache[0].shape[2]
    answer, grown = rolling_cache_step(q, k, v, cache, position)
    with torch.no_grad():
        cache[0][:, :, slot], cache[1][:, :, slot] = k[:, :, 0], v[:, :, 0]
    return answer, grown


def cache_swapped(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The cache that comes back is (values, keys). The keys come first."""
    answer, (keys, kept_values) = rolling_cache_step(q, k, v, cache, position)
    return answer, (kept_values, keys)


def answer_alone(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Tensor:
    """Only the answer comes back. The caller needs the new cache for the next step."""
    return rolling_cache_step(q, k, v, cache, position)[0]


def cache_first(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Any:
    """You return (cache, answer). The answer comes first."""
    answer, grown = rolling_cache_step(q, k, v, cache, position)
    return grown, answer


def three_results(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Any:
    """You return three things. Keys and values together are the second of two."""
    answer, (keys, kept_values) = rolling_cache_step(q, k, v, cache, position)
    return answer, keys, kept_values


def axis_lost(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The answer has lost its axis of one token: (B, H, 1, W) is asked."""
    answer, grown = rolling_cache_step(q, k, v, cache, position)
    return answer.squeeze(2), grown


def first_example_for_all(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """All examples hear what the first one hears. Each has its own text."""
    answer, grown = rolling_cache_step(q, k, v, cache, position)
    return answer[:1].expand_as(answer), grown


def _weighed(q: Tensor, grown: KVCache, position: int, weigh: Callable[[Tensor], Tensor]) -> Answer:
    keys, kept_values = (slots[:, :, : position + 1] for slots in grown)
    return weigh(q @ keys.mT / math.sqrt(q.shape[-1])) @ kept_values, grown


def no_scale(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The scores are not divided by the root of the width of a key."""
    return rolling_cache_step(q * math.sqrt(q.shape[-1]), k, v, cache, position)


def divided_by_width(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The scores are divided by K. It should be the root of it."""
    return rolling_cache_step(q / math.sqrt(q.shape[-1]), k, v, cache, position)


def over_queries(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The softmax runs over the query, of which there is one: all weights are 1."""
    _, grown = rolling_cache_step(q, k, v, cache, position)
    return _weighed(q, grown, position, lambda scores: scores.softmax(-2))


def mean_of_values(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """All values in the cache count equally. Scores say how much each counts."""
    return rolling_cache_step(0 * q, k, v, cache, position)


def unstable(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """The scores are exponentiated as they are. Shift them by their maximum first."""
    _, grown = rolling_cache_step(q, k, v, cache, position)

    def weigh(scores: Tensor) -> Tensor:
        return scores.exp() / scores.exp().sum(-1, keepdim=True)

    return _weighed(q, grown, position, weigh)


def cache_cut_off(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """No gradient reaches the cache that came in, or the new key and value: they are copied with
    `detach`, `.data` or `no_grad`.
    """
    cut = (cache[0].detach(), cache[1].detach())
    return rolling_cache_step(q, k.detach(), v.detach(), cut, position)


def by_index_copy(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    w = cache[0].size(2)
    slot = torch.tensor([position % w], device=q.device)
    keys = cache[0].index_copy(2, slot, k)
    kept_values = cache[1].index_copy(2, slot, v)
    scores = torch.einsum("bhlk,bhmk->bhlm", q, keys) * q.size(-1) ** -0.5
    free = torch.arange(w, device=q.device) > position
    weights = scores.masked_fill(free, -math.inf).softmax(-1)
    return torch.einsum("bhlm,bhmw->bhlw", weights, kept_values), (keys, kept_values)


def by_joining(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Any:
    """What lies before the slot, the token, what lies behind."""
    slot = position % cache[0].shape[2]
    grown = []
    for old, new in zip(cache, (k, v), strict=True):
        grown.append(torch.cat((old[:, :, :slot], new, old[:, :, slot + 1 :]), dim=2))
    keys, kept_values = (slots[:, :, : position + 1] for slots in grown)
    scores = q @ keys.transpose(-1, -2) / math.sqrt(k.shape[-1])
    return F.softmax(scores, dim=-1) @ kept_values, grown


def by_choosing(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    w = cache[0].shape[2]
    slots = torch.arange(w, device=k.device)
    here = (slots == position % w)[:, None]
    keys, kept_values = torch.where(here, k, cache[0]), torch.where(here, v, cache[1])
    seen = (slots <= position).expand(1, w)
    return masked_attention(q, keys, kept_values, seen), (keys, kept_values)


def by_age(q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int) -> Answer:
    """Read the slots in the order of time."""
    keys, kept_values = cache[0] + 0, cache[1] + 0
    w = keys.shape[2]
    keys.narrow(2, position % w, 1).copy_(k)
    kept_values.narrow(2, position % w, 1).copy_(v)
    oldest = max(0, position - w + 1)
    order = [j % w for j in range(oldest, position + 1)]
    scores = (q * keys[:, :, order]).sum(-1, keepdim=True) / k.shape[-1] ** 0.5
    return (scores.softmax(2) * kept_values[:, :, order]).sum(2, keepdim=True), (keys, kept_values)


EXERCISE = Exercise(
    solution=rolling_cache_step,
    chapter=CHAPTER,
    title="A cache that goes round",
    points=4,
    minutes=14,
    difficulty=3,
    statement=(
        "One new token arrives, and the cache has room for w tokens. Write its key and value into "
        "their slot, where they replace the oldest ones, and let the token attend to the w that "
        "are there then, or to as many as have come. Return the answer and the new cache. "
        "`masked_attention(q, k, v, mask)` of chapter 3 is there; torch's ready-made attention is "
        "not allowed."
    ),
    example=(
        "Two slots, all keys and queries 1, values 3, 5, 7. At position 2 the token goes to slot "
        "0, where it replaces the first one. The slots hold 7 and 5, and the answer is their mean, "
        "6."
    ),
    conventions=(
        "The token at position j lies in slot j mod w, and stays there until it is replaced. "
        "(Other caches move all tokens at every step.)",
        "Slots in which nothing has been written hold any finite numbers, and are not heard.",
        "The cache that comes in is not changed: two continuations may share it. Nothing is "
        "remembered between calls.",
        "Positions, such as those of chapter 6, are marked on the keys before they come here, so "
        "the order of the slots does not matter for the answer.",
        "Two results: the answer (B, H, 1, W), and the pair (keys, values). Gradients flow from "
        "the answer to everything that comes in.",
    ),
    hints=(
        "Which slot? Count on: positions 0, 1, 2, 3, ... with three slots.",
        "Copy the cache, write, then read: the token is among those that it hears.",
        "How many slots hold tokens after this step? It is never more than w.",
        "Is a mask needed at all, if those slots are the first ones?",
    ),
    cases=CASES,
    mistakes=(
        slot_after,
        slot_before,
        last_slot_for_ever,
        first_slot_for_ever,
        moved_along,
        sorted_by_age,
        newest_first,
        cache_grows,
        all_slots_heard,
        one_slot_less,
        one_slot_more,
        up_to_the_slot,
        oldest_hidden,
        read_before_written,
        one_too_wide,
        itself_alone,
        token_not_kept,
        values_not_kept,
        queries_kept,
        written_over,
        cache_swapped,
        answer_alone,
        cache_first,
        three_results,
        axis_lost,
        first_example_for_all,
        no_scale,
        divided_by_width,
        over_queries,
        mean_of_values,
        unstable,
        cache_cut_off,
        on_the_cpu(rolling_cache_step),
        always_float32(rolling_cache_step),
        float64_narrowed(rolling_cache_step),
        cut_from_autograd(rolling_cache_step),
        changed_in_place(rolling_cache_step),
    ),
    alternatives=(by_index_copy, by_joining, by_choosing, by_age),
    forbidden=READY_MADE_ATTENTION,
)
