"""Exercise: a softmax over the visible keys alone."""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values, zeros_kept
from autograder.exercises.chapter_03 import CHAPTER
from autograder.exercises.chapter_03._draws import none_empty, some, some_empty
from autograder.inputs import described, normal, sizes
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.masked import masked_softmax
from solutions.softmax import softmax

AXES = "B L M"
FAR = 5e-3  # exp(s - logsumexp(s)) is right, too: near 30,000 the next float32 is 0.002 away


def _trial(scores: Tensor, mask: Tensor, of: dict[str, int], note: str = "") -> Trial:
    return Trial(call(scores, mask), described("scores and mask", AXES, of) + note, of, AXES)


def _drawn(rng: Generator) -> Trial:
    of = sizes(rng, AXES)
    return _trial(normal(rng, AXES, of), none_empty(some(rng, AXES, of)), of)


def _with_empty_rows(rng: Generator) -> Trial:
    of = sizes(rng, AXES)
    mask = some_empty(some(rng, AXES, of))
    return _trial(normal(rng, AXES, of), mask, of, ", rows that see nothing")


def _apart(rng: Generator, visible: float, hidden: float) -> Trial:
    """Draw scores of which the visible ones and the hidden ones lie around two numbers."""
    of = sizes(rng, AXES)
    mask = none_empty(some(rng, AXES, of))
    scores = normal(rng, AXES, of) + torch.where(mask, visible, hidden)
    return _trial(scores, mask, of, f", visible scores near {visible:g}, hidden near {hidden:g}")


def one_batch(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def hidden_ahead(rng: Generator) -> Iterator[Trial]:
    yield _apart(rng, 0.0, 8.0)
    yield _apart(rng, 0.0, 3000.0)


def far_below(rng: Generator) -> Iterator[Trial]:
    yield _apart(rng, -30_000.0, 0.0)
    yield _apart(rng, -60.0, 0.0)


def large(rng: Generator) -> Iterator[Trial]:
    yield _apart(rng, 2000.0, 0.0)
    yield _apart(rng, 30_000.0, -30_000.0)


def empty_rows(rng: Generator) -> Iterator[Trial]:
    yield _with_empty_rows(rng)
    of = sizes(rng, AXES)
    mask = torch.zeros(of["B"], of["L"], of["M"], dtype=torch.bool)
    yield _trial(normal(rng, AXES, of), mask, of, ", everything hidden")


def broadcast(rng: Generator) -> Iterator[Trial]:
    for axes in ("L M", "B 1 1 M", "M", "B 1 L M"):
        of = {**sizes(rng, "B H L M"), "1": 1}
        mask = none_empty(some(rng, axes, of))
        scores = normal(rng, "B H L M", of)
        words = f"{described('scores', 'B H L M', of)}, {described('mask', axes, of)}"
        yield Trial(call(scores, mask), words, of, "B H L M")


def special_sizes(rng: Generator) -> Iterator[Trial]:
    for single in "BLM":
        of = {**sizes(rng, AXES), single: 1}
        yield _trial(normal(rng, AXES, of), none_empty(some(rng, AXES, of)), of)
    of = sizes(rng, "M B")
    of["L"] = of["M"]
    scores = normal(rng, "B M L", of).mT  # not contiguous
    yield _trial(scores, none_empty(some(rng, AXES, of)), of)


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)


def gradients_of_empty_rows(rng: Generator) -> Iterator[Trial]:
    yield backward(_with_empty_rows(rng), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng))
    yield from in_dtypes(_with_empty_rows(rng))


