"""Exercise: softmax along one axis, finite for scores of any size.

Out of scope: rows in which every score is -inf (chapter 03).
"""

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values, zeros_kept
from autograder.exercises.chapter_02 import CHAPTER
from autograder.inputs import described, normal, sizes
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere
from autograder.wire import call, gradient
from solutions.softmax import softmax

AXES = "B L M"


def _trial(x: Tensor, of: dict[str, int], *dim: int, note: str = "") -> Trial:
    where = f", dim {dim[0]}" if dim else ""
    return Trial(call(x, *dim), described("x", AXES, of) + where + note, of, AXES)


def _grid(x: Tensor) -> Tensor:
    """Round to eighths, so that adding a constant is exact."""
    return (x * 8).round() / 8


def along_dim(rng: Generator) -> Iterator[Trial]:
    for dim in (1, -1, 0, 2, -2, -3):
        of = sizes(rng, AXES)
        yield _trial(normal(rng, AXES, of), of, dim)
    of = sizes(rng, AXES)
    view = normal(rng, "B M L", of).mT  # not contiguous
    words = f"{described('x', AXES, of)}, dim=1"
    yield Trial(call(view, dim=1), words, of, AXES)


def default_dim(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, AXES)
    yield _trial(normal(rng, AXES, of), of)


def other_ranks(rng: Generator) -> Iterator[Trial]:
    for axes in ("M", "B M", "B H L M"):
        of = sizes(rng, axes)
        yield Trial(call(normal(rng, axes, of)), described("x", axes, of), of, axes)
    for single in "BLM":
        of = {**sizes(rng, AXES), single: 1}
        yield _trial(normal(rng, AXES, of), of)


def shifted_rows(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, AXES)
    rows = torch.arange(of["B"]).reshape(-1, 1, 1) + torch.arange(of["L"]).reshape(-1, 1)
    offsets = 200.0 * (rows % 3 - 1)
    x = _grid(normal(rng, AXES, of)) + offsets
    yield _trial(x, of, -1, note=", row offsets -200, 0, 200 ...")
    words = f"{described('x', 'M B L', of)}, dim 0, offsets -200, 0, 200 ..."
    yield Trial(call(x.movedim(-1, 0), 0), words, of, "M B L")


def far_apart(rng: Generator) -> Iterator[Trial]:
    for step, offset in ((1000.0, 0.0), (1000.0, -30000.0), (100000.0, 0.0)):
        of = sizes(rng, AXES)
        order = torch.rand(of["B"], of["L"], of["M"], generator=rng).argsort(-1)
        yield _trial(step * order + offset, of, -1, note=f", scores {step:g} apart")


def minus_infinity(rng: Generator) -> Iterator[Trial]:
    for step, offset in ((0.25, 0.0), (1000.0, -30000.0)):
        of = sizes(rng, AXES)
        order = torch.rand(of["B"], of["L"], of["M"], generator=rng).argsort(-1)
        hidden = order < torch.randint(of["M"], (of["B"], of["L"], 1), generator=rng)
        hidden[0, 0] = order[0, 0] == 0  # at least one score is hidden, and never a whole row
        x = (step * order + offset).masked_fill(hidden, -math.inf)
        yield _trial(x, of, -1, note=", some scores -inf")


def all_kinds(rng: Generator) -> Iterator[Trial]:
    yield from default_dim(rng)
    yield from minus_infinity(rng)
    yield from dtypes(rng)


def gradients(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, AXES)
    x, cotangent = normal(rng, AXES, of), normal(rng, AXES, of)
    yield Trial(gradient(cotangent, x), described("x", AXES, of), of, AXES)
    yield Trial(gradient(cotangent, x, 0), described("x", AXES, of) + ", dim 0", of, AXES)


def dtypes(rng: Generator) -> Iterator[Trial]:
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        of = sizes(rng, AXES)
        x = normal(rng, AXES, of, dtype=dtype)
        yield _trial(x, of, note=f", {str(dtype).removeprefix('torch.')}")


def devices(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, AXES)
    x = normal(rng, AXES, of)
    trial = _trial(x, of, 1)
    yield trial
    yield elsewhere(trial)


