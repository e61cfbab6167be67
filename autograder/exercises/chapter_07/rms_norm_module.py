"""Exercise: RMS normalisation as a module.

Out of scope: gains stored as differences from 1.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Generator, Tensor, nn

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_07 import CHAPTER, READY_MADE
from autograder.exercises.chapter_07 import rms_norm as function
from autograder.exercises.chapter_07._draws import (
    far_off,
    fresh_modules,
    in_training,
    mixed_dtypes,
    on_module,
    two_calls,
)
from autograder.exercises.chapter_07.layer_norm import wide
from autograder.slips import always_float32, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Implementation, Trial
from autograder.variations import backward, elsewhere
from solutions.norms import RMSNorm, rms_norm

NAMES = ("weight",)


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


def special_vectors(rng: Generator) -> Iterator[Trial]:
    yield from _as_modules(function.special_vectors(rng))


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield from _as_modules(function.other_ranks(rng))


def half_precision(rng: Generator) -> Iterator[Trial]:
    yield from _as_modules(function.half_precision(rng))


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
    Case("vectors get root mean square 1, then their factors", vectors, values, weight=2),
    Case("before training the factors are 1", fresh, values),
    Case("the eps of the constructor is used", small_numbers, values),
    Case("zeros stay zeros, equal numbers keep their sign", special_vectors, values),
    Case("works with one vector and with any axes before it", other_ranks, values),
    Case("works where sizes are 1 or equal", special_sizes, values),
    Case("half precision holds large and small numbers", half_precision, values),
    Case("the dtype of x is kept where weights are float32", float32_weights, values),
    Case("float64 keeps its range", precision, values),
    Case("the second call does not depend on the first", several_calls, values),
    Case("the gradient reaches x and weight", gradients, values),
    Case("x itself is not changed", vectors, inputs_kept),
    Case("works on whatever device module and x are on", devices, values),
)

OF_THE_FUNCTION = (
    function.multiplied,
    function.mean_subtracted,
    function.by_deviation,
    function.eps_outside,
    function.no_eps,
    function.own_eps,
    function.length_one,
    function.no_root,
    function.no_gain,
    function.one_plus_weight,
    function.over_tokens,
    function.over_axis_one,
    function.over_everything,
    function.in_half,
    function.mean_square_in_half,
    function.narrowed,
    function.divided_by_d_minus_one,
)


def _as_module(mistake: Implementation) -> Implementation:
    """Make a module that does what a wrong function does."""

    def forward(self: Any, x: Tensor) -> Any:
        return mistake(x, self.weight, self.eps)

    members = {"forward": forward, "__doc__": mistake.__doc__}
    made: Implementation = type(mistake.__name__, (RMSNorm,), members)
    return made


class FactorsOfZero(RMSNorm):
    """A new module multiplies by 0: everything that comes out is 0. With which factors does a norm
    only normalise?
    """

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__(d_model, eps)
        nn.init.zeros_(self.weight)


class RandomFactors(RMSNorm):
    """The factors of a new module are random numbers. They begin at 1."""

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__(d_model, eps)
        nn.init.normal_(self.weight)


class EpsOfLayerNorm(RMSNorm):
    """Where no eps is given, your module takes 1e-5. Here it is 1e-6; both are in use."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__(d_model, eps)


class DtypeOfWeight(RMSNorm):
    """The result has the dtype of the weight. A new weight is float32; x may be in half precision,
    and the result has the dtype of x.
    """

    def forward(self, x: Tensor) -> Tensor:
        return function.dtype_of_weight(x, self.weight, self.eps)


class NoiseInTraining(RMSNorm):
    """In training mode your module does something else than in use. A norm takes its number from
    the vector before it, and does the same in both.
    """

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(nn.functional.dropout(x, 0.1, self.training))


class NoGradient(RMSNorm):
    """The weight gets no gradient, so it would never learn: it is a buffer, or made with
    `requires_grad=False`, or `detach` or `.data` cuts it off.
    """

    def forward(self, x: Tensor) -> Tensor:
        return rms_norm(x, self.weight.detach(), self.eps)


class WithBias(RMSNorm):
    """Your module learns a bias as well. RMS normalisation has factors alone."""

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__(d_model, eps)
        self.bias = nn.Parameter(torch.zeros(d_model))


