"""Exercise: a softmax over the keys within a radius of each query's own position.

Out of scope: rows that may attend to nothing (message_passing, chapter 03).
"""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values, zeros_kept
from autograder.exercises.chapter_01 import CHAPTER
from autograder.exercises.chapter_01 import _draws as draw
from autograder.inputs import described, normal
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, in_dtypes
from autograder.wire import call
from solutions.local import local_attention_weights


def _trial(scores: Tensor, radius: int, of: dict[str, int], leading: str = "B") -> Trial:
    axes = draw.axes(leading, "L M")
    words = f"{described('scores', axes, of)}, radius {radius}"
    return Trial(call(scores, radius), words, of, axes)


def _drawn(rng: Generator, queries: int, keys: int, radius: int, leading: str = "B") -> Trial:
    """Draw scores; the batch axes differ in size from these and from each other."""
    free = [size for size in (3, 4, 2, 5) if size not in (queries, keys)]
    of = dict(zip(leading.split(), free, strict=False)) | {"L": queries, "M": keys}
    return _trial(normal(rng, draw.axes(leading, "L M"), of), radius, of, leading)


def _shifted(trial: Trial, factor: float, offset: Tensor | float) -> Trial:
    scores, radius = trial.request.calls[0].args
    return _trial(factor * scores + offset, radius, dict(trial.sizes))


def _apart(i: Tensor, j: Tensor) -> Tensor:
    return (i.unsqueeze(-1) - j).abs()


def bands(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 8, 8, radius=2)
    yield _drawn(rng, 9, 9, radius=1)


def fewer_queries(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 6, 9, radius=2)
    yield _drawn(rng, 8, 7, radius=2)


def loud_outside(rng: Generator) -> Iterator[Trial]:
    out_of_reach = _apart(torch.arange(7), torch.arange(8)) > 2
    yield _shifted(_drawn(rng, 7, 8, radius=2), 1.0, 300.0 * out_of_reach)


def quiet_inside(rng: Generator) -> Iterator[Trial]:
    yield _shifted(_drawn(rng, 8, 8, radius=2), 1.0, -9e4)


def extremes(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 6, 7, radius=0)
    yield _drawn(rng, 6, 7, radius=6)
    yield _drawn(rng, 6, 7, radius=20)


def large(rng: Generator) -> Iterator[Trial]:
    yield _shifted(_drawn(rng, 8, 9, radius=2), 1000.0, 0.0)


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 7, 8, radius=2, leading="B H")
    yield _drawn(rng, 7, 8, radius=2, leading="")
    yield _drawn(rng, 7, 8, radius=1, leading="X B H")


def one_of_them(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 1, 8, radius=3)
    yield _drawn(rng, 3, 1, radius=2)
    yield _trial(normal(rng, "B L M", {"B": 1, "L": 7, "M": 8}), 2, {"B": 1, "L": 7, "M": 8})


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng, 8, 9, radius=2), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng, 8, 9, radius=2))


def lent(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 8, 9, radius=2)


def devices(rng: Generator) -> Iterator[Trial]:
    yield from draw.places(_drawn(rng, 8, 9, radius=2))


CASES = (
    Case("each query's weights within reach sum to 1", bands, values, weight=2),
    Case("keys out of reach get exactly 0", bands, zeros_kept),
    Case("positions are counted from the first key", fewer_queries, values),
    Case("large scores out of reach change nothing", loud_outside, values),
    Case("very negative scores within reach still count", quiet_inside, values, tolerance=1e-2),
    Case("radius 0 sees itself, a large radius everything", extremes, values),
    Case("scores in the thousands stay finite", large, values),
    Case("works with no batch axis and with several", other_ranks, values),
    Case("works with a single query, key or example", one_of_them, values),
    Case("the gradient reaches the scores", gradients, values),
    Case("the dtype of the scores is kept", dtypes, values, tolerance=6e-2),
    Case("the scores themselves are not changed", lent, inputs_kept),
    Case("works on whatever device the scores are on", devices, values),
)


