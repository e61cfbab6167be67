"""Exercise: new keys and values behind the old ones.

Out of scope: attention (cached_attention), windows that forget (chapter 10).
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_05 import CHAPTER
from autograder.exercises.chapter_05._draws import Sizes, cache_of, pair
from autograder.inputs import described, sizes
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request, call
from solutions.cache import KVCache, extend_cache

NEW = "B G L K"


def _words(of: Sizes) -> str:
    before = described("cache of", "B G M K", of) if "M" in of else "no cache"
    return f"{before}, {described('k and v', NEW, of)}"


def _trial(rng: Generator, of: Sizes) -> Trial:
    cache = cache_of(rng, "G", of, of["M"]) if "M" in of else None
    return Trial(call(cache, *pair(rng, NEW, of)), _words(of), of, "keys, values")


def different_sizes(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, sizes(rng, "B G M L K"))
    yield _trial(rng, sizes(rng, "B G M L K"))


def empty(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, sizes(rng, "B G L K"))


def one_token(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, {**sizes(rng, "B G M K"), "L": 1})
    yield _trial(rng, {**sizes(rng, "B G K"), "M": 1, "L": 1})


def singles(rng: Generator) -> Iterator[Trial]:
    for single in "BGK":
        yield _trial(rng, {**sizes(rng, "B G M L K"), single: 1})


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    n = sizes(rng, "B")["B"]
    yield _trial(rng, dict.fromkeys(("B", "G", "M", "L", "K"), n))


def turned_heads(rng: Generator) -> Iterator[Trial]:
    """As split heads are: not contiguous."""
    of = sizes(rng, "B G M L K")
    turned = [
        torch.randn(of["B"], n, of["G"], of["K"], generator=rng).transpose(1, 2)
        for n in (of["M"], of["M"], of["L"], of["L"])
    ]
    yield Trial(call((turned[0], turned[1]), *turned[2:]), _words(of), of, "keys, values")


def forks(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B G M L K")
    prefix = cache_of(rng, "G", of, of["M"])
    both = tuple(Call((prefix, *pair(rng, NEW, of))) for _ in range(2))
    yield Trial(Request(calls=both), f"{_words(of)}, twice with one cache", of, "keys, values")


def two_prompts(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B G L K")
    both = tuple(Call((None, *pair(rng, NEW, of))) for _ in range(2))
    yield Trial(Request(calls=both), f"{_words(of)}, two prompts", of, "keys, values")


def kept(rng: Generator) -> Iterator[Trial]:
    yield from one_token(rng)
    yield from forks(rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng, sizes(rng, "B G M L K")))


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, sizes(rng, "B G M L K")))


def gradients(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B G M L K")
    both = {**of, "N": of["M"] + of["L"]}
    trial = _trial(rng, of)
    yield backward(Trial(trial.request, trial.inputs, both), rng, "B G N K")
    yield backward(_trial(rng, sizes(rng, NEW)), rng, NEW)


CASES = (
    Case("new tokens stand behind the old ones", different_sizes, values, weight=2),
    Case("without a cache the new tokens are the first", empty, values),
    Case("works for one new token, and after a single old one", one_token, values),
    Case("works for one example, one head and one entry", singles, values),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("works on tensors that are not contiguous", turned_heads, values),
    Case("two continuations can share one cache", forks, inputs_kept),
    Case("a second prompt does not see the first", two_prompts, values),
    Case("the old cache itself is not changed", kept, inputs_kept),
    Case("the dtype is kept", dtypes, values),
    Case("works on whatever device the tensors are on", devices, values),
    Case("the gradient reaches old and new keys", gradients, values),
)


def new_first(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """The new tokens stand in front. Position j should be at place j: old tokens first."""
    if cache is None:
        return k, v
    return torch.cat([k, cache[0]], dim=2), torch.cat([v, cache[1]], dim=2)


def _along(axis: int, cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    if cache is None:
        return k, v
    return torch.cat([cache[0], k], axis), torch.cat([cache[1], v], axis)


def along_batch(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """New and old are joined along the batch. Which of the axes (B, G, M, K) counts tokens?"""
    return _along(0, cache, k, v)


def along_heads(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """New and old are joined along axis 1. That is right for a cache of shape (B, M, G, K), as some
    libraries keep it; here axis 1 holds the heads.
    """
    return _along(1, cache, k, v)


def along_width(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """New and old are joined along the last axis, so that keys become wider. There should be more
    of them instead.
    """
    return _along(-1, cache, k, v)


def stacked(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """`torch.stack` makes a new axis. The tokens should become more along an axis that exists."""
    if cache is None:
        return k, v
    return torch.stack([cache[0], k], dim=2), torch.stack([cache[1], v], dim=2)


def added(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """Old and new numbers are added up (`+` on tensors). Put the tensors one behind the other."""
    return (k, v) if cache is None else (cache[0] + k, cache[1] + v)


def new_alone(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """Only the new tokens come back: everything before them is forgotten."""
    return k, v


def old_alone(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """The cache comes back as it was, without the new tokens."""
    return (k, v) if cache is None else cache


def values_not_kept(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """The keys grow, but the values are those of the new tokens alone. Each key needs its value."""
    return extend_cache(cache, k, v)[0], v


def keys_not_kept(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """The values grow, but the keys are those of the new tokens alone. Each value needs its key."""
    return k, extend_cache(cache, k, v)[1]


def swapped(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """You return (values, keys). The keys come first."""
    keys, grown = extend_cache(cache, k, v)
    return grown, keys


def keys_twice(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """k is appended to the values, too: v is not used."""
    return extend_cache(cache, k, k)


def crossed(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """Keys are appended to values and values to keys."""
    return extend_cache(cache, v, k)


def oldest_dropped(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """The cache keeps its length: for each new token the oldest one goes. That is the rolling cache
    of a window (chapter 10); here nothing is forgotten.
    """
    keys, grown = extend_cache(cache, k, v)
    length = keys.shape[2] if cache is None else max(cache[0].shape[2], 1)
    return keys[:, :, -length:], grown[:, :, -length:]


def written_over(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """The new tokens are written over old ones, in place. A cache is a value here: leave the old
    pair as it is and make a new, longer one.
    """
    if cache is None:
        return k, v
    keys, grown = cache
    length = min(k.shape[2], keys.shape[2])
    keys[:, :, -length:], grown[:, :, -length:] = k[:, :, :length], v[:, :, :length]
    return keys, grown


def grown_in_place(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """The tensors of the old pair grow themselves (`.data =`, `set_`, `resize_`). Whoever else
    holds that pair finds tokens in it that it never saw: leave it as it is and return a new one.
    """
    if cache is None:
        return k, v
    for old, new in zip(cache, (k, v), strict=True):
        old.data = torch.cat([old, new], dim=2)
    return cache


def behind_the_keys(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """The new values stand behind the old keys: the values that were kept are lost."""
    if cache is None:
        return k, v
    return extend_cache((cache[0], cache[0]), k, v)


def old_detached(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """The numbers are right, but the old keys are cut off from their gradient (`detach`, `.data`,
    `no_grad`). This function only joins: leave it to the caller to cut.
    """
    return extend_cache(cache and (cache[0].detach(), cache[1].detach()), k, v)


def first_detached(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """Without a cache the new tokens come back cut off from their gradient (`detach`, `.data`).
    Those that stand behind others keep theirs: why not the first?
    """
    return (k.detach(), v.detach()) if cache is None else extend_cache(cache, k, v)


def first_call_forgotten(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """Before the first token there is no pair to unpack: the cache is None then."""
    keys, grown = cache  # type: ignore[misc]  # the mistake
    return torch.cat([keys, k], dim=2), torch.cat([grown, v], dim=2)


def one_tensor(cache: KVCache | None, k: Tensor, v: Tensor) -> Tensor:
    """You return one tensor that holds both. Asked is a pair, (keys, values)."""
    return torch.stack(extend_cache(cache, k, v))


def last_of_the_new(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """Of several new tokens only the last is kept. A prompt brings many at once."""
    return extend_cache(cache, k[:, :, -1:], v[:, :, -1:])


def by_zip(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    before = cache or (k[:, :, :0], v[:, :, :0])
    keys, grown = (torch.cat(both, -2) for both in zip(before, (k, v), strict=True))
    return keys, grown


def with_copies(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    if cache is None:
        return k.clone(), v.clone()
    parts = [torch.concat((old, new), 2) for old, new in ((cache[0], k), (cache[1], v))]
    return parts[0], parts[1]


def into_a_buffer(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """Fill a longer tensor from the left."""
    if cache is None:
        return k, v
    grown = []
    for old, new in zip(cache, (k, v), strict=True):
        past = old.size(2)
        room = new.new_empty(*new.shape[:2], past + new.size(2), new.size(3))
        room[:, :, :past] = old
        room[:, :, past:] = new
        grown.append(room)
    return grown[0], grown[1]


def token_by_token(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    keys = [] if cache is None else list(cache[0].unbind(2))
    grown = [] if cache is None else list(cache[1].unbind(2))
    for i in range(k.shape[2]):
        keys.append(k[:, :, i])
        grown.append(v[:, :, i])
    return torch.stack(keys, 2), torch.stack(grown, 2)


def in_one_tensor(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """Keys and values travel in one tensor and are taken apart at the end."""
    both = torch.stack([k, v])
    if cache is not None:
        both = torch.cat([torch.stack(cache), both], dim=-2)
    return both[0], both[1]


def in_a_list(cache: KVCache | None, k: Tensor, v: Tensor) -> Any:
    if not cache:
        return [k, v]
    return [torch.cat(both, dim=2) for both in zip(cache, (k, v), strict=True)]


EXERCISE = Exercise(
    solution=extend_cache,
    chapter=CHAPTER,
    title="A cache that grows",
    points=2,
    minutes=6,
    difficulty=1,
    statement=(
        "Append the keys and values of new tokens to those that are kept. There may be one new "
        "token or many, and before the first ones there is no cache at all. The old pair must stay "
        "as it is, since somebody else may continue from it."
    ),
    example=(
        "A cache holds two tokens whose keys are all 0. One token arrives whose key is all 1. The "
        "new cache holds three: the first entries of its keys are 0, 0, 1. The old cache still "
        "holds two."
    ),
    conventions=(
        "A cache is a pair (keys, values), each (B, G, M, K); None stands for an empty one.",
        "Old tokens first: with 5 in the cache and 2 new ones, those are at places 5 and 6.",
        "Nothing is changed in place, nothing is remembered between calls.",
    ),
    hints=(
        "Which of the four axes counts tokens? With 5 old and 2 new ones it should be 7 long "
        "afterwards, the others as before.",
        "`torch.cat` joins tensors along an axis that they have; `torch.stack` makes a new one.",
        "Treat None first. What is the whole cache then?",
    ),
    cases=CASES,
    mistakes=(
        new_first,
        along_batch,
        along_heads,
        along_width,
        stacked,
        added,
        new_alone,
        old_alone,
        values_not_kept,
        keys_not_kept,
        swapped,
        keys_twice,
        crossed,
        oldest_dropped,
        written_over,
        grown_in_place,
        behind_the_keys,
        old_detached,
        first_detached,
        first_call_forgotten,
        one_tensor,
        last_of_the_new,
        on_the_cpu(extend_cache),
        always_float32(extend_cache),
        cut_from_autograd(extend_cache),
        changed_in_place(extend_cache, argument=2),
    ),
    alternatives=(by_zip, with_copies, into_a_buffer, token_by_token, in_one_tensor, in_a_list),
)