class OneFactor(RMSNorm):
    """There is one factor for all entries. Each of the d_model entries has its own, so `weight` has
    the shape (d_model,).
    """

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__(1, eps)


class NotLearned(nn.Module):
    """weight is a plain tensor: a module learns, moves and saves what is wrapped in
    `nn.Parameter`.
    """

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight, self.eps = torch.ones(d_model), eps

    def forward(self, x: Tensor) -> Tensor:
        return rms_norm(x, self.weight, self.eps)


class OtherName(nn.Module):
    """What is learned is called `scale` in your module. Here its name is `weight`, as in torch."""

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.scale, self.eps = nn.Parameter(torch.ones(d_model)), eps

    def forward(self, x: Tensor) -> Tensor:
        return rms_norm(x, self.scale, self.eps)


class FirstSize(RMSNorm):
    """The root mean square of the first call is used again in later ones. Take it anew from every
    vector.
    """

    kept: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        inside = wide(x)
        if self.kept is None or self.kept.shape[:-1] != x.shape[:-1]:
            self.kept = inside.square().mean(-1, keepdim=True)
        return (inside / (self.kept + self.eps).sqrt() * self.weight).to(x.dtype)


class LikeLlama(nn.Module):
    """A method that normalises, and the gain after the cast."""

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.variance_epsilon = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def normalised(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)

    def forward(self, x: Tensor) -> Tensor:
        inside = x if x.dtype == torch.float64 else x.float()
        return (self.weight * self.normalised(inside).type_as(x)).type_as(x)


class ByLength(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.width, self.small = d_model, eps
        self.weight = nn.Parameter(torch.empty(d_model).fill_(1))

    def forward(self, x: Tensor) -> Tensor:
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=torch.float64)
        root = torch.sqrt(length**2 / self.width + self.small)
        return (self.weight * (x / root)).to(x.dtype)


class ByEinsum(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.full((d_model,), 1.0))

    def forward(self, x: Tensor) -> Tensor:
        inside = x.to(torch.promote_types(x.dtype, torch.float32))
        squares = torch.einsum("...d,...d->...", inside, inside) / inside.shape[-1]
        y = inside / (squares + self.eps).sqrt().unsqueeze(-1)
        return y.to(x.dtype) * self.weight.to(x.dtype)


EXERCISE = Exercise(
    solution=RMSNorm,
    chapter=CHAPTER,
    title="RMS normalisation as a module",
    points=2,
    minutes=5,
    difficulty=1,
    statement=(
        "The same for RMS normalisation: a module that owns its factors and uses them in "
        "`rms_norm`. Later chapters put it in front of every layer. torch's ready-made norms are "
        "not allowed."
    ),
    example=(
        "`RMSNorm(4)` has four factors, all 1. Given (3, -3, 3, 3), whose squares have the mean 9, "
        "it returns (1, -1, 1, 1)."
    ),
    conventions=(
        "What is learned is called `weight`, d_model numbers, as in torch's own module; nothing "
        "else is learned, and there is no bias. Every module has its own.",
        "The weight is the factor itself, and begins at 1. eps is 1e-6 unless another is given.",
        "Everything else is as in `rms_norm`: eps inside the root, at least float32 inside, the "
        "dtype of x outside, also where the weights are float32.",
        "In training mode a norm does the same as in use.",
    ),
    hints=(
        "One parameter and one number are made in the constructor; `forward` is one call.",
        "`nn.Parameter` makes a learned tensor of an ordinary one.",
    ),
    cases=CASES,
    mistakes=(
        *map(_as_module, OF_THE_FUNCTION),
        FactorsOfZero,
        RandomFactors,
        EpsOfLayerNorm,
        DtypeOfWeight,
        NoiseInTraining,
        NoGradient,
        WithBias,
        OneFactor,
        NotLearned,
        OtherName,
        FirstSize,
        on_the_cpu(RMSNorm),
        always_float32(RMSNorm),
        cut_from_autograd(RMSNorm),
    ),
    alternatives=(LikeLlama, ByLength, ByEinsum),
    forbidden=READY_MADE,
)