CASES = (
    Case("the weights along dim are positive and sum to 1", along_dim, values, weight=4),
    Case("without dim, the last axis is meant", default_dim, values, weight=2),
    Case("works for any number of axes, also of size 1", other_ranks, values, weight=2),
    Case("adding a constant to a row changes nothing", shifted_rows, values, 4, tolerance=1e-4),
    Case("scores far apart stay finite", far_apart, values, weight=4),
    Case("a score of -inf gets weight 0", minus_infinity, zeros_kept, weight=2),
    Case("the gradient is that of softmax", gradients, values, weight=2),
    Case("the dtype of the scores is kept", dtypes, values, tolerance=6e-2),
    Case("the scores themselves are not changed", all_kinds, inputs_kept, tolerance=6e-2),
    Case("works on whatever device the scores are on", devices, values),
)


def no_shift(x: Tensor, dim: int = -1) -> Tensor:
    """The scores are exponentiated as they are, and exp(1000) is infinite in float32. Which
    number could you take from every score of a row first without changing the weights?
    """
    weights = x.exp()
    return weights / weights.sum(dim, keepdim=True)


def shift_by_global_max(x: Tensor, dim: int = -1) -> Tensor:
    """You take the largest score of the whole tensor from every row. In a row whose scores all lie
    far below it, what are all the exponentials, and what is their sum? Each row needs its own.
    """
    weights = (x - x.max()).exp()
    return weights / weights.sum(dim, keepdim=True)


def shift_by_mean(x: Tensor, dim: int = -1) -> Tensor:
    """The number that you take from a row leaves some scores above 0, perhaps far above (its mean
    or its smallest does). Which one leaves none?
    """
    weights = (x - x.mean(dim, keepdim=True)).exp()
    return weights / weights.sum(dim, keepdim=True)


def dim_ignored(x: Tensor, dim: int = -1) -> Tensor:
    """The weights sum to 1 along the last axis whatever `dim` says."""
    return softmax(x, -1)


def first_axis(x: Tensor, dim: int = -1) -> Tensor:
    """The weights sum to 1 along the first axis whatever `dim` says."""
    return softmax(x, 0)


def default_first(x: Tensor, dim: int = 0) -> Tensor:
    """When `dim` is left out, the weights sum to 1 along the first axis; the last one is meant."""
    return softmax(x, dim)


def default_middle(x: Tensor, dim: int = 1) -> Tensor:
    """When `dim` is left out, the weights sum to 1 along axis 1. The last axis is meant, however
    many axes there are.
    """
    return softmax(x, dim)


def default_two(x: Tensor, dim: int = 2) -> Tensor:
    """When `dim` is left out, the weights sum to 1 along axis 2, which is the last one only if
    there are three. Count from the end.
    """
    return softmax(x, dim)


def over_everything(x: Tensor, dim: int = -1) -> Tensor:
    """All weights of the tensor together sum to 1. Each row along `dim` should do so by itself:
    which axis do your sum and your maximum run over?
    """
    weights = (x - x.max()).exp()
    return weights / weights.sum()


def keepdim_forgotten(x: Tensor, dim: int = -1) -> Tensor:
    """A sum or a maximum along `dim` loses that axis, and then no longer lines up with the scores.
    Which argument of `sum` and `amax` keeps it with size 1?
    """
    weights = (x - x.amax(dim, keepdim=True)).exp()
    return weights / weights.sum(dim)


def clamped(x: Tensor, dim: int = -1) -> Tensor:
    """Scores beyond some limit are cut off, so that large ones become equal. The weights must
    depend on the differences between scores, however large the scores are.
    """
    weights = x.clamp(-80, 80).exp()
    return weights / weights.sum(dim, keepdim=True)


def no_exp(x: Tensor, dim: int = -1) -> Tensor:
    """The scores are divided by their sum as they are. What makes a negative score positive?"""
    return x / x.sum(dim, keepdim=True)


def base_two(x: Tensor, dim: int = -1) -> Tensor:
    """Your weights are powers of 2. Softmax uses powers of e."""
    return softmax(x * math.log(2), dim)


def logarithm(x: Tensor, dim: int = -1) -> Tensor:
    """You return the logarithms of the weights."""
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


def divided_by_largest(x: Tensor, dim: int = -1) -> Tensor:
    """The largest weight of each row is 1. It is their sum that should be 1."""
    return (x - x.amax(dim, keepdim=True)).exp()


