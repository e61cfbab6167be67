"""Exercise: layer normalisation as a module.

Out of scope: a module without bias.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Generator, Tensor, nn

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_07 import CHAPTER, READY_MADE
from autograder.exercises.chapter_07 import layer_norm as function
from autograder.exercises.chapter_07._draws import (
    far_off,
    fresh_modules,
    in_training,
    mixed_dtypes,
    on_module,
    two_calls,
)
from autograder.slips import always_float32, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Implementation, Trial
from autograder.variations import backward, elsewhere
from solutions.norms import LayerNorm, layer_norm

NAMES = ("weight", "bias")


def _as_modules(trials: Iterator[Trial]) -> Iterator[Trial]:
    return (on_module(trial, NAMES) for trial in trials)


def vectors(rng: Generator) -> Iterator[Trial]:
    one, other = _as_modules(function.vectors(rng))
    yield one
    yield in_training(other)


def fresh(rng: Generator) -> Iterator[Trial]:
    yield from fresh_modules(rng)


def small_numbers(rng: Generator) -> Iterator[Trial]:
    yield from _as_modules(function.small_numbers(rng))


def equal_numbers(rng: Generator) -> Iterator[Trial]:
    yield from _as_modules(function.equal_numbers(rng))


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield from _as_modules(function.other_ranks(rng))


def half_precision(rng: Generator) -> Iterator[Trial]:
    yield from _as_modules(function.half_precision(rng))


def large_mean_in_half(rng: Generator) -> Iterator[Trial]:
    yield from _as_modules(function.half_precision_of_large_means(rng))


def float32_weights(rng: Generator) -> Iterator[Trial]:
    yield from mixed_dtypes(rng)


def precision(rng: Generator) -> Iterator[Trial]:
    yield from _as_modules(function.precision(rng))


def special_sizes(rng: Generator) -> Iterator[Trial]:
    yield from _as_modules(function.special_sizes(rng))


def several_calls(rng: Generator) -> Iterator[Trial]:
    (trial, *_) = vectors(rng)
    yield two_calls(trial, far_off(rng, "L B D", trial.sizes))


def gradients(rng: Generator) -> Iterator[Trial]:
    (trial, *_) = vectors(rng)
    yield backward(trial, rng)


def devices(rng: Generator) -> Iterator[Trial]:
    (trial, *_) = vectors(rng)
    yield elsewhere(trial)


CASES = (
    Case("vectors are normalised, scaled and shifted", vectors, values, weight=2),
    Case("before training the factors are 1 and the shifts 0", fresh, values),
    Case("the eps of the constructor is used", small_numbers, values),
    Case("a vector of equal numbers becomes the bias", equal_numbers, values, tolerance=1e-3),
    Case("works with one vector and with any axes before it", other_ranks, values),
    Case("works where sizes are 1 or equal", special_sizes, values),
    Case("half precision holds large and small numbers", half_precision, values),
    Case("half precision holds a large mean", large_mean_in_half, values),
    Case("the dtype of x is kept where weights are float32", float32_weights, values),
    Case("float64 keeps its digits", precision, values),
    Case("the second call does not depend on the first", several_calls, values),
    Case("the gradient reaches x, weight and bias", gradients, values),
    Case("x itself is not changed", vectors, inputs_kept),
    Case("works on whatever device module and x are on", devices, values),
)

OF_THE_FUNCTION = (
    function.sample_variance,
    function.eps_outside,
    function.sample_and_outside,
    function.no_eps,
    function.own_eps,
    function.rms_instead,
    function.no_gain,
    function.no_bias,
    function.one_plus_weight,
    function.bias_first,
    function.over_tokens,
    function.over_batch,
    function.over_axis_one,
    function.over_example,
    function.in_half,
    function.mean_in_half,
    function.narrowed,
)


def _as_module(mistake: Implementation) -> Implementation:
    """Make a module that does what a wrong function does."""

    def forward(self: Any, x: Tensor) -> Any:
        return mistake(x, self.weight, self.bias, self.eps)

    members = {"forward": forward, "__doc__": mistake.__doc__}
    made: Implementation = type(mistake.__name__, (LayerNorm,), members)
    return made


class FactorsOfZero(LayerNorm):
    """A new module multiplies by 0: everything that comes out is 0. With which factors and shifts
    does a norm only normalise?
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__(d_model, eps)
        nn.init.zeros_(self.weight)


class ShiftsOfOne(LayerNorm):
    """A new module adds 1 to every entry. The shifts begin at 0."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__(d_model, eps)
        nn.init.ones_(self.bias)


class RandomFactors(LayerNorm):
    """The factors of a new module are random numbers. They begin at 1."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__(d_model, eps)
        nn.init.normal_(self.weight)


class EpsOfRMSNorm(LayerNorm):
    """Where no eps is given, your module takes 1e-6. Here it is 1e-5; both are in use."""

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__(d_model, eps)


class DtypeOfWeights(LayerNorm):
    """The result has the dtype of the weights. New weights are float32; x may be in half precision,
    and the result has the dtype of x.
    """

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).to(self.weight.dtype)


class NoiseInTraining(LayerNorm):
    """In training mode your module does something else than in use. A norm takes its numbers from
    the vector before it, and does the same in both.
    """

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(nn.functional.dropout(x, 0.1, self.training))


