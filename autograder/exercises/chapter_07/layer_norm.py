"""Exercise: layer normalisation with given gain and bias.

Out of scope: modules (the exercises after it).
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_07 import CHAPTER, READY_MADE
from autograder.exercises.chapter_07._draws import drawn_sizes, far_off, gain
from autograder.inputs import described, normal, uniform
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.norms import layer_norm, standardise

HALVES = (torch.float16, torch.bfloat16)


def _trial(
    rng: Generator, of: dict[str, int], x: Tensor, eps: float | None = None, note: str = ""
) -> Trial:
    axes = ("D", "L D", "B L D", "B H L D")[x.ndim - 1]
    words = described("x", axes, of)
    words += "" if eps is None else f", eps = {eps:g}"
    weights = (gain(rng, of), normal(rng, "D", of))
    request = call(x, *weights) if eps is None else call(x, *weights, eps)
    return Trial(request, words + note, of, axes)


def _drawn(rng: Generator, axes: str = "B L D", **fixed: int) -> Trial:
    of = drawn_sizes(rng, **fixed)
    return _trial(rng, of, far_off(rng, axes, of))


def vectors(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def small_numbers(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    x = normal(rng, "B L D", of, std=1e-3)
    yield _trial(rng, of, x, note=", entries near 0.001")
    yield _trial(rng, of, x, 1e-7, note=", entries near 0.001")
    yield _trial(rng, of, far_off(rng, "B L D", of), uniform(rng, 1.0, 5.0))


def equal_numbers(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    x = far_off(rng, "B L D", of)
    x[0], x[1] = -3.0, 0.0
    yield _trial(rng, of, x, note=", some vectors of equal numbers")


def large_mean(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    yield _trial(rng, of, normal(rng, "B L D", of, mean=2000.0), note=", mean 2000, deviation 1")


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, "L D")
    yield _drawn(rng, "D")
    yield _drawn(rng, "B H L D", H=11)


def special_sizes(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, L=1)
    yield _drawn(rng, B=1)
    yield _drawn(rng, D=1)
    of = dict.fromkeys("BLD", drawn_sizes(rng)["D"])
    yield _trial(rng, of, far_off(rng, "D B L", of).permute(1, 2, 0), note=", not contiguous")


def half_precision(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    large = _trial(rng, of, normal(rng, "B L D", of, std=1000.0), note=", entries near 1000")
    small = _trial(rng, of, normal(rng, "B L D", of, std=3e-4), 1e-9, note=", entries near 0.0003")
    yield from in_dtypes(large, HALVES)
    yield from in_dtypes(small, HALVES)


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    yield from in_dtypes(_trial(rng, of, normal(rng, "B L D", of)), HALVES)


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
    Case("half precision holds large and small numbers", half_precision, values, tolerance=6e-2),
    Case("the gradient reaches x, weight and bias", gradients, values),
    Case("the dtype of x is kept", dtypes, values, tolerance=6e-2),
    Case("nothing that was given is changed", vectors, inputs_kept),
    Case("works on whatever device x is on", devices, values),
)


def _normal(x: Tensor, eps: float, dims: int | tuple[int, ...] = -1) -> Tensor:
    return standardise(x.float(), dims, eps)


def _centred(x: Tensor) -> Tensor:
    return x.float() - x.float().mean(-1, keepdim=True)


def _deviation(x: Tensor, correction: int = 0) -> Tensor:
    return x.float().var(-1, correction=correction, keepdim=True).sqrt()


def sample_variance(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The sum of squares is divided by D - 1, as `var` and `std` do unless told otherwise. With
    four entries that is 13 % off: divide by D.
    """
    y = _centred(x) / (_deviation(x, correction=1) ** 2 + eps).sqrt()
    return (y * weight + bias).to(x.dtype)