def _gap(scores: Tensor) -> Tensor:
    """Give the position of the query minus that of the key."""
    places = (torch.arange(size, device=scores.device) for size in scores.shape[-2:])
    return next(places).unsqueeze(-1) - next(places)


def _only(scores: Tensor, seen: Tensor) -> Tensor:
    return scores.masked_fill(~seen, -math.inf).softmax(-1)


def zeroed_afterwards(scores: Tensor, radius: int) -> Tensor:
    """The softmax runs over all keys, and far ones are set to 0 afterwards: the rest no longer sums
    to 1. Hide far keys before the softmax.
    """
    return scores.softmax(-1) * (_gap(scores).abs() <= radius)


def renormalised(scores: Tensor, radius: int) -> Tensor:
    """Far weights are set to 0 after the softmax and the rest is divided by its sum. If a far score
    is large, that rest has already been rounded to 0. Hide far keys before the softmax.
    """
    kept = zeroed_afterwards(scores, radius)
    return kept / kept.sum(-1, keepdim=True)


def renormalised_with_a_guard(scores: Tensor, radius: int) -> Tensor:
    """Far weights are set to 0 after the softmax and the rest is divided by its sum plus a small
    number. If a far score is large, that rest has been rounded to 0 and stays 0: the weights do not
    sum to 1. Hide far keys before the softmax.
    """
    kept = zeroed_afterwards(scores, radius)
    return kept / (kept.sum(-1, keepdim=True) + 1e-9)


def zero_scores(scores: Tensor, radius: int) -> Tensor:
    """Far scores are set to 0. A score of 0 is a score like any other: its exponential is 1. Which
    score has the exponential 0?
    """
    return (scores * (_gap(scores).abs() <= radius)).softmax(-1)


def zero_scores_then_weights(scores: Tensor, radius: int) -> Tensor:
    """Far scores are set to 0 before the softmax, and far weights after it. In between they took
    their share: the rest does not sum to 1.
    """
    near = _gap(scores).abs() <= radius
    return (scores * near).softmax(-1) * near


def weak_fill(scores: Tensor, radius: int) -> Tensor:
    """Far scores are set to a finite number such as -1e4 or -6e4. If the scores within reach are
    lower still, the far ones win. What is lower than every score?
    """
    return scores.masked_fill(_gap(scores).abs() > radius, -1e4).softmax(-1)


def below_the_smallest(scores: Tensor, radius: int) -> Tensor:
    """Far scores are set a little below the smallest one. Their weights are tiny, but they should
    be exactly 0.
    """
    lowest = scores.min().item() - 100
    return scores.masked_fill(_gap(scores).abs() > radius, lowest).softmax(-1)


def times_infinity(scores: Tensor, radius: int) -> Tensor:
    """Far scores are multiplied by minus infinity: a negative score becomes plus infinity, and the
    softmax of that is NaN. Replace far scores, whatever they are.
    """
    return scores.mul(torch.where(_gap(scores).abs() > radius, -math.inf, 1.0)).softmax(-1)


def false_times_infinity(scores: Tensor, radius: int) -> Tensor:
    """A mask is multiplied by minus infinity and added. Where the mask is False that is 0 times
    infinity, which is NaN. See `masked_fill` or `torch.where`.
    """
    return (scores + (_gap(scores).abs() > radius) * -math.inf).softmax(-1)


def plus_infinity(scores: Tensor, radius: int) -> Tensor:
    """Far scores are set to plus infinity: inf minus inf is NaN. Turn the sign round."""
    return scores.masked_fill(_gap(scores).abs() > radius, math.inf).softmax(-1)


def fill_too_large_for_half(scores: Tensor, radius: int) -> Tensor:
    """Far scores are set to a number like -1e9, which float16 does not have. Minus infinity exists
    in every float dtype.
    """
    return scores.masked_fill(_gap(scores).abs() > radius, -1e9).softmax(-1)


