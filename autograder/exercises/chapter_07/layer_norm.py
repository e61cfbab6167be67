"""Exercise: layer normalisation with given gain and bias.

Out of scope: modules (the exercises after it).
"""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_07 import CHAPTER, READY_MADE
from autograder.exercises.chapter_07._draws import drawn_sizes, far_means, far_off, gain
from autograder.inputs import described, normal, uniform
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.norms import layer_norm, standardise

HALVES = (torch.float16, torch.bfloat16)
HALF_EPS = 2.0**-23  # a number of float16, too: some keep eps in the dtype of the weights


def _trial(
    rng: Generator, of: dict[str, int], x: Tensor, eps: float | None = None, note: str = ""
) -> Trial:
    axes = ("D", "L D", "B L D", "B H L D", "G B H L D")[x.ndim - 1]
    words = described("x", axes, of)
    words += "" if eps is None else f", eps = {eps:g}"
    weights = (gain(rng, of), gain(rng, of))
    request = call(x, *weights) if eps is None else call(x, *weights, eps)
    return Trial(request, words + note, of, axes)


def _drawn(rng: Generator, axes: str = "B L D", **fixed: int) -> Trial:
    of = drawn_sizes(rng, **fixed)
    return _trial(rng, of, far_off(rng, axes, of))