def all_kinds(rng: Generator) -> Iterator[Trial]:
    yield from one_batch(rng)
    yield from dtypes(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    yield trial
    yield elsewhere(trial)


CASES = (
    Case("the visible keys share a weight of 1", one_batch, zeros_kept, weight=3),
    Case("hidden keys do not count, however high they score", hidden_ahead, zeros_kept, weight=2),
    Case(
        "visible keys may score far below hidden ones",
        far_below,
        zeros_kept,
        weight=2,
        tolerance=FAR,
    ),
    Case("large scores stay finite", large, zeros_kept, tolerance=FAR),
    Case("a query that sees nothing has weights of 0", empty_rows, zeros_kept, weight=2),
    Case("the mask broadcasts to the scores", broadcast, zeros_kept),
    Case("works where sizes are equal, or 1", special_sizes, zeros_kept),
    Case("the gradient is that of the visible keys", gradients, values),
    Case("the gradient is 0 where a query sees nothing", gradients_of_empty_rows, values),
    Case("the dtype of the scores is kept", dtypes, values, tolerance=6e-2),
    Case("scores and mask are not changed", all_kinds, inputs_kept, tolerance=6e-2),
    Case("works on whatever device the scores are on", devices, values),
)


def inverted(scores: Tensor, mask: Tensor) -> Tensor:
    """You hide where the mask says True. Here True means "may attend": it is `~mask` that marks
    what to hide.
    """
    return masked_softmax(scores, ~mask)


def unmasked(scores: Tensor, mask: Tensor) -> Tensor:
    """The mask has no effect. Note that `masked_fill` without an underscore returns a new tensor
    and leaves the old one as it is.
    """
    return softmax(scores)


def filled_with_zero(scores: Tensor, mask: Tensor) -> Tensor:
    """Hidden scores become 0, or nearly 0, as 1e-9. That is an ordinary score: what is exp(0)?"""
    return softmax(scores * mask)


def filled_with_zero_and_zeroed(scores: Tensor, mask: Tensor) -> Tensor:
    """Hidden scores become 0 (or nearly 0), and their weights are taken away afterwards. By then
    they have been counted: exp(0) is 1, and the rows no longer sum to 1.
    """
    return softmax(scores.masked_fill(~mask, 0.0)) * mask


def minus_1e4(scores: Tensor, mask: Tensor) -> Tensor:
    """Hidden scores become -10,000. Where all visible scores are lower still, the hidden keys get
    all the weight. Which number is below all others?
    """
    return softmax(scores.masked_fill(~mask, -1e4))


def minus_1e9(scores: Tensor, mask: Tensor) -> Tensor:
    """Hidden scores become -1e9. That is outside of float16; and where a query sees nothing, all
    keys get the same weight instead of 0.
    """
    return softmax(scores.masked_fill(~mask, -1e9))


def minus_1e4_zeroed(scores: Tensor, mask: Tensor) -> Tensor:
    """Hidden scores become -10,000, and their weights 0. Where all visible scores are lower still,
    the hidden keys had all the weight, and then nobody has any. Which number is below all others?
    """
    return softmax(scores.masked_fill(~mask, -1e4)) * mask


def minus_1e9_zeroed(scores: Tensor, mask: Tensor) -> Tensor:
    """Hidden scores become -1e9. Float16 has no such number: its lowest is -65,504. Every float
    dtype has -inf; the rows that see nothing then need `masked_fill` or `torch.where` in the place
    of a product.
    """
    return softmax(scores.masked_fill(~mask, -1e9)) * mask


def lowest(scores: Tensor, mask: Tensor) -> Tensor:
    """Hidden scores become the lowest number of the dtype. That hides, except where a query sees
    nothing: all its scores are then equal, and the hidden keys share the weight. Here such a query
    has weights of 0.
    """
    return softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min))


def minus_infinity(scores: Tensor, mask: Tensor) -> Tensor:
    """This is right as long as each query sees a key. Where all scores of a row are -inf, what is
    -inf minus the largest of them? Such a row should have weights of 0, and NaN times 0 is NaN.
    """
    return softmax(scores.masked_fill(~mask, -math.inf))


def minus_infinity_added(scores: Tensor, mask: Tensor) -> Tensor:
    """You add 0 and -inf to the scores. This is right as long as each query sees a key; where it
    sees none, the softmax gives NaN, and the addition lets NaN into the gradient. Such a row should
    have weights of 0.
    """
    return softmax(scores + scores.new_zeros(mask.shape).masked_fill(~mask, -math.inf))


def plus_infinity(scores: Tensor, mask: Tensor) -> Tensor:
    """Hidden scores become plus infinity. How many minus signs are there?"""
    return softmax(scores.masked_fill(~mask, math.inf))


