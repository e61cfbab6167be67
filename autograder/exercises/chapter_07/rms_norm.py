"""Exercise: RMS normalisation with a given gain.

Out of scope: modules (the exercises after it), gains stored as differences from 1.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_07 import CHAPTER, READY_MADE
from autograder.exercises.chapter_07 import layer_norm as layer
from autograder.exercises.chapter_07._draws import drawn_sizes, gain
from autograder.exercises.chapter_07.layer_norm import wide
from autograder.inputs import described, normal
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import in_dtypes
from autograder.wire import Call, call
from solutions.norms import rms_norm


def _no_bias(trial: Trial) -> Trial:
    """Make a trial of RMS normalisation from one of layer normalisation."""
    one = trial.request
    x, weight, _, *eps = one.calls[0].args
    request = replace(one, calls=(Call((x, weight, *eps)),))
    return Trial(request, trial.inputs, trial.sizes, trial.returns)


def vectors(rng: Generator) -> Iterator[Trial]:
    yield from map(_no_bias, layer.vectors(rng))


def small_numbers(rng: Generator) -> Iterator[Trial]:
    yield from map(_no_bias, layer.small_numbers(rng))


def special_vectors(rng: Generator) -> Iterator[Trial]:
    yield from map(_no_bias, layer.equal_numbers(rng))


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield from map(_no_bias, layer.other_ranks(rng))


def special_sizes(rng: Generator) -> Iterator[Trial]:
    yield from map(_no_bias, layer.special_sizes(rng))


def half_precision(rng: Generator) -> Iterator[Trial]:
    yield from map(_no_bias, layer.half_precision(rng))


def long_sum(rng: Generator) -> Iterator[Trial]:
    """Draw vectors so long that a sum in bfloat16 stops growing."""
    of = {"B": 2, "D": 600}
    x, weight = normal(rng, "B D", of), gain(rng, of)
    trial = Trial(call(x, weight), described("x", "B D", of), of, "B D")
    yield from in_dtypes(trial, (torch.bfloat16,))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield from map(_no_bias, layer.gradients(rng))


def gradients_at_zero(rng: Generator) -> Iterator[Trial]:
    yield from map(_no_bias, layer.zero_variance(rng))


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from map(_no_bias, layer.dtypes(rng))


def precision(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    x, weight = normal(rng, "B L D", of).double() * 1e25, gain(rng, of).double()
    words = f"{described('x', 'B L D', of)}, float64, entries near 1e25"
    yield Trial(call(x, weight), words, of, "B L D")


def devices(rng: Generator) -> Iterator[Trial]:
    yield from map(_no_bias, layer.devices(rng))


CASES = (
    Case("vectors get root mean square 1, then their factors", vectors, values, weight=3),
    Case("eps is added to the mean square, inside the root", small_numbers, values, weight=2),
    Case("zeros stay zeros, equal numbers keep their sign", special_vectors, values),
    Case("works with one vector and with any axes before it", other_ranks, values),
    Case("works where sizes are 1 or equal", special_sizes, values),
    Case("half precision holds large and small numbers", half_precision, values),
    Case("half precision holds long vectors", long_sum, values),
    Case("the gradient reaches x and weight", gradients, values),
    Case("the gradient is right at zeros", gradients_at_zero, values, tolerance=1e-3),
    Case("the dtype of x is kept", dtypes, values),
    Case("float64 keeps its range", precision, values),
    Case("nothing that was given is changed", vectors, inputs_kept),
    Case("works on whatever device x is on", devices, values),
)


def _square(x: Tensor) -> Tensor:
    return wide(x).square().mean(-1, keepdim=True)


def multiplied(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """You multiply by the root mean square, or divide by `rsqrt`, which is one over a root already.
    A vector twice as long should give the same result.
    """
    return (wide(x) * (_square(x) + eps).sqrt() * weight).to(x.dtype)


def mean_subtracted(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """The mean is subtracted first: this is layer normalisation without a bias. RMS normalisation
    leaves the mean in.
    """
    centred = wide(x) - wide(x).mean(-1, keepdim=True)
    return rms_norm(centred, weight, eps).to(x.dtype)


def by_deviation(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """You divide by the standard deviation, which is about distances from the mean. The root mean
    square takes the entries as they are.
    """
    variance = wide(x).var(-1, correction=0, keepdim=True)
    return (wide(x) / (variance + eps).sqrt() * weight).to(x.dtype)


def eps_outside(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """eps is added after the root. It belongs to the mean square, before it: for entries near 0.001
    that is another function.
    """
    return (wide(x) / (_square(x).sqrt() + eps) * weight).to(x.dtype)


def no_eps(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """eps is not used, and 0 / 0 is NaN: a vector of zeros should stay one."""
    return (wide(x) / _square(x).sqrt() * weight).to(x.dtype)


def own_eps(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """The eps that is given has no effect: 1e-6 is written into the formula."""
    return rms_norm(x, weight)


def eps_of_layer_norm(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """Where no eps is given you take 1e-5. Here it is 1e-6, as in the first line of the function;
    both are in use.
    """
    return rms_norm(x, weight, eps)


def length_one(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """The squares are added up but not divided by D: every vector gets length 1 instead of root
    mean square 1.
    """
    squares = wide(x).square().sum(-1, keepdim=True)
    return (wide(x) / (squares + eps).sqrt() * weight).to(x.dtype)


def no_root(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """You divide by the mean square and not by its root."""
    return (wide(x) / (_square(x) + eps) * weight).to(x.dtype)


def absolute_values(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """You divide by the mean of the absolute values. Square, take the mean, take the root."""
    return (wide(x) / (wide(x).abs().mean(-1, keepdim=True) + eps) * weight).to(x.dtype)


def mean_before_square(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """You take the mean and then square it. RMS is read from the back: square, mean, root."""
    square = wide(x).mean(-1, keepdim=True).square()
    return (wide(x) / (square + eps).sqrt() * weight).to(x.dtype)


def no_gain(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """The weight is not used."""
    return (wide(x) / (_square(x) + eps).sqrt()).to(x.dtype)


def one_plus_weight(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """You multiply by 1 + weight. Some models store gains like that (Gemma); here the weight is the
    factor itself.
    """
    return rms_norm(x, 1 + weight, eps)


def gain_first(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """The factors are applied before the size is taken, and count in it. Normalise first."""
    scaled = wide(x) * weight
    return (scaled / (_square(scaled) + eps).sqrt()).to(x.dtype)


def over_tokens(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """The mean square is taken over the tokens of a sequence. Each token is normalised by itself,
    over its own D entries.
    """
    square = wide(x).square().mean(-2, keepdim=True)
    return (wide(x) / (square + eps).sqrt() * weight).to(x.dtype)


def over_axis_one(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """The axis is given by the number 0 or 1, counted from the front. x may have any number of
    axes, and the features are the last one.
    """
    square = wide(x).square().mean(min(1, x.ndim - 1), keepdim=True)
    return (wide(x) / (square + eps).sqrt() * weight).to(x.dtype)


def over_everything(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """There is one mean square for all of x. Every vector has its own: which axis holds its
    entries?
    """
    return (wide(x) / (wide(x).square().mean() + eps).sqrt() * weight).to(x.dtype)


def in_half(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """The entries are squared in the dtype of x. In float16 the square of 300 is infinite and that
    of 0.0001 is 0: go to float32 before you square, and cast the result back.
    """
    return (x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * weight).to(x.dtype)


def mean_square_in_half(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """The mean square is taken in float32, but is cast back to the dtype of x before its root. In
    float16 there is nothing above 65,504 and little below 0.0001: cast the result alone.
    """
    return (x * torch.rsqrt(_square(x).to(x.dtype) + eps) * weight).to(x.dtype)


def summed_in_bfloat16(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """The squares are added up one by one in bfloat16. The sum stops growing once it is some 256
    times as large as what is added: go to float32 before you square.
    """
    inside = x if x.dtype == torch.bfloat16 else wide(x)
    total = torch.zeros_like(inside[..., 0])
    for entry in inside.unbind(-1):
        total = total + entry**2
    inverse = torch.rsqrt(total / x.shape[-1] + eps)
    return (inside * inverse.unsqueeze(-1) * weight).to(x.dtype)


def narrowed(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """All is computed in float32, float64 as well, which has room for larger numbers. Only half
    precision needs a wider dtype.
    """
    return rms_norm(x.float(), weight, eps).to(x.dtype)


def dtype_of_weight(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """In half precision, with float32 weights, the result is float32: a product takes the wider
    dtype of the two. Cast back to the dtype of x at the very end.
    """
    return (wide(x) * torch.rsqrt(_square(x) + eps)).to(x.dtype) * weight


def size_detached(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """The numbers are right, but the root mean square is cut off from x, as if it were a constant.
    Gradients must pass through it too.
    """
    return (wide(x) / (_square(x) + eps).sqrt().detach() * weight).to(x.dtype)


def weight_detached(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """The numbers are right, but no gradient reaches the weight: `detach`, `.data` or
    `torch.tensor` cuts it off, and it would never learn.
    """
    return rms_norm(x, weight.detach(), eps)


def root_squared(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """The numbers are right. But a root that is taken before eps is added has an infinite
    derivative at 0, so a vector of zeros gets NaN as its gradient, though the root is squared
    again. Add eps to the mean square itself.
    """
    return (wide(x) / (_square(x).sqrt() ** 2 + eps).sqrt() * weight).to(x.dtype)


def divided_by_d_minus_one(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """The sum of squares is divided by D - 1. That is how a variance is estimated from a sample;
    here it is a mean of D squares.
    """
    square = wide(x).square().sum(-1, keepdim=True) / (x.shape[-1] - 1)
    return (wide(x) / (square + eps).sqrt() * weight).to(x.dtype)


def by_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    d = x.size(-1)
    length = torch.linalg.vector_norm(x.double(), dim=-1, keepdim=True)
    scale: Tensor = (length.square() / d + eps).sqrt()
    return (x / scale).to(x.dtype) * weight.to(x.dtype)


def cast_before_gain(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    inside = x.to(torch.promote_types(x.dtype, torch.float32))
    inside = inside * torch.rsqrt(inside.pow(2).mean(-1, keepdim=True) + eps)
    return (inside.type_as(x) * weight).type_as(x)


def by_einsum(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    y = x.to(torch.float64)
    squares = torch.einsum("...d,...d->...", y, y) / y.shape[-1]
    inverse = torch.pow(squares + eps, -0.5)
    scaled: Tensor = torch.einsum("...d,...,d->...d", y, inverse, weight.to(y.dtype))
    return scaled.to(x.dtype)


def vector_by_vector(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    rows = [
        row / ((row**2).sum() / len(row) + eps) ** 0.5 * weight.double()
        for row in x.double().reshape(-1, len(weight))
    ]
    return torch.stack(rows).reshape_as(x).to(x.dtype)


def one_entry_more(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """Let eps be one more entry of the vector, and divide by its length."""
    d = x.shape[-1]
    y = x.double()
    last = torch.full_like(y[..., :1], math.sqrt(d * eps))
    length: Tensor = torch.linalg.vector_norm(torch.cat([y, last], -1), dim=-1, keepdim=True)
    return (y * weight * math.sqrt(d) / length).to(x.dtype)


def by_deviation_and_mean(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """The mean square is the variance plus the squared mean."""
    y = x if x.dtype == torch.float64 else x.float()
    variance, mean = torch.var_mean(y, -1, correction=0, keepdim=True)
    return (y / (variance + mean * mean + eps).sqrt() * weight).to(x.dtype)


EXERCISE = Exercise(
    solution=rms_norm,
    chapter=CHAPTER,
    title="RMS normalisation",
    points=2,
    minutes=6,
    difficulty=2,
    statement=(
        "Divide every vector of x by its root mean square: the root of the mean of its squared "
        "entries, plus eps. Then multiply each entry by its `weight`. No mean is subtracted. "
        "torch's ready-made norms are not allowed."
    ),
    example=(
        "The squares of (1, 1, 5, 3) are 1, 1, 25 and 9, their mean is 9, its root 3. With the "
        "weight (3, 6, 3, 3) and eps = 0 the result is (1, 2, 5, 3)."
    ),
    conventions=(
        "eps is added to the mean square before the root is taken: with a mean square of 3 and "
        "eps = 1 you divide by 2. Where no eps is given it is 1e-6.",
        "The weight is the factor itself: 1 leaves an entry as it is. It comes in the dtype of x "
        "or in float32; the result has the dtype of x in either case.",
        "The mean square is computed in float32 when x is in half precision, otherwise in the "
        "dtype of x. Whether the gain is applied before or after casting back is up to you.",
        "x may have any number of axes; the last one holds the entries of a vector. A vector of "
        "zeros stays one, and its gradient is finite.",
    ),
    hints=(
        "Read the name from the back: first the square, then the mean, then the root.",
        "`torch.rsqrt` is one over the root: multiply by it, or divide by `sqrt`.",
        "Which step overflows in float16? Change the dtype before it, and back at the end.",
    ),
    cases=CASES,
    mistakes=(
        multiplied,
        mean_subtracted,
        by_deviation,
        eps_outside,
        no_eps,
        own_eps,
        eps_of_layer_norm,
        length_one,
        no_root,
        absolute_values,
        mean_before_square,
        no_gain,
        one_plus_weight,
        gain_first,
        over_tokens,
        over_axis_one,
        over_everything,
        in_half,
        mean_square_in_half,
        summed_in_bfloat16,
        narrowed,
        dtype_of_weight,
        size_detached,
        weight_detached,
        root_squared,
        divided_by_d_minus_one,
        on_the_cpu(rms_norm),
        always_float32(rms_norm),
        cut_from_autograd(rms_norm),
        changed_in_place(rms_norm),
    ),
    alternatives=(
        by_norm,
        cast_before_gain,
        by_einsum,
        vector_by_vector,
        one_entry_more,
        by_deviation_and_mean,
    ),
    forbidden=READY_MADE,
)