def looking_back(scores: Tensor, radius: int) -> Tensor:
    """You look back only. That is a window, as a decoder has it; a radius reaches to both sides."""
    gap = _gap(scores)
    return _only(scores, (gap >= 0) & (gap <= radius))


def looking_ahead(scores: Tensor, radius: int) -> Tensor:
    """You look ahead only: a radius reaches to both sides. Is there an absolute value missing?"""
    gap = _gap(scores)
    return _only(scores, (gap <= 0) & (gap >= -radius))


def one_sided(scores: Tensor, radius: int) -> Tensor:
    """Without an absolute value the difference of positions is below the radius for every later
    key: only the far past is hidden.
    """
    return _only(scores, _gap(scores) <= radius)


def one_short(scores: Tensor, radius: int) -> Tensor:
    """The key at distance exactly `radius` is not seen. It is: keys i - radius to i + radius, both
    included. Here your rows are one key too narrow on each side.
    """
    return _only(scores, _gap(scores).abs() < radius)


def one_too_far(scores: Tensor, radius: int) -> Tensor:
    """The key at distance radius + 1 is seen too."""
    return local_attention_weights(scores, radius + 1)


def right_end_left_out(scores: Tensor, radius: int) -> Tensor:
    """The key at i + radius is missing: a slice in Python stops one before its end."""
    gap = _gap(scores)
    return _only(scores, (gap <= radius) & (gap > -radius))


def negative_start(scores: Tensor, radius: int) -> Tensor:
    """A slice that starts at i - radius starts below 0 for the first queries, and a negative start
    counts from the end: such rows stay empty. It has to start at 0 at least.
    """
    weights = torch.zeros_like(scores)
    for i in range(scores.shape[-2]):
        near = slice(i - radius, i + radius + 1)
        weights[..., i, near] = scores[..., i, near].softmax(-1)
    return weights