def too_late(scores: Tensor, mask: Tensor) -> Tensor:
    """Weights are set to 0 after the softmax. By then the hidden keys have been counted in the
    denominator, and the rows no longer sum to 1.
    """
    return softmax(scores) * mask


def renormalised(scores: Tensor, mask: Tensor) -> Tensor:
    """You divide by the sum of what is visible, which may be 0: where a query sees nothing, and
    also where hidden keys score so high that all visible weights underflow. Hide before the
    softmax.
    """
    weights = softmax(scores) * mask
    return weights / weights.sum(-1, keepdim=True)


def renormalised_safely(scores: Tensor, mask: Tensor) -> Tensor:
    """The softmax over all keys comes first. Where hidden keys score far above the visible ones,
    the visible weights underflow to 0, and no division brings them back. Hide before the softmax.
    """
    weights = softmax(scores) * mask
    return weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)


def unshifted(scores: Tensor, mask: Tensor) -> Tensor:
    """The scores are exponentiated as they are: large ones overflow, and where all are very low, or
    hidden, you divide by 0. Softmax takes away the largest score first; here, the largest visible
    one.
    """
    powers = scores.exp() * mask
    return powers / powers.sum(-1, keepdim=True)


def nan_replaced_when_added(scores: Tensor, mask: Tensor) -> Tensor:
    """The weights are right, and the gradient is NaN where a query sees nothing: what you add to
    the scores lets the NaN of the softmax through on the way back. Overwrite hidden scores instead
    (`masked_fill`, `torch.where`), or give those rows something to see first.
    """
    added = scores.new_zeros(mask.shape).masked_fill(~mask, -math.inf)
    return softmax(scores + added).nan_to_num(0.0)


def over_queries(scores: Tensor, mask: Tensor) -> Tensor:
    """The weights sum to 1 over the queries. For each query, they should do so over its keys: the
    last axis.
    """
    return softmax(scores.masked_fill(~mask, -math.inf), dim=-2).masked_fill(~mask, 0.0)


def queries_hidden(scores: Tensor, mask: Tensor) -> Tensor:
    """A query that does not see every key gets no weights at all. Hide single keys, not the
    query.
    """
    return softmax(scores) * mask.all(-1, keepdim=True)


def in_place(scores: Tensor, mask: Tensor) -> Tensor:
    """`masked_fill_` writes into the caller's scores. Without the underscore it makes a copy."""
    return softmax(scores.masked_fill_(~mask, -math.inf)).masked_fill(~mask, 0.0)


def in_place_and_nan(scores: Tensor, mask: Tensor) -> Tensor:
    """`masked_fill_` writes into the caller's scores: without the underscore it makes a copy.
    Besides, a row that sees nothing becomes NaN; it should have weights of 0.
    """
    return softmax(scores.masked_fill_(~mask, -math.inf))


def nan_overwritten(scores: Tensor, mask: Tensor) -> Tensor:
    """You write zeros into the weights themselves, `w[w.isnan()] = 0` or `masked_fill_`. Softmax
    needs its result for the derivative. Make new weights: `masked_fill` or `torch.where`.
    """
    weights = F.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)
    weights[weights.isnan()] = 0.0
    return weights


def by_logsumexp(scores: Tensor, mask: Tensor) -> Tensor:
    visible = scores.masked_fill(~mask, -math.inf)
    return (visible - visible.logsumexp(-1, keepdim=True)).exp().masked_fill(~mask, 0.0)


def rows_that_see_something(scores: Tensor, mask: Tensor) -> Tensor:
    mask = mask.expand(scores.shape)
    empty = ~mask.any(dim=-1, keepdim=True)
    safe = torch.where(mask | empty, scores, float("-inf"))
    return torch.where(empty, torch.zeros_like(scores), torch.softmax(safe, -1))


def by_where(scores: Tensor, mask: Tensor) -> Tensor:
    hidden = torch.where(mask, scores, torch.tensor(-math.inf, dtype=scores.dtype))
    return torch.nan_to_num(F.softmax(hidden, dim=-1), nan=0.0)


