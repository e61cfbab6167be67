"""Exercise: the exact GELU.

Out of scope: infinite entries; the tanh form is an error that costs one behaviour, a heavy one.
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_08 import CHAPTER
from autograder.exercises.chapter_08._draws import Drawn, any_shape, drawn, of_size, small
from autograder.inputs import uniform
from autograder.slips import (
    always_float32,
    changed_in_place,
    cut_from_autograd,
    float64_narrowed,
    on_the_cpu,
)
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.activations import gelu

EITHER_FORM = 4e-3  # so wide that the tanh form passes: a case of its own tells the two apart
HALVES = (torch.float16, torch.bfloat16)


def _trial(one: Drawn) -> Trial:
    x, words, of = one
    return Trial(call(x), words, of, " ".join(of))


def ordinary(rng: Generator) -> Iterator[Trial]:
    yield _trial(drawn(rng))
    yield _trial(drawn(rng))


def _in_float64(trial: Trial) -> Iterator[Trial]:
    return in_dtypes(trial, (torch.float64,))


def _over_the_range(rng: Generator) -> Drawn:
    """Draw numbers all along from -5 to 5: each approximation is off somewhere."""
    x = torch.linspace(-5, 5, 41) + uniform(rng, -0.1, 0.1)
    return x, f"x (L,) = (41,), from {x[0]:.2f} to {x[-1]:.2f}", {"L": 41}


def exact(rng: Generator) -> Iterator[Trial]:
    for one in (of_size(rng, 2.4), _over_the_range(rng)):
        yield _trial(one)
        yield from _in_float64(_trial(one))
    yield from _in_float64(_trial(of_size(rng, 1.4)))


def far_out(rng: Generator) -> Iterator[Trial]:
    for size in (8.0, 1e4):
        yield _trial(of_size(rng, size))
    x, words, of = of_size(rng, 5.5)
    yield from _in_float64(_trial((-x.abs(), f"{words}, all of them negative", of)))
    x, words, of = of_size(rng, 1.0)
    yield _trial((1e50 * x.double(), f"{words}, times 1e50, float64", of))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(drawn(rng)), rng)


def gradients_far_out(rng: Generator) -> Iterator[Trial]:
    for size in (100.0, 1e4):
        yield backward(_trial(of_size(rng, size)), rng)


def shapes(rng: Generator) -> Iterator[Trial]:
    yield from map(_trial, any_shape(rng))


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(small(rng)), HALVES)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(drawn(rng)))


CASES = (
    Case(
        "x is multiplied by the probability below it",
        ordinary,
        values,
        weight=2,
        tolerance=EITHER_FORM,
    ),
    Case("it is the exact form, not an approximation", exact, values, weight=5),
    Case("large numbers stay, very negative ones vanish", far_out, values),
    Case("the gradient is right on both sides of 0", gradients, values, tolerance=EITHER_FORM),
    Case("the gradient stays finite far from 0", gradients_far_out, values),
    Case("works for any shape", shapes, values, tolerance=EITHER_FORM),
    Case("the dtype of x is kept", dtypes, values),
    Case("x itself is not changed", ordinary, inputs_kept, tolerance=EITHER_FORM),
    Case("works on whatever device x is on", devices, values),
)


def _below(x: Tensor) -> Tensor:
    return (1 + torch.erf(x / math.sqrt(2))) / 2


def tanh_form(x: Tensor) -> Tensor:
    """This is the tanh approximation, the form of GPT-2. It is up to 0.0005 away from the exact
    GELU that is asked for here, most near 2.7: see `torch.erf`.
    """
    return F.gelu(x, approximate="tanh")


def sigmoid_form(x: Tensor) -> Tensor:
    """This is the sigmoid approximation, x times the sigmoid of 1.702 x. It is up to 0.02 away from
    the exact GELU that is asked for here.
    """
    return x * torch.sigmoid(1.702 * x)


def probability_alone(x: Tensor) -> Tensor:
    """This is the probability, between 0 and 1, and not yet multiplied by x: at 0 you give one
    half, where GELU is 0.
    """
    return _below(x)


def density(x: Tensor) -> Tensor:
    """x is multiplied by the density of the normal distribution, the bell curve. Asked is the
    probability of all that lies below x.
    """
    return x * torch.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def no_root(x: Tensor) -> Tensor:
    """The error function gets x itself. It belongs to a normal distribution of variance one half,
    and yours has variance 1: by what is x to be divided first?
    """
    return x * (1 + torch.erf(x)) / 2


def root_multiplied(x: Tensor) -> Tensor:
    """The error function gets x times the root of 2. A wider distribution asks for a division."""
    return x * (1 + torch.erf(x * math.sqrt(2))) / 2


def not_halved(x: Tensor) -> Tensor:
    """Twice too large: 1 plus the error function runs from 0 to 2, a probability from 0 to 1."""
    return 2 * gelu(x)


def no_one(x: Tensor) -> Tensor:
    """The error function runs from -1 to 1. Something has to be added before it is halved, or the
    gate is negative for negative x.
    """
    return x * torch.erf(x / math.sqrt(2)) / 2


def mirrored(x: Tensor) -> Tensor:
    """The gate is the probability of what lies *above* x: it closes where it should open."""
    return x * _below(-x)


def relu(x: Tensor) -> Tensor:
    """This is ReLU. GELU has no corner, and is a little below 0 for negative x."""
    return torch.relu(x)


def never_negative(x: Tensor) -> Tensor:
    """Negative results are cut off. GELU goes down to -0.17 on its left side."""
    return torch.relu(gelu(x))


def logistic(x: Tensor) -> Tensor:
    """This is Swish (SiLU): the gate is the sigmoid. Here it is the normal distribution's."""
    return F.silu(x)