def vectors(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    trial = _drawn(rng)
    weight = trial.request.calls[0].args[1]
    weight[0] = 0.0
    yield replace(trial, inputs=f"{trial.inputs}, one weight is 0")


def small_numbers(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    x = normal(rng, "B L D", of, std=1e-3)
    yield _trial(rng, of, x, note=", entries near 0.001")
    yield _trial(rng, of, x, 1e-7, note=", entries near 0.001")
    yield _trial(rng, of, far_off(rng, "B L D", of), uniform(rng, 1.0, 5.0))


def equal_numbers(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    x = far_off(rng, "B L D", of)
    x[0], x[1:, 0] = -3.0, 0.0
    yield _trial(rng, of, x, note=", some vectors of equal numbers")
    of = drawn_sizes(rng, D=1)
    yield _trial(rng, of, normal(rng, "B L D", of, std=1e-2), note=", one entry in each")


def zero_variance(rng: Generator) -> Iterator[Trial]:
    (trial, _) = equal_numbers(rng)
    yield backward(trial, rng)


def large_mean(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    x = normal(rng, "B L D", of)
    far = x + far_means(rng, of["B"], of["L"], 1)
    yield _trial(rng, of, far, note=", means of both signs beyond 1000, deviation 1")
    yield _trial(rng, of, 500 + x / 10, note=", mean 500, deviation 0.1")


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, "L D")
    yield _drawn(rng, "D")
    yield _drawn(rng, "B H L D", H=3)
    yield _drawn(rng, "G B H L D", G=2, H=3)


def special_sizes(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, L=1)
    yield _drawn(rng, B=1)
    of = dict.fromkeys("BLD", drawn_sizes(rng)["D"])
    yield _trial(rng, of, far_off(rng, "D B L", of).permute(1, 2, 0), note=", not contiguous")
    of = drawn_sizes(rng)
    yield _trial(rng, of, far_off(rng, "L B D", of).transpose(0, 1), note=", not contiguous")


def half_precision(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    medium = _trial(rng, of, normal(rng, "B L D", of, std=200.0), note=", entries near 200")
    large = _trial(rng, of, normal(rng, "B L D", of, std=1000.0), note=", entries near 1000")
    small = _trial(
        rng, of, normal(rng, "B L D", of, std=3e-4), HALF_EPS, note=", entries near 0.0003"
    )
    yield from in_dtypes(medium, HALVES)
    yield from in_dtypes(large, HALVES)
    yield from in_dtypes(small, HALVES)


def half_precision_of_large_means(rng: Generator) -> Iterator[Trial]:
    """The numbers are exact in their dtype; their mean is not."""
    of = drawn_sizes(rng)
    x = normal(rng, "B L D", of)
    yield from in_dtypes(_trial(rng, of, 1500 + 4 * x, note=", mean 1500, deviation 4"), HALVES[:1])
    yield from in_dtypes(_trial(rng, of, 200 + 4 * x, note=", mean 200, deviation 4"), HALVES[1:])


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    trial = _trial(rng, of, normal(rng, "B L D", of))
    yield from in_dtypes(trial, HALVES)
    x, *weights = trial.request.calls[0].args
    for dtype in HALVES:
        name = str(dtype).removeprefix("torch.")
        request = call(x.to(dtype), *weights)
        yield replace(trial, request=request, inputs=f"{trial.inputs}, {name}, weights float32")


def precision(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    x = 10_000 + normal(rng, "B L D", of, dtype=torch.float64)
    trial = _trial(rng, of, x, note=", mean 10000, deviation 1")
    yield from in_dtypes(trial, (torch.float64,))


def devices(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    yield trial
    yield elsewhere(trial)


CASES = (
    Case("vectors are normalised, scaled and shifted", vectors, values, weight=3),
    Case("eps is added to the variance, inside the root", small_numbers, values, weight=2),
    Case("a vector of equal numbers becomes the bias", equal_numbers, values, tolerance=1e-3),
    Case("a large mean does not spoil the variance", large_mean, values, tolerance=5e-3),
    Case("works with one vector and with any axes before it", other_ranks, values),
    Case("works where sizes are 1 or equal", special_sizes, values),
    Case("half precision holds large and small numbers", half_precision, values),
    Case("half precision holds a large mean", half_precision_of_large_means, values),
    Case("the gradient reaches x, weight and bias", gradients, values),
    Case("the gradient is right at equal numbers", zero_variance, values, tolerance=1e-3),
    Case("the dtype of x is kept", dtypes, values),
    Case("float64 keeps its digits", precision, values),
    Case("nothing that was given is changed", vectors, inputs_kept),
    Case("works on whatever device x is on", devices, values),
)


def wide(x: Tensor) -> Tensor:
    """Give half precision as float32, and leave the rest as it is."""
    return x if x.dtype == torch.float64 else x.float()


def _normal(x: Tensor, eps: float, dims: int | tuple[int, ...] = -1) -> Tensor:
    return standardise(wide(x), dims, eps)


def _centred(x: Tensor) -> Tensor:
    return wide(x) - wide(x).mean(-1, keepdim=True)


def _variance(x: Tensor, correction: int = 0) -> Tensor:
    return wide(x).var(-1, correction=correction, keepdim=True)


def sample_variance(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The sum of squares is divided by D - 1, as `var` and `std` do unless told otherwise. With
    four entries that is 13 % off: divide by D.
    """
    y = _centred(x) / (_variance(x, correction=1) + eps).sqrt()
    return (y * weight + bias).to(x.dtype)


def eps_outside(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """eps is added to the standard deviation, after the root. It belongs to the variance, before
    it: for entries near 0.001 that is another function.
    """
    return (_centred(x) / (_variance(x).sqrt() + eps) * weight + bias).to(x.dtype)


def sample_and_outside(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Two things at once, as in a well-known tutorial: `std` divides by D - 1, and eps is added
    after the root. Start from the variance, divided by D.
    """
    y = _centred(x) / (_variance(x, correction=1).sqrt() + eps)
    return (y * weight + bias).to(x.dtype)


def no_eps(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """eps is not used. Where all entries are equal the variance is 0, and 0 / 0 is NaN."""
    return (_centred(x) / _variance(x).sqrt() * weight + bias).to(x.dtype)


def own_eps(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The eps that is given has no effect: 1e-5 is written into the formula."""
    return layer_norm(x, weight, bias)


def mean_kept(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """You divide by the standard deviation but do not subtract the mean."""
    return (wide(x) / (_variance(x) + eps).sqrt() * weight + bias).to(x.dtype)


def rms_instead(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """This is RMS normalisation: the mean is never subtracted. It is the next exercise; here every
    vector gets mean 0.
    """
    root = (wide(x).square().mean(-1, keepdim=True) + eps).sqrt()
    return (wide(x) / root * weight + bias).to(x.dtype)


def no_root(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """You divide by the variance instead of its root."""
    return (_centred(x) / (_variance(x) + eps) * weight + bias).to(x.dtype)


def not_scaled(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The mean is subtracted, but the variance is not brought to 1."""
    return (_centred(x) * weight + bias).to(x.dtype)


def no_gain(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The weight is not used."""
    return (_normal(x, eps) + bias).to(x.dtype)


def no_bias(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The bias is not used."""
    return (_normal(x, eps) * weight).to(x.dtype)


def one_plus_weight(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """You multiply by 1 + weight. Some models store gains like that (Gemma); here the weight is the
    factor itself.
    """
    return (_normal(x, eps) * (1 + weight) + bias).to(x.dtype)


def bias_first(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The bias is added before the factor is applied, so that it is scaled too. First the factor,
    then the shift.
    """
    return ((_normal(x, eps) + bias) * weight).to(x.dtype)


def exchanged(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Weight and bias have changed roles: the weight multiplies, the bias is added."""
    return layer_norm(x, bias, weight, eps)


def gain_first(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The factor is applied before the vector is normalised, which takes it away again. Normalise
    first.
    """
    return (_normal(wide(x) * weight, eps) + bias).to(x.dtype)


def over_tokens(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Mean and variance are taken over the tokens of a sequence. Each token is normalised by
    itself, over its own D entries.
    """
    return (_normal(x, eps, -2) * weight + bias).to(x.dtype)


def over_batch(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """This is batch normalisation: mean and variance of each feature, over all examples and tokens.
    Each token is normalised by itself, over its own D entries.
    """
    dims = tuple(range(x.ndim - 1)) or -1
    return (_normal(x, eps, dims) * weight + bias).to(x.dtype)


def over_axis_one(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The axis is given by the number 0 or 1, counted from the front. x may have any number of
    axes, and the features are the last one.
    """
    return (_normal(x, eps, min(1, x.ndim - 1)) * weight + bias).to(x.dtype)


def over_example(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """There is one mean and variance for all tokens of an example together, as in image models.
    Each token has its own.
    """
    dims = (-2, -1) if x.ndim > 1 else (-1,)
    return (_normal(x, eps, dims) * weight + bias).to(x.dtype)


def in_half(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Mean and variance are computed in the dtype of x. In float16 the square of 300 is infinite
    and that of 0.0001 is 0: compute in float32, and cast the result back.
    """
    return (standardise(x, -1, eps) * weight + bias).to(x.dtype)


def mean_in_half(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The mean, or the distance from it, is rounded to the dtype of x. In float16 the mean of 2000
    and 2001 is 2000: go to float32 before you take it.
    """
    centred = wide(x - x.mean(-1, keepdim=True))
    root = (centred.square().mean(-1, keepdim=True) + eps).sqrt()
    return (centred / root * weight + bias).to(x.dtype)


def variance_in_half(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The variance is taken in float32, but is cast back to the dtype of x before its root. In
    float16 there is nothing above 65,504 and little below 0.0001: cast the result alone.
    """
    variance = _variance(x).to(x.dtype)
    return (_centred(x) / (variance + eps).sqrt() * weight + bias).to(x.dtype)


def only_float16(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """float16 is computed in float32, bfloat16 is not. It has room for large numbers, but only
    eight binary digits: the mean of 200 and 201 is none of its numbers.
    """
    inside = x.float() if x.dtype == torch.float16 else x
    return (standardise(inside, -1, eps) * weight + bias).to(x.dtype)


def narrowed(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """All is computed in float32, float64 as well, which loses half of its digits. Only half
    precision needs a wider dtype.
    """
    return layer_norm(x.float(), weight, bias, eps).to(x.dtype)


def dtype_of_weights(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """In half precision, with float32 weights, the result is float32: a product takes the wider
    dtype of the two. Cast back to the dtype of x at the very end.
    """
    return _normal(x, eps).to(x.dtype) * weight + bias


def one_pass(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The variance is the mean square minus the squared mean. With a large mean these are two huge
    numbers that differ in their last digits only. Subtract the mean first, then square.
    """
    mean_square = wide(x).square().mean(-1, keepdim=True)
    variance = mean_square - wide(x).mean(-1, keepdim=True) ** 2
    return (_centred(x) / (variance.clamp(min=0) + eps).sqrt() * weight + bias).to(x.dtype)


def statistics_detached(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The numbers are right, but mean and deviation are cut off from x, as if they were constants.
    Gradients must pass through them too.
    """
    mean = wide(x).mean(-1, keepdim=True).detach()
    y = (wide(x) - mean) / (_variance(x) + eps).sqrt().detach()
    return (y * weight + bias).to(x.dtype)


def weight_detached(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The numbers are right, but no gradient reaches the weight: `detach`, `.data` or
    `torch.tensor` cuts it off, and it would never learn.
    """
    return layer_norm(x, weight.detach(), bias, eps)


def bias_detached(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The numbers are right, but no gradient reaches the bias: `detach`, `.data` or `torch.tensor`
    cuts it off, and it would never learn.
    """
    return layer_norm(x, weight, bias.detach(), eps)


def root_squared(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The numbers are right. But a root that is taken before eps is added has an infinite
    derivative at 0, so where all numbers are equal the gradient is NaN, though the root is squared
    again. Add eps to a variance that never was under a root (`std` takes one, too).
    """
    root = (_variance(x).sqrt() ** 2 + eps).sqrt()
    return (_centred(x) / root * weight + bias).to(x.dtype)


def by_var_mean(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    inside = x.to(torch.promote_types(x.dtype, torch.float32))
    variance, mean = torch.var_mean(inside, dim=-1, correction=0, keepdim=True)
    normalised = ((inside - mean) * torch.rsqrt(variance + eps)).type_as(x)
    return (normalised * weight + bias).type_as(x)


def by_projection(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Centre by a matrix, then divide by the root mean square."""
    d = x.shape[-1]
    y = x.double()
    centre = torch.eye(d, dtype=y.dtype, device=x.device) - 1 / d
    y = torch.einsum("...d,de->...e", y, centre)
    squares = torch.einsum("...d,...d->...", y, y).unsqueeze(-1)
    return torch.addcmul(bias.double(), weight.double(), y / (squares / d + eps) ** 0.5).to(x.dtype)


def vector_by_vector(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    rows = []
    for row in x.reshape(-1, x.size(-1)):
        distances = row.double() - row.double().sum() / len(row)
        variance = torch.dot(distances, distances) / len(row)
        rows.append(distances / torch.sqrt(variance + eps) * weight + bias)
    return torch.stack(rows).view(x.shape).to(dtype=x.dtype)


def cast_before_gain(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    normalised = standardise(x.double(), (-1,), eps).to(x.dtype)
    return (weight.to(x.dtype) * normalised + bias.to(x.dtype)).to(x.dtype)


def one_factor_one_shift(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Fold mean and deviation into one factor and one shift for each entry."""
    inside = x if x.dtype == torch.float64 else x.float()
    variance, mean = torch.var_mean(inside, -1, correction=0, keepdim=True)
    factor = weight * (variance + eps).rsqrt()
    return (inside * factor + (bias - mean * factor)).to(x.dtype)


def half_alone_is_widened(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """A copy that is written into, and one dtype or the other."""
    half = x.dtype in (torch.float16, torch.bfloat16)
    y = x.float() if half else x.clone()
    y -= y.mean(-1, keepdim=True)
    y = y / torch.sqrt(y.pow(2).mean(-1, keepdim=True) + eps)
    return (y.to(x.dtype) * weight + bias).to(x.dtype)


EXERCISE = Exercise(
    solution=layer_norm,
    chapter=CHAPTER,
    title="Layer normalisation",
    points=3,
    minutes=9,
    difficulty=2,
    statement=(
        "Normalise every vector of x by itself: mean 0 and variance 1 over its last axis. Then "
        "multiply each entry by its `weight` and add its `bias`. Use `standardise` if you like; "
        "torch's ready-made norms are not allowed."
    ),
    example=(
        "The vector (1, 3) has mean 2 and variance 1, so it becomes (-1, 1). With the weight "
        "(10, 10) and the bias (0, 1) the result is (-10, 11)."
    ),
    conventions=(
        "The variance is divided by D, not by D - 1, and eps is added to it before the root is "
        "taken. With a variance of 3 and eps = 1 you divide by 2.",
        "The weight is the factor itself: 1 leaves an entry as it is. First the factor, then the "
        "bias.",
        "Mean and variance are computed in float32 when x is in half precision, otherwise in the "
        "dtype of x. Whether gain and bias are applied before or after casting back is up to you.",
        "weight and bias come in the dtype of x or in float32; the result has the dtype of x in "
        "either case.",
        "x may have any number of axes. A mean of 2000 beside a deviation of 1 must do no harm, in "
        "half precision either. Where all entries are equal the gradient is finite.",
    ),
    hints=(
        "Which axis holds the features, whatever stands before it?",
        "In float16, 300 x 300 is infinite. Where do you have to change the dtype, and where do "
        "you change it back?",
        "weight and bias have the shape (D,): broadcasting lines them up with the last axis.",
    ),
    cases=CASES,
    mistakes=(
        sample_variance,
        eps_outside,
        sample_and_outside,
        no_eps,
        own_eps,
        mean_kept,
        rms_instead,
        no_root,
        not_scaled,
        no_gain,
        no_bias,
        one_plus_weight,
        bias_first,
        exchanged,
        gain_first,
        over_tokens,
        over_batch,
        over_axis_one,
        over_example,
        in_half,
        mean_in_half,
        variance_in_half,
        only_float16,
        narrowed,
        dtype_of_weights,
        one_pass,
        statistics_detached,
        weight_detached,
        bias_detached,
        root_squared,
        on_the_cpu(layer_norm),
        always_float32(layer_norm),
        cut_from_autograd(layer_norm),
        changed_in_place(layer_norm),
    ),
    alternatives=(
        by_var_mean,
        by_projection,
        vector_by_vector,
        cast_before_gain,
        one_factor_one_shift,
        half_alone_is_widened,
    ),
    forbidden=READY_MADE,
)