class NoGradient(LayerNorm):
    """weight and bias get no gradient, so they would never learn: they are buffers, or made with
    `requires_grad=False`, or `detach` or `.data` cuts them off.
    """

    def forward(self, x: Tensor) -> Tensor:
        return layer_norm(x, self.weight.detach(), self.bias.detach(), self.eps)


class OneFactor(LayerNorm):
    """There is one factor and one shift for all entries. Each of the d_model entries has its own,
    so `weight` and `bias` have the shape (d_model,).
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__(1, eps)


class NotLearned(nn.Module):
    """weight and bias are plain tensors: a module learns, moves and saves what is wrapped in
    `nn.Parameter`.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.bias, self.eps = torch.ones(d_model), torch.zeros(d_model), eps

    def forward(self, x: Tensor) -> Tensor:
        return layer_norm(x, self.weight, self.bias, self.eps)


class OtherNames(nn.Module):
    """What is learned is called `gamma` and `beta`, as in the paper. Here the names are `weight`
    and `bias`, as in torch.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(d_model))
        self.beta = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return layer_norm(x, self.gamma, self.beta, self.eps)


class FirstStatistics(LayerNorm):
    """Mean and variance of the first call are used again in later ones. Take them anew from every
    vector.
    """

    kept: tuple[Tensor, Tensor] | None = None

    def forward(self, x: Tensor) -> Tensor:
        inside = function.wide(x)
        if self.kept is None or self.kept[0].shape[:-1] != x.shape[:-1]:
            self.kept = inside.mean(-1, keepdim=True), inside.var(-1, correction=0, keepdim=True)
        y = (inside - self.kept[0]) / (self.kept[1] + self.eps).sqrt()
        return (y * self.weight + self.bias).to(x.dtype)


class ByHand(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.epsilon = eps
        self.weight = nn.Parameter(torch.full((d_model,), 1.0))
        self.bias = nn.Parameter(torch.full((d_model,), 0.0))

    def forward(self, x: Tensor) -> Tensor:
        inside = x.to(torch.promote_types(x.dtype, torch.float32))
        distance = inside - inside.mean(dim=-1, keepdim=True)
        y = distance * torch.rsqrt(distance.pow(2).mean(dim=-1, keepdim=True) + self.epsilon)
        return y.to(x.dtype) * self.weight.to(x.dtype) + self.bias.to(x.dtype)


class ResetParameters(nn.Module):
    """Empty parameters that a method fills, as torch's own modules do."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.bias = nn.Parameter(torch.empty(d_model))
        self.weight = nn.Parameter(torch.empty(d_model))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.ones_(self.weight)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        variance, mean = torch.var_mean(x.double(), dim=-1, correction=0, keepdim=True)
        y = (x - mean) / torch.sqrt(variance + self.eps)
        return torch.addcmul(self.bias, self.weight, y.to(self.weight.dtype)).to(x.dtype)


class EpsAsBuffer(nn.Module):
    """eps moves with the weights, and is not saved with them."""

    eps: Tensor

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.register_buffer("eps", torch.tensor(eps), persistent=False)
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        y = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        variance, mean = torch.var_mean(y, dim=-1, correction=0, keepdim=True)
        scaled = (y - mean) * torch.rsqrt(variance + self.eps) * self.weight
        return scaled.add(self.bias).type_as(x)


EXERCISE = Exercise(
    solution=LayerNorm,
    chapter=CHAPTER,
    title="Layer normalisation as a module",
    points=2,
    minutes=6,
    difficulty=2,
    statement=(
        "A module that owns its factors and shifts and uses them in `layer_norm`. The checks copy "
        "numbers into `weight` and `bias` and compare results; one looks at a new module. torch's "
        "ready-made norms are not allowed."
    ),
    example=(
        "`LayerNorm(2)` has two factors, both 1, and two shifts, both 0. Given (1, 3), with mean 2 "
        "and variance 1, it returns (-1, 1)."
    ),
    conventions=(
        "What is learned is called `weight` and `bias`, d_model numbers each, as in torch's own "
        "module; nothing else is learned. Every module has its own.",
        "The weight is the factor itself, and begins at 1. eps is 1e-5 unless another is given.",
        "Everything else is as in `layer_norm`: biased variance, eps inside the root, at least "
        "float32 inside, the dtype of x outside, also where the weights are float32.",
        "In training mode a norm does the same as in use.",
    ),
    hints=(
        "Two parameters and one number are made in the constructor; `forward` is one call.",
        "`nn.Parameter` makes a learned tensor of an ordinary one.",
    ),
    cases=CASES,
    mistakes=(
        *map(_as_module, OF_THE_FUNCTION),
        FactorsOfZero,
        ShiftsOfOne,
        RandomFactors,
        EpsOfRMSNorm,
        DtypeOfWeights,
        NoiseInTraining,
        NoGradient,
        OneFactor,
        NotLearned,
        OtherNames,
        FirstStatistics,
        on_the_cpu(LayerNorm),
        always_float32(LayerNorm),
        cut_from_autograd(LayerNorm),
    ),
    alternatives=(ByHand, ResetParameters, EpsAsBuffer),
    forbidden=READY_MADE,
)
