"""Exercise: minus slope times distance, and -inf for the future."""

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, one_by_one, values
from autograder.exercises.chapter_06 import CHAPTER
from autograder.inputs import described, integer, sizes
from autograder.slips import always_float32, changed_in_place, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere, in_dtypes
from autograder.wire import call
from solutions.alibi import alibi_bias, alibi_slopes
from solutions.masks import additive_mask, causal_mask


def _of_slopes(slopes: Tensor, n_q: int, n_k: int) -> Trial:
    of = {"H": len(slopes), "L": n_q, "M": n_k}
    words = f"{described('slopes', 'H', of)}, n_q = {n_q}, n_k = {n_k}"
    return Trial(call(slopes, n_q, n_k), words, of, "H L M")


def _trial(rng: Generator, heads: int, n_q: int, n_k: int) -> Trial:
    return _of_slopes(0.1 + torch.rand(heads, generator=rng), n_q, n_k)


def _drawn(rng: Generator) -> tuple[int, int, int]:
    """Draw sizes: more keys than queries."""
    heads, one, other = sizes(rng, "H L M").values()
    return heads, min(one, other), max(one, other)


def a_text(rng: Generator) -> Iterator[Trial]:
    heads, n_q, n_k = _drawn(rng)
    yield _trial(rng, heads, n_k, n_k)
    yield _trial(rng, heads, n_q, n_q)


def with_cache(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, *_drawn(rng))
    yield _trial(rng, *_drawn(rng))


def one_query(rng: Generator) -> Iterator[Trial]:
    heads, _, n_k = _drawn(rng)
    yield _trial(rng, heads, 1, n_k)
    yield _trial(rng, heads, 1, 1)


def one_head(rng: Generator) -> Iterator[Trial]:
    _, n_q, n_k = _drawn(rng)
    yield _trial(rng, 1, n_q, n_k)


def no_slope(rng: Generator) -> Iterator[Trial]:
    heads, n_q, n_k = _drawn(rng)
    slopes = torch.rand(heads, generator=rng)
    slopes[-1] = 0
    trial = _of_slopes(slopes, n_q, n_k)
    yield replace(trial, inputs=f"{trial.inputs}, the last slope is 0")


def long_text(rng: Generator) -> Iterator[Trial]:
    n_k = 260 + 4 * integer(rng, 0, 5)  # the last two keys fall on neighbours of theirs in bfloat16
    trial = _trial(rng, 2, 2, n_k)
    yield trial
    yield from in_dtypes(trial, (torch.bfloat16,))


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    n = sizes(rng, "L")["L"]
    yield _trial(rng, n, n, n)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng, *_drawn(rng)))


def kept(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, *_drawn(rng))


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, *_drawn(rng)))


CASES = (
    Case("minus slope times distance, nothing of the future", a_text, values),
    Case("new tokens stand behind those in a cache", with_cache, values, weight=2),
    Case("a single query", one_query, values),
    Case("a single head", one_head, values),
    Case("a head that forgets nothing", no_slope, values),
    Case("near keys of a long text are as far as they are", long_text, one_by_one),
    Case("works where all sizes are equal", equal_sizes, values),
    Case("the dtype of the slopes is kept", dtypes, values, tolerance=6e-2),
    Case("the slopes themselves are not changed", kept, inputs_kept),
    Case("works on whatever device the slopes are on", devices, values),
)


def _ahead(slopes: Tensor, n_q: int, n_k: int, start: int) -> Tensor:
    """How far key j is ahead of query i, if query 0 stands at `start`."""
    queries = torch.arange(start, start + n_q, device=slopes.device)
    return torch.arange(n_k, device=slopes.device) - queries[:, None]


