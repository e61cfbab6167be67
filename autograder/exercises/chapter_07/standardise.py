"""Exercise: mean 0 and variance 1 along given axes.

Out of scope: gains, and half precision beyond the dtype (the next exercises).
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_07 import CHAPTER, READY_MADE
from autograder.exercises.chapter_07._draws import drawn_sizes, far_means, far_off
from autograder.inputs import normal, uniform
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.norms import standardise

Dims = int | tuple[int, ...]


def _trial(x: Tensor, dims: Dims, eps: float | None = None, note: str = "") -> Trial:
    of = dict(zip("BLD", x.shape, strict=False)) if x.ndim == 3 else {}
    words = f"x of shape {tuple(x.shape)}, dims = {dims}"
    words += "" if eps is None else f", eps = {eps:g}"
    request = call(x, dims) if eps is None else call(x, dims, eps)
    return Trial(request, words + note, of, "B L D" if of else "")


def _drawn(rng: Generator, dims: Dims = -1) -> Trial:
    return _trial(far_off(rng, "B L D", drawn_sizes(rng)), dims)


def vectors(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng, 2)


def one_axis(rng: Generator) -> Iterator[Trial]:
    for dims in (0, 1, -2):
        yield _drawn(rng, dims)


def several_axes(rng: Generator) -> Iterator[Trial]:
    for dims in ((0, 1), (1, 2), (-1, 0), (0, 1, 2), (1,)):
        yield _drawn(rng, dims)


def many_axes(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng) | {"G": 2, "H": 3}
    yield _trial(far_off(rng, "B H L D", of), -1)
    yield _trial(far_off(rng, "B H L D", of), (0, 2))
    yield _trial(far_off(rng, "G H L H D", of), (1, -2))


def small_numbers(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    yield _trial(normal(rng, "B L D", of, std=1e-3), -1, note=", entries near 0.001")
    yield _trial(normal(rng, "B L D", of), -1, eps=uniform(rng, 0.5, 2.0))
    yield _trial(normal(rng, "B L D", of, std=1e-3), (0, 1), eps=1e-6, note=", entries near 0.001")


def equal_numbers(rng: Generator) -> Iterator[Trial]:
    x = far_off(rng, "B L D", drawn_sizes(rng))
    x[0], x[1:, 0] = 3.0, 0.0
    yield _trial(x, -1, note=", some vectors of equal numbers")


def zero_variance(rng: Generator) -> Iterator[Trial]:
    for trial in equal_numbers(rng):
        yield backward(trial, rng)


def large_mean(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    note = ", means of both signs beyond 1000, deviation 1"
    x = normal(rng, "B L D", of)
    yield _trial(x + far_means(rng, of["B"], of["L"], 1), -1, note=note)
    yield _trial(x + far_means(rng, of["D"]), (0, 1), note=note)
    yield _trial(500 + x / 10, -1, note=", mean 500, deviation 0.1")


def special_sizes(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng, L=1)
    yield _trial(far_off(rng, "B L D", of), -1)
    yield _trial(far_off(rng, "B L D", of), 1)
    yield _trial(far_off(rng, "D", of), 0)
    yield _trial(far_off(rng, "D D D", of).permute(2, 0, 1), (0, 2), note=", not contiguous")


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)
    yield backward(_drawn(rng, (0, 1)), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(normal(rng, "B L D", drawn_sizes(rng)), -1))


def precision(rng: Generator) -> Iterator[Trial]:
    x = normal(rng, "B L D", drawn_sizes(rng), dtype=torch.float64)
    yield _trial(10_000 + x, -1, note=", float64, mean 10000, deviation 1")


def devices(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng, (0, 1))
    yield trial
    yield elsewhere(trial)


CASES = (
    Case("every vector gets mean 0 and variance 1", vectors, values, weight=2),
    Case("another axis can be asked for", one_axis, values, tolerance=3e-4),
    Case("several axes are taken together", several_axes, values, tolerance=3e-4),
    Case("x may have more axes than three", many_axes, values, tolerance=3e-4),
    Case("eps is added to the variance, inside the root", small_numbers, values),
    Case("equal numbers become 0", equal_numbers, values, tolerance=1e-3),
    Case("the gradient is right at equal numbers", zero_variance, values, tolerance=1e-3),
    Case("a large mean does not spoil the variance", large_mean, values, tolerance=5e-3),
    Case("works where sizes are 1 or equal, or there is one axis", special_sizes, values),
    Case("the gradient is right", gradients, values),
    Case("the dtype of x is kept", dtypes, values),
    Case("float64 keeps its digits", precision, values),
    Case("x itself is not changed", vectors, inputs_kept),
    Case("works on whatever device x is on", devices, values),
)


def _centred(x: Tensor, dims: Dims) -> Tensor:
    return x - x.mean(dims, keepdim=True)


def _variance(x: Tensor, dims: Dims, correction: int = 0) -> Tensor:
    return x.var(dims, correction=correction, keepdim=True)


def sample_variance(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """The sum of squares is divided by n - 1, as `var` and `std` do unless told otherwise. Nothing
    is estimated here: divide by n.
    """
    return _centred(x, dims) / (_variance(x, dims, correction=1) + eps).sqrt()


def eps_outside(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """eps is added to the standard deviation, after the root. It belongs to the variance, before
    it: for numbers near 0.001 that is another function.
    """
    return _centred(x, dims) / (_variance(x, dims).sqrt() + eps)


def sample_and_outside(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """Two things at once, as in a well-known tutorial: `std` divides by n - 1, and eps is added
    after the root. Start from the variance, divided by n.
    """
    return _centred(x, dims) / (_variance(x, dims, correction=1).sqrt() + eps)


def no_eps(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """eps is not used. Where all numbers are equal the variance is 0, and 0 / 0 is NaN."""
    return _centred(x, dims) / _variance(x, dims).sqrt()


def own_eps(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """The eps that is given has no effect: 1e-5 is written into the formula."""
    return standardise(x, dims)


def mean_kept(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """You divide by the standard deviation but do not subtract the mean."""
    return x / (_variance(x, dims) + eps).sqrt()


def not_scaled(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """The mean is subtracted, but the variance is not yet 1."""
    return _centred(x, dims)


def mean_left_in(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """The mean is subtracted nowhere: x is divided by its root mean square. Later in the chapter
    that has a name of its own; here the mean goes first.
    """
    return x / (x.square().mean(dims, keepdim=True) + eps).sqrt()


def root_mean_square(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """The squares are those of x, with its mean in them. The variance is about the distance from
    the mean.
    """
    return _centred(x, dims) / (x.square().mean(dims, keepdim=True) + eps).sqrt()


def no_root(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """You divide by the variance. Dividing by c divides a variance by c squared: so by which
    number does it become 1?
    """
    return _centred(x, dims) / (_variance(x, dims) + eps)


def multiplied(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """You multiply by the standard deviation instead of dividing by it."""
    return _centred(x, dims) * (_variance(x, dims) + eps).sqrt()


def absolute_deviation(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """You divide by the mean distance from the mean. Variance and deviation are about squares."""
    centred = _centred(x, dims)
    return centred / (centred.abs().mean(dims, keepdim=True) + eps)


def sum_of_squares(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """The squares are added up but not divided by their number: every result has length 1 instead
    of variance 1.
    """
    centred = _centred(x, dims)
    return centred / (centred.square().sum(dims, keepdim=True) + eps).sqrt()


def last_axis(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """It is always the last axis that is normalised. `dims` says which."""
    return standardise(x, -1, eps)


def everything(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """Mean and variance are taken over all of x: `dims` has no effect."""
    return standardise(x, tuple(range(x.ndim)), eps)


def other_axes(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """You normalise over the axes that are *not* in `dims`. dims = -1 means one mean for each
    vector, taken over its entries.
    """
    asked = {d % x.ndim for d in ((dims,) if isinstance(dims, int) else dims)}
    rest = tuple(d for d in range(x.ndim) if d not in asked)
    return standardise(x, rest, eps) if rest else x - x


def axes_in_turn(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """Several axes are normalised one after the other. There should be one mean and one variance
    over all of them together.
    """
    for dim in (dims,) if isinstance(dims, int) else dims:
        x = standardise(x, dim, eps)
    return x


def first_of_axes(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """Of several axes only the first is used."""
    return standardise(x, dims if isinstance(dims, int) else dims[0], eps)


def axis_lost(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """The mean has lost the axis over which it was taken, so it does not fit x any more, or fits by
    accident. Is there an option that keeps it?
    """
    return (x - x.mean(dims)) / (x.var(dims, correction=0) + eps).sqrt()


def one_pass(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """The variance is the mean square minus the squared mean. With a large mean these are two huge
    numbers that differ in their last digits only. Subtract the mean first, then square.
    """
    mean = x.mean(dims, keepdim=True)
    variance = (x * x).mean(dims, keepdim=True) - mean * mean
    return (x - mean) / (variance.clamp(min=0) + eps).sqrt()


def mean_detached(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """The numbers are right, but the mean is cut off from x, as if it were a constant: the gradient
    must pass through it too.
    """
    centred = x - x.mean(dims, keepdim=True).detach()
    return centred / (centred.square().mean(dims, keepdim=True) + eps).sqrt()


def deviation_detached(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """The numbers are right, but the deviation is cut off from x, as if it were a constant: the
    gradient must pass through it too.
    """
    return _centred(x, dims) / (_variance(x, dims) + eps).sqrt().detach()


def both_detached(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """The numbers are right, but mean and deviation are cut off from x, as if they were constants:
    the gradient must pass through both.
    """
    mean = x.mean(dims, keepdim=True).detach()
    return (x - mean) / (_variance(x, dims) + eps).sqrt().detach()


def root_squared(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """The numbers are right. But a root that is taken before eps is added has an infinite
    derivative at 0, so where all numbers are equal the gradient is NaN, though the root is squared
    again. Add eps to a variance that never was under a root (`std` takes one, too).
    """
    return _centred(x, dims) / (_variance(x, dims).sqrt() ** 2 + eps).sqrt()


def narrowed(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """All is computed in float32, float64 as well, which loses half of its digits."""
    return standardise(x.float(), dims, eps).to(x.dtype)


def by_var_mean(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    variance, mean = torch.var_mean(x, dims, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + eps)


def by_sums(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    axes = [dims] if isinstance(dims, int) else list(dims)
    count = 1
    for axis in axes:
        count *= x.size(axis)
    mean = torch.sum(x, axes, keepdim=True) / count
    squares = torch.sum(torch.pow(x - mean, 2), axes, keepdim=True)
    return (x - mean) / torch.sqrt(squares / count + eps)


def on_flat_rows(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """Bring the axes to the end, make them one, and put everything back."""
    axes = (dims,) if isinstance(dims, int) else tuple(dims)
    ends = tuple(range(-len(axes), 0))
    moved = x.movedim(axes, ends)
    rows = moved.reshape(-1, moved.shape[-len(axes) :].numel())
    rows = rows - rows.mean(1, keepdim=True)
    rows = rows / (rows.pow(2).mean(1, keepdim=True) + eps) ** 0.5
    return rows.reshape(moved.shape).movedim(ends, axes)


def in_float32(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    wide = x if x.dtype == torch.float64 else x.float()
    deviation = (wide.var(dims, unbiased=False, keepdim=True) + eps).sqrt()
    return wide.sub(wide.mean(dims, keepdim=True)).div(deviation).to(x.dtype)


def in_float64(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """Wide enough for a variance in one pass; written into its own intermediate result."""
    y = x.double()
    mean = y.mean(dims, keepdim=True)
    variance = (y * y).mean(dims, keepdim=True) - mean**2
    y = torch.sub(y, mean)
    y /= torch.sqrt(variance.clamp(min=0) + eps)
    return y.to(x.dtype)


def subtracted_twice(x: Tensor, dims: Dims, eps: float = 1e-5) -> Tensor:
    """The mean is subtracted twice: the second time it takes away the rounding of the first."""
    once = x - torch.mean(x, dims, True)
    twice = once - torch.mean(once, dims, True)
    return twice * torch.pow(torch.mean(twice * twice, dims, True) + eps, -0.5)


EXERCISE = Exercise(
    solution=standardise,
    chapter=CHAPTER,
    title="One function behind all norms",
    points=2,
    minutes=6,
    difficulty=1,
    statement=(
        "Subtract the mean of x and divide by its standard deviation, both taken along the axes "
        "`dims`. With dims = -1 every vector is normalised by itself, with dims = (0, 1) every "
        "feature over a whole batch. torch's ready-made norms are not allowed."
    ),
    example=(
        "The numbers 1, 3, 1, 3 have mean 2. Their distances from it are -1, 1, -1, 1, so the "
        "variance is 4 / 4 = 1, and with eps = 0 the result is -1, 1, -1, 1."
    ),
    conventions=(
        "The variance is the mean of the squared distances: 4 / 4 above, not 4 / 3.",
        "eps is added to the variance before the root is taken. With a variance of 3 and eps = 1 "
        "you divide by 2. Equal numbers become 0, and their gradient is finite.",
        "x may have any number of axes, and `dims` is one axis or a tuple of one or more, counted "
        "from the front or, if negative, from the back. Axes of a tuple share one mean and one "
        "variance.",
        "The result has the shape and dtype of x. float64 is computed in float64; in half "
        "precision the dtype of x will do here.",
        "Means far larger than the deviation occur, 2000 beside 1, each vector with its own: "
        "subtract before you square.",
    ),
    hints=(
        "Three steps: the mean, the distances from it, the mean of their squares.",
        "A mean over some axes should still fit x. Look for `keepdim` in the documentation of "
        "`mean`.",
        "`mean` takes one axis or a tuple of axes, so you need not tell the two apart.",
    ),
    cases=CASES,
    mistakes=(
        sample_variance,
        eps_outside,
        sample_and_outside,
        no_eps,
        own_eps,
        mean_kept,
        not_scaled,
        mean_left_in,
        root_mean_square,
        no_root,
        multiplied,
        absolute_deviation,
        sum_of_squares,
        last_axis,
        everything,
        other_axes,
        axes_in_turn,
        first_of_axes,
        axis_lost,
        one_pass,
        mean_detached,
        deviation_detached,
        both_detached,
        root_squared,
        narrowed,
        on_the_cpu(standardise),
        always_float32(standardise),
        cut_from_autograd(standardise),
        changed_in_place(standardise),
    ),
    alternatives=(
        by_var_mean,
        by_sums,
        on_flat_rows,
        in_float32,
        in_float64,
        subtracted_twice,
    ),
    forbidden=READY_MADE,
)