def lowest_and_zeroed(scores: Tensor, mask: Tensor) -> Tensor:
    """Hide with the lowest number, then clean up what it gives in empty rows."""
    low = torch.finfo(scores.dtype).min
    return scores.masked_fill(mask.logical_not(), low).softmax(-1) * mask


def own_exponentials(scores: Tensor, mask: Tensor) -> Tensor:
    hidden = ~mask
    top = scores.masked_fill(hidden, -math.inf).amax(-1, keepdim=True)
    top = top.masked_fill(top == -math.inf, 0.0)
    powers = torch.exp(scores.masked_fill(hidden, -math.inf) - top)
    total = powers.sum(-1, keepdim=True)
    return powers / total.masked_fill(total == 0, 1.0)


def something_to_see(scores: Tensor, mask: Tensor) -> Tensor:
    """Rows that see nothing may see everything for a while; an additive mask hides the rest."""
    alive = mask.any(dim=-1, keepdim=True)
    bias = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device)
    bias = bias.masked_fill(alive & ~mask, -math.inf)
    return torch.softmax(scores + bias, dim=-1) * alive


def row_by_row(scores: Tensor, mask: Tensor) -> Tensor:
    seen, rows = mask.expand_as(scores).reshape(-1, scores.shape[-1]), []
    for row, visible in zip(scores.reshape(seen.shape), seen, strict=True):
        weights = torch.zeros_like(row)
        if visible.any():
            weights = weights.masked_scatter(visible, torch.softmax(row[visible], 0))
        rows.append(weights)
    return torch.stack(rows).view(scores.shape)


EXERCISE = Exercise(
    solution=masked_softmax,
    chapter=CHAPTER,
    title="A softmax that obeys a mask",
    points=4,
    minutes=12,
    difficulty=3,
    statement=(
        "Write `masked_softmax(scores, mask)`: the softmax of each row over its visible keys, as "
        "if the hidden ones were not there. A row that sees nothing gets weights of 0, and its "
        "scores get a gradient of 0. The `softmax` of chapter "
        "2 is imported at the top of the notebook; torch's will do as well."
    ),
    example=(
        "Three keys with equal scores. A query that sees the first two gives each of them half, "
        "and exactly 0 to the third: [0.5, 0.5, 0]. A query that sees nothing has [0, 0, 0]."
    ),
    conventions=(
        'In the mask, True means "may attend". It broadcasts to the shape of the scores.',
        "Hidden keys have a weight of exactly 0, whatever their score: with scores -30,000 "
        "(visible) and 0 (hidden) the weights are 1 and 0. All scores are finite numbers.",
        "A query that sees nothing has weights of 0 (not NaN, not equal weights), and NaN must not "
        "appear in the gradient either.",
        "The result has the shape, dtype and device of the scores.",
    ),
    hints=(
        "Which score has the exponential 0? It must be there before the softmax.",
        "The rows that see nothing now hold NaN. Where may weights be set to 0 without a second "
        "thought?",
        "Multiplying NaN by 0 gives NaN. `masked_fill` and `torch.where` overwrite it, and pass no "
        "gradient to what they have overwritten.",
    ),
    cases=CASES,
    mistakes=(
        inverted,
        unmasked,
        filled_with_zero,
        filled_with_zero_and_zeroed,
        minus_1e4,
        minus_1e9,
        minus_1e4_zeroed,
        minus_1e9_zeroed,
        lowest,
        minus_infinity,
        minus_infinity_added,
        plus_infinity,
        too_late,
        renormalised,
        renormalised_safely,
        unshifted,
        nan_replaced_when_added,
        over_queries,
        queries_hidden,
        in_place,
        in_place_and_nan,
        nan_overwritten,
        on_the_cpu(masked_softmax),
        always_float32(masked_softmax),
        cut_from_autograd(masked_softmax),
        changed_in_place(masked_softmax, 2),
    ),
    alternatives=(
        by_where,
        by_logsumexp,
        lowest_and_zeroed,
        own_exponentials,
        something_to_see,
        rows_that_see_something,
        row_by_row,
    ),
    forbidden=(
        "torch._safe_softmax",
        "torch._masked_softmax",
    ),
)
