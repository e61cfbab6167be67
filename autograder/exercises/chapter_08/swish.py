"""Exercise: Swish with a factor.

Out of scope: a factor that is learned.
"""

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
from solutions.activations import swish


def _trial(one: Drawn, beta: float | None = None) -> Trial:
    x, words, of = one
    if beta is None:
        return Trial(call(x), words, of, " ".join(of))
    return Trial(call(x, beta), f"{words}, beta = {beta}", of, " ".join(of))


def usual(rng: Generator) -> Iterator[Trial]:
    yield _trial(drawn(rng))
    yield _trial(drawn(rng), 1.0)


def sharper(rng: Generator) -> Iterator[Trial]:
    yield _trial(drawn(rng), uniform(rng, 0.2, 0.8))
    x, words, of = drawn(rng)
    beta = uniform(rng, 1.5, 3.0)
    yield Trial(call(x, beta=beta), f"{words}, beta = {beta}", of, "B L D")
    yield from _bending_near_2(rng, 1)


def _bending_near_2(rng: Generator, sign: int) -> Iterator[Trial]:
    """Draw small and large factors, with numbers for which the gate is half open."""
    for beta in (0.002, 5.0, 200.0):
        yield _trial(of_size(rng, 2 / beta), sign * beta)


def not_positive(rng: Generator) -> Iterator[Trial]:
    yield _trial(drawn(rng), 0)
    yield _trial(drawn(rng), uniform(rng, -2.0, -0.5))
    yield from _bending_near_2(rng, -1)


def far_out(rng: Generator) -> Iterator[Trial]:
    yield _trial(of_size(rng, 1e4))
    yield _trial(of_size(rng, 20.0), 10)
    x, words, of = of_size(rng, 1e4)
    yield _trial((-x.abs(), f"{words}, all of them negative", of))
    x, words, of = of_size(rng, 1.0)
    yield _trial((1e50 * x.double(), f"{words}, times 1e50, float64", of))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(drawn(rng)), rng)
    for beta in (uniform(rng, 1.5, 3.0), 0, uniform(rng, -2.0, -0.5)):
        yield backward(_trial(drawn(rng), beta), rng)


def gradients_far_out(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(of_size(rng, 1e4)), rng)
    yield backward(_trial(of_size(rng, 30.0), 10), rng)


def shapes(rng: Generator) -> Iterator[Trial]:
    yield from map(_trial, any_shape(rng))


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(small(rng), 1.5))


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(drawn(rng), 1.5))


CASES = (
    Case("x is multiplied by its sigmoid", usual, values, weight=2),
    Case("the factor makes the gate sharper or softer", sharper, values, weight=2),
    Case("a factor of 0 halves x, a negative one turns it", not_positive, values),
    Case("numbers far from 0 stay finite", far_out, values),
    Case("the gradient is right on both sides of 0", gradients, values),
    Case("the gradient stays finite far from 0", gradients_far_out, values),
    Case("works for any shape", shapes, values),
    Case("the dtype of x is kept", dtypes, values),
    Case("x itself is not changed", sharper, inputs_kept),
    Case("works on whatever device x is on", devices, values),
)


def beta_ignored(x: Tensor, beta: float = 1.0) -> Tensor:
    """beta is never used: for every beta you give what belongs to 1."""
    return F.silu(x)


def gate_alone(x: Tensor, beta: float = 1.0) -> Tensor:
    """This is the gate, between 0 and 1. It still has to multiply x."""
    return torch.sigmoid(beta * x)


def beta_outside(x: Tensor, beta: float = 1.0) -> Tensor:
    """beta multiplies the result. It belongs inside the gate, where it makes the step steeper."""
    return beta * F.silu(x)


def beta_twice(x: Tensor, beta: float = 1.0) -> Tensor:
    """beta multiplies x inside the gate and outside as well. Far to the right the result should be
    x itself.
    """
    return F.silu(beta * x)


def beta_divides(x: Tensor, beta: float = 1.0) -> Any:
    """x is divided by beta, as by a temperature. A large beta should make the gate sharper."""
    return x * torch.sigmoid(x / beta)


def zero_is_one(x: Tensor, beta: float = 1.0) -> Tensor:
    """A beta of 0 is taken for one that was not given. 0 is a factor like any other: the gate is
    then one half everywhere.
    """
    return swish(x, beta or 1.0)


def mirrored(x: Tensor, beta: float = 1.0) -> Tensor:
    """The gate closes where it should open: look at the sign inside the exponential."""
    return x * torch.sigmoid(-beta * x)


def overflowing(x: Tensor, beta: float = 1.0) -> Tensor:
    """NaN where beta x is large: infinity divided by infinity. Which form of the sigmoid has an
    exponential in one place only? Or use `torch.sigmoid`.
    """
    powers = torch.exp(beta * x)
    return x * powers / (1 + powers)


def gradient_lost(x: Tensor, beta: float = 1.0) -> Tensor:
    """The values are right, but far to the left the gradient is NaN: an exponential overflows, and
    autograd multiplies 0 by infinity. `torch.sigmoid` knows how to avoid that.
    """
    return x / (1 + torch.exp(-beta * x))