def inverse(x: Tensor, dim: int = -1) -> Tensor:
    """The smallest score gets the largest weight. Look at the sign in the exponent."""
    return softmax(-x, dim)


def squared(x: Tensor, dim: int = -1) -> Tensor:
    """The weights are too sharp: you exponentiate twice the scores, or square the exponentials."""
    return softmax(2 * x, dim)


def applied_twice(x: Tensor, dim: int = -1) -> Tensor:
    """Softmax is applied to its own result, which flattens the weights."""
    return softmax(softmax(x, dim), dim)


def in_place(x: Tensor, dim: int = -1) -> Tensor:
    """An operation writes into the caller's tensor (`-=`, `/=`, `exp_`): autograd refuses that,
    and the caller's scores are gone. Make a new tensor instead.
    """
    x -= x.amax(dim, keepdim=True)
    x.exp_()
    x /= x.sum(dim, keepdim=True)
    return x


def always_float32(x: Tensor, dim: int = -1) -> Tensor:
    """The result is float32 whatever the dtype of the scores. Computing in float32 is fine; the
    result goes back to the dtype that came in.
    """
    return softmax(x.float(), dim)


def own_buffer(x: Tensor, dim: int = -1) -> Tensor:
    """You fill a tensor made with `torch.zeros` or `torch.empty` alone: it is float32 and on the
    CPU whatever the scores are. See `torch.zeros_like`, or build the result by an expression.
    """
    out = torch.zeros(x.shape)
    out[:] = softmax(x, dim)
    return out


def cut_from_autograd(x: Tensor, dim: int = -1) -> Tensor:
    """The numbers are right but carry no gradient: `detach`, `.data`, `no_grad`, numpy or
    `torch.tensor` cuts them off from the scores.
    """
    return softmax(x.detach(), dim)


def gradient_of_row(x: Tensor, dim: int = -1) -> Tensor:
    """The sum in the denominator is detached, so the gradient misses how one score lowers the
    weights of the others.
    """
    weights = (x - x.amax(dim, keepdim=True)).exp()
    return weights / weights.sum(dim, keepdim=True).detach()


def infinity_replaced(x: Tensor, dim: int = -1) -> Tensor:
    """A score of -inf is replaced (by 0, say), so its weight is not 0. What is exp(-inf)?"""
    return softmax(torch.where(x == -math.inf, torch.zeros_like(x), x), dim)


def max_and_where(x: Tensor, dim: int = -1) -> Tensor:
    """`max(dim)` returns a pair, the largest values and where they are. You need the first of the
    two; or see `amax`.
    """
    return softmax(x - x.max(dim=dim, keepdim=True), dim)  # type: ignore[operator]


def with_numpy(x: Tensor, dim: int = -1) -> Tensor:
    """You compute in numpy, which knows neither gradients nor bfloat16. The same operations exist
    on tensors.
    """
    powers = np.exp(x.numpy() - x.numpy().max(axis=dim, keepdims=True))
    return torch.from_numpy(powers / powers.sum(axis=dim, keepdims=True))


def nan_to_zero(x: Tensor, dim: int = -1) -> Tensor:
    """NaN is replaced after it has happened. The weights that it hides are lost: keep the
    exponentials finite instead.
    """
    weights = x.exp()
    return torch.nan_to_num(weights / weights.sum(dim, keepdim=True))


def infinity_overwritten(x: Tensor, dim: int = -1) -> Tensor:
    """You write a large negative number over -inf in the caller's tensor. exp(-inf) is 0 already;
    there is nothing to replace.
    """
    x.data[x == -math.inf] = -1e9
    return softmax(x, dim)


def on_the_cpu(x: Tensor, dim: int = -1) -> Tensor:
    """The scores are moved to the CPU, and the result stays there. Leave everything on the device
    of the scores.
    """
    return softmax(x.cpu(), dim)


def by_own_logsumexp(x: Tensor, dim: int = -1) -> Tensor:
    top = x.amax(dim, keepdim=True)
    total = torch.log(torch.sum(torch.exp(x - top), dim, keepdim=True))
    return torch.exp(x - (top + total))