def _hide(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    return ~causal_mask(n_q, n_k, slopes.device)


def _made(slopes: Tensor, steps: Tensor, hidden: Tensor) -> Tensor:
    return (slopes[:, None, None] * steps).masked_fill(hidden, -math.inf)


def from_position_zero(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """The queries are placed at 0, 1, ... and the mask is aligned at the top left. They are the
    last of n_k positions: a single new token is the newest.
    """
    steps = _ahead(slopes, n_q, n_k, 0)
    return _made(slopes, steps, steps > 0)


def distances_from_zero(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """The mask is right, but the distances are those of queries at 0, 1, ... They stand at the end,
    at n_k - n_q and so on.
    """
    return _made(slopes, _ahead(slopes, n_q, n_k, 0), _hide(slopes, n_q, n_k))


def over_queries(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """The bias is as long as there are queries. It has a column for each key, also for those in a
    cache.
    """
    return alibi_bias(slopes, n_q, n_q)


def over_keys(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """The bias has a row for each key. There is one for each query: the last n_q positions."""
    return alibi_bias(slopes, n_k, n_k)


def sign_lost(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """Far keys are favoured: the bias grows with distance. It is a penalty, and needs a minus."""
    return _made(slopes, -_ahead(slopes, n_q, n_k, n_k - n_q), _hide(slopes, n_q, n_k))


def future_visible(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """The future is not hidden, it even gets a bonus. Some code leaves that to another mask; here
    the bias has minus infinity there.
    """
    return _made(slopes, _ahead(slopes, n_q, n_k, n_k - n_q), torch.zeros_like(slopes[0]).bool())


def symmetric(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """The future gets the penalty of the past, as in an encoder. Here it gets minus infinity."""
    steps = -_ahead(slopes, n_q, n_k, n_k - n_q).abs()
    return _made(slopes, steps, torch.zeros_like(slopes[0]).bool())


def future_zero(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """The future has 0, the best value of all. What hides a key, if it is added to a score?"""
    return alibi_bias(slopes, n_q, n_k).masked_fill(_hide(slopes, n_q, n_k), 0.0)


def large_number(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """The future has a large negative number. Here it is minus infinity, as in chapter 3: no score
    can beat that.
    """
    lowest = torch.finfo(slopes.dtype).min
    return alibi_bias(slopes, n_q, n_k).masked_fill(_hide(slopes, n_q, n_k), lowest)


def minus_a_billion(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """The future has a number like -1e9. Here it is minus infinity, as in chapter 3: a number that
    is large enough for one dtype is too small, or too large, for another.
    """
    return alibi_bias(slopes, n_q, n_k).masked_fill(_hide(slopes, n_q, n_k), -1e9)


def infinitely_far(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """The future is hidden by an infinite distance. A slope of 0 times infinity is NaN: put minus
    infinity in after the product.
    """
    steps = _ahead(slopes, n_q, n_k, n_k - n_q).to(slopes.dtype)
    return slopes[:, None, None] * steps.masked_fill(steps > 0, -math.inf)


def counted_in_their_dtype(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """The positions are counted in the dtype of the slopes. bfloat16 has no odd integers above 256,
    so a neighbour is 0 or 2 away. Count in integers, and round the distance or the product.
    """
    spot = torch.arange(n_k, device=slopes.device, dtype=slopes.dtype)
    steps = spot - spot[n_k - n_q :, None]
    return _made(slopes, steps, steps > 0)


def slopes_of_their_own(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """You work out the slopes from the number of heads. They are given: use their values."""
    usual = torch.tensor(alibi_slopes(len(slopes)), dtype=slopes.dtype, device=slopes.device)
    return alibi_bias(usual, n_q, n_k)


def itself_hidden(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """A token does not see itself. At distance 0 the penalty is 0."""
    steps = _ahead(slopes, n_q, n_k, n_k - n_q)
    return _made(slopes, steps, steps >= 0)


def one_too_far(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """All distances are one too large. A token is at distance 0 from itself."""
    return alibi_bias(slopes, n_q, n_k) - slopes[:, None, None]


def from_the_first_key(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """The bias depends on the key's position alone. Softmax would not see the difference, but asked
    is the distance: 0 on the diagonal.
    """
    steps = torch.arange(n_k, device=slopes.device).expand(n_q, n_k)
    return _made(slopes, steps, _hide(slopes, n_q, n_k))


def squared(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """The penalty grows with the square of the distance. It is linear."""
    steps = _ahead(slopes, n_q, n_k, n_k - n_q)
    return _made(slopes, -(steps**2), _hide(slopes, n_q, n_k))


def powers_of_slopes(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """You return factors for the weights, exponentials. A bias is added to the scores, before the
    softmax exponentiates.
    """
    return alibi_bias(slopes, n_q, n_k).exp()


def heads_last(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """The heads are the last axis. They are the first: (H, L, M)."""
    return alibi_bias(slopes, n_q, n_k).movedim(0, -1)


def one_slope(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """All heads have the slope of the first one."""
    return alibi_bias(slopes[:1].expand_as(slopes), n_q, n_k)


def slopes_reversed(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """The slopes go to the heads in reverse order."""
    return alibi_bias(slopes.flip(0), n_q, n_k)


def transposed(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """Queries and keys have changed places. Each row is a query."""
    return alibi_bias(slopes, n_q, n_k).mT


def with_triangle(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    far = torch.arange(n_k, device=slopes.device).flip(0)[None] - torch.arange(
        n_q, device=slopes.device
    ).flip(0).unsqueeze(-1)
    penalty = -slopes.view(-1, 1, 1) * far
    return penalty + additive_mask(causal_mask(n_q, n_k, slopes.device), slopes)


def entry_by_entry(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    bias = torch.full((len(slopes), n_q, n_k), -math.inf, dtype=slopes.dtype, device=slopes.device)
    for i in range(n_q):
        for j in range(i + n_k - n_q + 1):
            bias[:, i, j] = -slopes * (i + n_k - n_q - j)
    return bias


def last_rows(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """All positions against all, then the last rows."""
    spot = torch.arange(n_k, device=slopes.device)
    back = (spot[:, None] - spot[None, :]).to(slopes.dtype)
    whole = torch.einsum("h,lm->hlm", slopes, -back)
    return torch.where(back < 0, float("-inf"), whole)[:, n_k - n_q :]


def row_by_row(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    rows = []
    for place in range(n_k - n_q, n_k):
        back = torch.arange(place, -1, -1, device=slopes.device)
        row = torch.outer(-slopes.double(), back.double())
        rows.append(F.pad(row, (0, n_k - place - 1), value=-math.inf))
    return torch.stack(rows, dim=1).to(slopes.dtype)


EXERCISE = Exercise(
    solution=alibi_bias,
    chapter=CHAPTER,
    title="The mask that forgets",
    points=2,
    minutes=7,
    difficulty=2,
    statement=(
        "The slopes are given. Make what is added to the scores: for every head, query and key "
        "minus slope times distance, and minus infinity where the key is in the future. It is an "
        "additive mask as in chapter 3, with more to say than yes and no."
    ),
    example=(
        "One head with slope 0.5, two queries, three keys. The queries are the last two of three "
        "positions, 1 and 2. For the query at 1 the distances are 1 and 0, and key 2 is in its "
        "future: -0.5, 0, -inf. For the one at 2 they are 2, 1, 0: -1, -0.5, 0."
    ),
    conventions=(
        "Query i stands at position i + n_k - n_q, as everywhere in this course.",
        "The future gets minus infinity here, in every head; other code leaves it to a separate "
        "mask.",
        "A slope may be 0: such a head forgets nothing. Texts may be long, and slopes bfloat16: "
        "distances are counted in integers.",
        "The result is (H, L, M), with dtype and device of the slopes.",
    ),
    hints=(
        "First one table (L, M) of how far key j stands behind query i, for all heads.",
        "Where do the queries begin, if they are the last n_q of n_k positions?",
        "A slope for each head times the table: two new axes on the slopes make it (H, L, M).",
    ),
    cases=CASES,
    mistakes=(
        from_position_zero,
        distances_from_zero,
        over_queries,
        over_keys,
        sign_lost,
        future_visible,
        symmetric,
        future_zero,
        large_number,
        minus_a_billion,
        infinitely_far,
        counted_in_their_dtype,
        itself_hidden,
        one_too_far,
        from_the_first_key,
        squared,
        powers_of_slopes,
        heads_last,
        one_slope,
        slopes_reversed,
        slopes_of_their_own,
        transposed,
        on_the_cpu(alibi_bias),
        always_float32(alibi_bias),
        changed_in_place(alibi_bias),
    ),
    alternatives=(with_triangle, entry_by_entry, last_rows, row_by_row),
)