def by_tanh(x: Tensor, beta: float = 1.0) -> Tensor:
    """The gate is tanh, which runs from -1 to 1. A gate should run from 0 to 1."""
    return x * torch.tanh(beta * x)


def normal_gate(x: Tensor, beta: float = 1.0) -> Any:
    """The gate is the normal distribution's, so that this is GELU. Here it is the sigmoid."""
    return x * torch.special.ndtr(beta * x)


def hard(x: Tensor, beta: float = 1.0) -> Tensor:
    """This is "hard swish", whose gate is made of straight lines. Asked is the sigmoid itself."""
    return x * (beta * x / 6 + 0.5).clamp(0, 1)


def relu(x: Tensor, beta: float = 1.0) -> Tensor:
    """This is ReLU, the limit for a large beta."""
    return torch.relu(x)


def added(x: Tensor, beta: float = 1.0) -> Tensor:
    """x and its gate are added. A gate multiplies."""
    return x + torch.sigmoid(beta * x)


def over_softmax(x: Tensor, beta: float = 1.0) -> Tensor:
    """The gate is a softmax over the last axis, so that an entry depends on its neighbours. Each
    number has a gate of its own, the sigmoid.
    """
    return x * torch.softmax(beta * x, -1) if x.ndim else x


def without_sign(x: Tensor, beta: float = 1.0) -> Tensor:
    """beta is taken without its sign. With a negative one the gate opens on the other side."""
    return swish(x, abs(beta))


def x_clamped(x: Tensor, beta: float = 1.0) -> Tensor:
    """x is cut off at 30 before beta multiplies it. With a small beta the gate then stops short:
    what can grow too large is the product, and `torch.sigmoid` takes that of any size.
    """
    return x * torch.sigmoid(beta * x.clamp(-30, 30))


def gate_cut(x: Tensor, beta: float = 1.0) -> Tensor:
    """The values are right, but the gate carries no gradient: `.item()`, `detach` or `.data` makes
    a plain number of it. The gate moves with x, so it has a derivative, too.
    """
    return x * torch.sigmoid(beta * x).detach()


def by_method(x: Tensor, beta: float = 1.0) -> Tensor:
    return x.mul((x * beta).sigmoid())


def by_half_tanh(x: Tensor, beta: float = 1.0) -> Tensor:
    """The sigmoid is a tanh that was moved and scaled."""
    return x * (1 + torch.tanh(beta * x / 2)) / 2


def by_softplus(x: Tensor, beta: float = 1.0) -> Tensor:
    """The sigmoid's logarithm never overflows."""
    return x * torch.exp(F.logsigmoid(beta * x))


def by_two_weights(x: Tensor, beta: float = 1.0) -> Tensor:
    """The sigmoid is a softmax over two scores, one of them 0."""
    scores = torch.stack((beta * x, torch.zeros_like(x)), dim=-1)
    return x * scores.softmax(dim=-1)[..., 0]


def by_clamped_power(x: Tensor, beta: float = 1.0) -> Tensor:
    """The exponent may be cut off where nothing is left of the gate."""
    return x / (1 + torch.exp(-(beta * x).clamp(-80, 80)))


EXERCISE = Exercise(
    solution=swish,
    chapter=CHAPTER,
    title="Swish",
    points=2,
    minutes=5,
    difficulty=1,
    statement=(
        "Multiply each number by a gate between 0 and 1, the sigmoid of beta times the number. "
        "With beta = 1 this is SiLU, the activation inside SwiGLU. Torch's ready-made SiLU is not "
        "allowed; its sigmoid is."
    ),
    example=(
        "The sigmoid of 1 is 0.7311, so 1 becomes 0.7311; that of -1 is 0.2689, so -1 becomes "
        "-0.2689. With beta = 2 the gate of 1 is the sigmoid of 2, 0.8808: the gate is wider open, "
        "but x is still 1."
    ),
    conventions=(
        "beta is one number for all entries, and stands inside the gate alone. It may be 0, which "
        "halves x, or negative; it is not learned.",
        "Any shape, without any number too; every number by itself; same shape, dtype and device "
        "as x. float64 is computed in float64.",
        "Values and gradients are finite for numbers as far out as 10,000 and -10,000.",
    ),
    hints=(
        "Which two things are multiplied?",
        "If you write the sigmoid yourself, think of exp(10000), and of what its gradient is.",
    ),
    cases=CASES,
    mistakes=(
        beta_ignored,
        gate_alone,
        beta_outside,
        beta_twice,
        beta_divides,
        zero_is_one,
        mirrored,
        overflowing,
        gradient_lost,
        by_tanh,
        normal_gate,
        hard,
        relu,
        added,
        over_softmax,
        without_sign,
        x_clamped,
        gate_cut,
        on_the_cpu(swish),
        always_float32(swish),
        float64_narrowed(swish),
        cut_from_autograd(swish),
        changed_in_place(swish),
    ),
    alternatives=(by_method, by_half_tanh, by_softplus, by_two_weights, by_clamped_power),
    forbidden=("torch.nn.functional.silu", "torch.nn.SiLU", "torch._C._nn.silu"),
)