def by_logaddexp(x: Tensor, dim: int = -1) -> Tensor:
    """The logarithm of the sum, one score at a time."""
    total = x.select(dim, 0)
    for i in range(1, x.shape[dim]):
        total = torch.logaddexp(total, x.select(dim, i))
    return torch.exp(x - total.unsqueeze(dim))


def by_max_values(x: Tensor, dim: int = -1) -> Tensor:
    largest, _ = x.max(dim=dim, keepdim=True)
    numerator = torch.exp(torch.sub(x, largest))
    return numerator.div(numerator.sum(dim).unsqueeze(dim))


def row_by_row(x: Tensor, dim: int = -1) -> Tensor:
    rows = []
    moved = x.movedim(dim, -1)
    for row in moved.reshape(-1, moved.shape[-1]):
        powers = [torch.exp(s - row.max()) for s in row]
        rows.append(torch.stack([p / sum(powers) for p in powers]))
    return torch.stack(rows).reshape(moved.shape).movedim(-1, dim)


def in_float32(x: Tensor, dim: int = -1) -> Tensor:
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    e = torch.exp(wide - torch.amax(wide, dim, True))
    return (e / torch.sum(e, dim, True)).to(x.dtype)


EXERCISE = Exercise(
    solution=softmax,
    chapter=CHAPTER,
    title="A softmax that never overflows",
    points=4,
    minutes=10,
    difficulty=2,
    statement=(
        "Write `softmax(x, dim)`: exponentiate the scores and divide by their sum along `dim`. "
        "Two scores of 1000 and 999 must give the same weights as 1 and 0; exp(1000) alone is "
        "infinite in float32. Use elementwise operations, maxima and sums; torch's own softmax, "
        "log_softmax and logsumexp, which solve this for you, are not allowed."
    ),
    example=(
        "The scores 0 and ln 3 have the exponentials 1 and 3, whose sum is 4: the weights are "
        "0.25 and 0.75. The scores 1000 and 1000 + ln 3 give the same two weights."
    ),
    conventions=(
        "`dim` is the axis along which the weights sum to 1: the last one if it is not given.",
        'A score of -inf means "never": its weight is exactly 0. At least one score of each row '
        "is finite.",
        "The result has the shape, dtype and device of `x`, and `x` itself is not changed.",
        "Gradients flow from the result back to `x`.",
    ),
    hints=(
        "What happens to the fraction if you multiply its numerator and its denominator by the "
        "same number?",
        "Multiplying every exponential of a row by exp(-c) is the same as taking c from every "
        "score of the row. Which c makes the largest exponential exactly 1?",
        "`amax` and `sum` take `dim=` and `keepdim=True`, and then line up with `x`.",
    ),
    cases=CASES,
    mistakes=(
        no_shift,
        shift_by_global_max,
        shift_by_mean,
        dim_ignored,
        first_axis,
        default_first,
        default_middle,
        default_two,
        over_everything,
        keepdim_forgotten,
        clamped,
        no_exp,
        base_two,
        logarithm,
        divided_by_largest,
        inverse,
        squared,
        applied_twice,
        in_place,
        always_float32,
        own_buffer,
        cut_from_autograd,
        gradient_of_row,
        infinity_replaced,
        infinity_overwritten,
        max_and_where,
        with_numpy,
        nan_to_zero,
        on_the_cpu,
    ),
    alternatives=(by_own_logsumexp, by_logaddexp, by_max_values, row_by_row, in_float32),
    forbidden=(
        "torch.softmax",
        "torch.logsumexp",
        "torch.logcumsumexp",
        "torch.special.logsumexp",
        "Tensor.logsumexp",
        "Tensor.logcumsumexp",
        "scipy.special.logsumexp",
        "torch.log_softmax",
        "torch.special.softmax",
        "torch.special.log_softmax",
        "torch.nn.functional.softmax",
        "torch.nn.functional.log_softmax",
        "torch.nn.functional.softmin",
        "torch.nn.functional.gumbel_softmax",
        "torch.nn.Softmax",
        "torch.nn.LogSoftmax",
        "torch.nn.Softmin",
        "torch._softmax",
        "torch._log_softmax",
        "Tensor.softmax",
        "Tensor.log_softmax",
        "scipy.special.softmax",
    ),
)