def standardised(x: Tensor) -> Tensor:
    """x is standardised before its probability is taken, so an entry depends on the others. The
    distribution is fixed: mean 0, variance 1.
    """
    return x * _below((x - x.mean()) / (x.std(correction=0) + 1e-6))


def shortcut(x: Tensor) -> Tensor:
    """Beyond 3 and -3 the curve is replaced by ReLU. It is close to it there, but not the same: at
    -3 it is still -0.004.
    """
    return torch.where(x.abs() > 3, x.relu(), gelu(x))


def gate_cut(x: Tensor) -> Tensor:
    """The values are right, but the gate carries no gradient: `math.erf`, `.item()` or `detach`
    makes a plain number of it. The gate moves with x, so it has a derivative, too.
    """
    return x * _below(x).detach()


def by_complement(x: Tensor) -> Tensor:
    return 0.5 * x * torch.erfc(-x * 0.7071067811865476)


def by_special(x: Tensor) -> Tensor:
    result: Tensor = torch.special.ndtr(x).mul(x)
    return result


def by_distribution(x: Tensor) -> Tensor:
    standard: Any = torch.distributions.Normal(torch.zeros_like(x), torch.ones_like(x))
    result: Tensor = x * standard.cdf(x)
    return result


def as_average(x: Tensor) -> Tensor:
    """Half of x, and a half that bends."""
    linear = x / 2
    return linear + linear * torch.erf(x * torch.tensor(0.5).sqrt().item())


def in_float64(x: Tensor) -> Tensor:
    wide = x.double()
    return (wide * torch.erfc(-wide / math.sqrt(2.0)) / 2).to(x.dtype)


def from_relu(x: Tensor) -> Tensor:
    """ReLU, and what the corner loses on both sides."""
    far = x.abs()
    lost: Tensor = far * torch.special.erfc(far / math.sqrt(2)) / 2
    return x.relu() - lost


EXERCISE = Exercise(
    solution=gelu,
    chapter=CHAPTER,
    title="GELU",
    points=2,
    minutes=6,
    difficulty=1,
    statement=(
        "The activation of BERT, and with an approximation that of GPT-2: each number times the "
        "probability that a standard normal number lies below it. Write it with the error "
        "function, `torch.erf`; torch's ready-made GELU is not allowed."
    ),
    example=(
        "84.13 % of all standard normal numbers are below 1, so 1 becomes 0.8413. And 15.87 % are "
        "below -1, so -1 becomes -0.1587. The results are 1 apart, as they must be: the two "
        "probabilities add up to 1."
    ),
    conventions=(
        "The exact form. The tanh approximation, which some models use, is up to 0.0005 away: at "
        "2.7 the exact value is 2.69064, the approximate one 2.69110.",
        "Any shape, without any number too; every number by itself; same shape, dtype and device "
        "as x. float64 is computed in float64.",
    ),
    hints=(
        "`torch.erf(z)` runs from -1 to 1. How do you make it run from 0 to 1?",
        "The error function belongs to a normal distribution with variance one half, yours has "
        "variance 1. By what do you divide x so that it fits the narrower one?",
        "Check three points: 0 stays 0, 10 stays 10, -10 becomes 0.",
    ),
    cases=CASES,
    mistakes=(
        tanh_form,
        sigmoid_form,
        probability_alone,
        density,
        no_root,
        root_multiplied,
        not_halved,
        no_one,
        mirrored,
        relu,
        never_negative,
        logistic,
        standardised,
        shortcut,
        gate_cut,
        on_the_cpu(gelu),
        always_float32(gelu),
        float64_narrowed(gelu),
        cut_from_autograd(gelu),
        changed_in_place(gelu),
    ),
    alternatives=(
        by_complement,
        by_special,
        by_distribution,
        as_average,
        in_float64,
        from_relu,
    ),
    forbidden=("torch.nn.functional.gelu", "torch.nn.GELU", "torch._C._nn.gelu"),
)