def width(scores: Tensor, radius: int) -> Tensor:
    """You use the number as the whole width. It is a radius: as far to the left as to the right."""
    return local_attention_weights(scores, radius // 2)


def not_itself(scores: Tensor, radius: int) -> Tensor:
    """The query's own position is hidden. It belongs to what is seen."""
    gap = _gap(scores).abs()
    return _only(scores, (gap <= radius) & (gap > 0))


def inverted(scores: Tensor, radius: int) -> Tensor:
    """The mask is turned round: the far keys are seen and the near ones are not."""
    return _only(scores, _gap(scores).abs() > radius)


def aligned_at_the_end(scores: Tensor, radius: int) -> Tensor:
    """Positions are lined up at the last key. That is the convention of causal masks; here query i
    stands at key i, counted from the first.
    """
    offset = scores.shape[-1] - scores.shape[-2]
    return _only(scores, (_gap(scores) + offset).abs() <= radius)


def round_the_corner(scores: Tensor, radius: int) -> Tensor:
    """The row goes round: the first query sees the last keys. At the borders there are just fewer
    keys.
    """
    keys = scores.shape[-1]
    gap = _gap(scores) % keys
    return _only(scores, torch.minimum(gap, keys - gap) <= radius)


def pushed_inwards(scores: Tensor, radius: int) -> Tensor:
    """At the borders the neighbourhood is pushed inwards, so that it keeps its size. That is
    another convention (of neighbourhood attention); here it is cut off at the border.
    """
    n_q, n_k = scores.shape[-2:]
    centre = torch.arange(n_q, device=scores.device).clamp(radius, max(radius, n_k - 1 - radius))
    return _only(scores, (centre.unsqueeze(-1) - torch.arange(n_k)).abs() <= radius)


def everything(scores: Tensor, radius: int) -> Tensor:
    """The radius is not used: every query sees every key."""
    return scores.softmax(-1)


def over_queries(scores: Tensor, radius: int) -> Tensor:
    """The softmax runs over the queries. Each row, over the keys, should sum to 1."""
    return scores.masked_fill(_gap(scores).abs() > radius, -math.inf).softmax(-2)


def unstable(scores: Tensor, radius: int) -> Tensor:
    """The scores are exponentiated as they are: large ones overflow. Subtract the row's largest
    score first, or let torch's softmax do it.
    """
    powers = scores.exp() * (_gap(scores).abs() <= radius)
    return powers / powers.sum(-1, keepdim=True)


def by_band(scores: Tensor, radius: int) -> Tensor:
    near = torch.ones_like(scores, dtype=torch.bool).tril(radius).triu(-radius)
    return torch.softmax(torch.where(near, scores, float("-inf")), dim=-1)


def by_adding(scores: Tensor, radius: int) -> Tensor:
    far = _gap(scores).abs() > radius
    bias = torch.zeros(far.shape, dtype=scores.dtype, device=scores.device)
    bias[far] = -math.inf
    return (scores + bias).softmax(dim=-1)


def with_lowest_number(scores: Tensor, radius: int) -> Tensor:
    gap = _gap(scores)
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill((gap > radius) | (gap < -radius), lowest).softmax(-1)


def query_by_query(scores: Tensor, radius: int) -> Tensor:
    weights = torch.zeros_like(scores)
    for i in range(scores.shape[-2]):
        near = slice(max(0, i - radius), i + radius + 1)
        weights[..., i, near] = scores[..., i, near].softmax(-1)
    return weights


def by_powers(scores: Tensor, radius: int) -> Tensor:
    near = _gap(scores).abs() <= radius
    top = scores.masked_fill(~near, -math.inf).amax(-1, keepdim=True)
    powers = torch.where(near, (scores - top).clamp(max=0).exp(), 0)
    return powers / powers.sum(-1, keepdim=True)


EXERCISE = Exercise(
    solution=local_attention_weights,
    chapter=CHAPTER,
    title="Local attention",
    points=4,
    minutes=12,
    difficulty=3,
    statement=(
        "Attention that looks around itself only: turn scores into weights, but let query i see no "
        "key farther away than the radius. Near the borders it sees fewer keys, and still shares "
        "out a whole 1 among them."
    ),
    example=(
        "Three queries, three keys, all scores 0, radius 1. Query 0 sees keys 0 and 1 and gives "
        "1/2 to each; query 1 sees all three and gives 1/3 to each; query 2 sees keys 1 and 2. "
        "The two corners that are out of reach get exactly 0."
    ),
    conventions=(
        "A radius reaches to both sides and includes its end: with radius 2, query 5 sees the keys "
        "3, 4, 5, 6 and 7. (The course's *window* of 3 would be the keys 3, 4 and 5.)",
        "Query i stands at key i, counted from the first, also where there are more keys than "
        "queries. Every query has at least one key within reach.",
        "Scores are finite. Out of reach means a weight of exactly 0, whatever the score there is, "
        "and within reach every score counts, however low. Shape, dtype and "
        "device are those of the scores.",
    ),
    hints=(
        "The distance between query i and key j is a table that needs no scores: make it from two "
        "ranges, one of them as a column.",
        "A key that must not count needs a score whose exponential is exactly 0, before the "
        "softmax.",
        "See `masked_fill` or `torch.where`. Make the ranges on the device of the scores.",
    ),
    cases=CASES,
    mistakes=(
        zeroed_afterwards,
        renormalised,
        renormalised_with_a_guard,
        zero_scores,
        zero_scores_then_weights,
        weak_fill,
        below_the_smallest,
        plus_infinity,
        times_infinity,
        false_times_infinity,
        fill_too_large_for_half,
        looking_back,
        looking_ahead,
        one_sided,
        one_short,
        one_too_far,
        right_end_left_out,
        negative_start,
        width,
        not_itself,
        inverted,
        aligned_at_the_end,
        round_the_corner,
        pushed_inwards,
        everything,
        over_queries,
        unstable,
        changed_in_place(local_attention_weights),
        on_the_cpu(local_attention_weights),
        always_float32(local_attention_weights),
        cut_from_autograd(local_attention_weights),
    ),
    alternatives=(by_band, by_adding, with_lowest_number, query_by_query, by_powers),
)