def eps_outside(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """eps is added to the standard deviation, after the root. It belongs to the variance, before
    it: for entries near 0.001 that is another function.
    """
    return (_centred(x) / (_deviation(x) + eps) * weight + bias).to(x.dtype)


def sample_and_outside(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Two things at once, as in a well-known tutorial: `std` divides by D - 1, and eps is added
    after the root. Start from the variance, divided by D.
    """
    return (_centred(x) / (_deviation(x, correction=1) + eps) * weight + bias).to(x.dtype)


def no_eps(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """eps is not used. Where all entries are equal the variance is 0, and 0 / 0 is NaN."""
    return (_centred(x) / _deviation(x) * weight + bias).to(x.dtype)


def own_eps(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The eps that is given has no effect: 1e-5 is written into the formula."""
    return layer_norm(x, weight, bias)


def mean_kept(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """You divide by the standard deviation but do not subtract the mean."""
    return (x.float() / (_deviation(x) ** 2 + eps).sqrt() * weight + bias).to(x.dtype)


def rms_instead(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """This is RMS normalisation: the mean is never subtracted. It is the next exercise; here every
    vector gets mean 0.
    """
    wide = x.float()
    root = (wide.square().mean(-1, keepdim=True) + eps).sqrt()
    return (wide / root * weight + bias).to(x.dtype)


def no_root(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """You divide by the variance instead of its root."""
    return (_centred(x) / (_deviation(x) ** 2 + eps) * weight + bias).to(x.dtype)


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
    return (_normal(x.float() * weight, eps) + bias).to(x.dtype)


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
    return standardise(x, -1, eps) * weight + bias


def one_pass(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The variance is the mean square minus the squared mean. With a large mean these are two huge
    numbers that differ in their last digits only. Subtract the mean first, then square.
    """
    wide = x.float()
    variance = (wide * wide).mean(-1, keepdim=True) - wide.mean(-1, keepdim=True) ** 2
    return (_centred(x) / (variance.clamp(min=0) + eps).sqrt() * weight + bias).to(x.dtype)


def statistics_detached(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """The numbers are right, but mean and deviation are cut off from x, as if they were constants.
    Gradients must pass through them too.
    """
    wide = x.float()
    root = (_deviation(x) ** 2 + eps).sqrt()
    y = (wide - wide.mean(-1, keepdim=True).detach()) / root.detach()
    return (y * weight + bias).to(x.dtype)


def by_var_mean(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    variance, mean = torch.var_mean(x.float(), dim=-1, correction=0, keepdim=True)
    return ((x.float() - mean) * torch.rsqrt(variance + eps)).type_as(x) * weight + bias


def by_projection(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Centre by a matrix, then divide by the root mean square."""
    d = x.shape[-1]
    centre = torch.eye(d, device=x.device) - torch.full((d, d), 1 / d, device=x.device)
    y = torch.einsum("...d,de->...e", x.float(), centre)
    squares = torch.einsum("...d,...d->...", y, y).unsqueeze(-1)
    return torch.addcmul(bias.float(), weight.float(), y / (squares / d + eps) ** 0.5).to(x.dtype)


def vector_by_vector(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    rows = []
    for row in x.reshape(-1, x.size(-1)).to(torch.float32):
        distances = row - row.sum() / len(row)
        variance = torch.dot(distances, distances) / len(row)
        rows.append(distances / torch.sqrt(variance + eps) * weight + bias)
    return torch.stack(rows).view(x.shape).to(dtype=x.dtype)


def cast_before_gain(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    normalised = standardise(x.double(), (-1,), eps).to(x.dtype)
    return weight * normalised + bias


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
        "Mean and variance are computed in float32 when x is in half precision; the result comes "
        "back in the dtype of x. Whether gain and bias are applied before or after the cast is up "
        "to you.",
        "weight and bias come in the dtype of x. x may have any number of axes. A mean of 2000 "
        "beside a deviation of 1 must do no harm.",
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
        one_pass,
        statistics_detached,
        on_the_cpu(layer_norm),
        always_float32(layer_norm),
        cut_from_autograd(layer_norm),
        changed_in_place(layer_norm),
    ),
    alternatives=(by_var_mean, by_projection, vector_by_vector, cast_before_gain),
    forbidden=READY_MADE,
)
