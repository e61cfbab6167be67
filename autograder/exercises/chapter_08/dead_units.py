"""Exercise: units that ReLU silences on every token.

Out of scope: units that are nearly silent. The numbers are small integers, so that sums are exact
in any order and "exactly 0" means it.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import linear

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_08 import CHAPTER
from autograder.inputs import described, sizes
from autograder.slips import changed_in_place, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere, in_dtypes
from autograder.wire import call
from solutions.activations import dead_units

Sizes = dict[str, int]


def _integers(rng: Generator, low: int, high: int, axes: str, of: Sizes) -> Tensor:
    shape = [of[letter] for letter in axes.split()]
    return torch.randint(low, high + 1, shape, generator=rng).float()


def _axes(of: Sizes) -> str:
    return " ".join(letter for letter in of if letter != "F")


def _layer(rng: Generator, of: Sizes) -> tuple[Tensor, Tensor, Tensor]:
    """Draw x and w_in, and give the inputs to ReLU without a bias, one row for each token."""
    x, w_in = _integers(rng, -3, 3, _axes(of), of), _integers(rng, -2, 2, "F D", of)
    return x, w_in, (x @ w_in.T).reshape(-1, of["F"])


def _called(x: Tensor, w_in: Tensor, b_in: Tensor, of: Sizes, note: str) -> Trial:
    words = f"{described('x', _axes(of), of)}, {described('w_in', 'F D', of)}, {note}"
    return Trial(call(x, w_in, b_in), words, of, "F")


def _trial(rng: Generator, of: Sizes, tops: Tensor) -> Trial:
    """Choose the biases so that each unit's largest input to ReLU is as given."""
    x, w_in, inputs = _layer(rng, of)
    note = f"largest inputs to ReLU {tops.int().tolist()}"
    return _called(x, w_in, tops - inputs.amax(0), of, note)


def _mixed(rng: Generator, of: Sizes, low: int, high: int) -> Tensor:
    """Draw largest inputs of both kinds: the first unit is dead, the last is not."""
    tops = _integers(rng, low, high, "F", of)
    tops[0], tops[-1] = low, high
    return tops


def _drawn(rng: Generator, tokens: str = "B L", low: int = -2, high: int = 2) -> Trial:
    of = sizes(rng, f"{tokens} D F".strip())
    return _trial(rng, of, _mixed(rng, of, low, high))


def both_kinds(rng: Generator) -> Iterator[Trial]:
    for _ in range(2):
        of = sizes(rng, "L D F")
        tops = 4 * _mixed(rng, of, 0, 1) - 2
        yield _trial(rng, of, tops)


def a_single_token(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "L D F")
    yield _trial(rng, of, torch.ones(of["F"]))
    yield _trial(rng, of, 3 * _mixed(rng, of, 0, 1) - 2)


def a_silent_token(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "L D F")
    x, w_in, inputs = _layer(rng, of)
    yield _called(x, w_in, -1 - inputs.amin(0), of, "smallest inputs to ReLU -1")


def exactly_zero(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "L D F")
    yield _trial(rng, of, _mixed(rng, of, 0, 1))


def batches(rng: Generator) -> Iterator[Trial]:
    for tokens in ("B L", "", "X B L"):
        yield _drawn(rng, tokens)


def all_or_none(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "L D F")
    for top in (-1.0, 1.0):
        yield _trial(rng, of, torch.full((of["F"],), top))


def special_sizes(rng: Generator) -> Iterator[Trial]:
    for single in "LDF":
        of = sizes(rng, "L D F") | {single: 1}
        yield _trial(rng, of, _mixed(rng, of, -1, 1))
    of = dict.fromkeys("LDF", 4)
    yield _trial(rng, of, _mixed(rng, of, -1, 1))


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng))


def kept(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


CASES = (
    Case("dead units are found, and no others", both_kinds, values, weight=3),
    Case("one token is enough to keep a unit alive", a_single_token, values, weight=2),
    Case("a token that leaves it silent does not kill a unit", a_silent_token, values),
    Case("a unit that reaches exactly 0 is dead", exactly_zero, values),
    Case("works with no token axis and with several", batches, values, weight=2),
    Case("all may be dead, or none", all_or_none, values),
    Case("works where sizes are equal, or 1", special_sizes, values),
    Case("works in every dtype", dtypes, values),
    Case("nothing that was given is changed", kept, inputs_kept),
    Case("works on whatever device the tensors are on", devices, values),
)


def _inputs(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    return linear(x, w_in, b_in).reshape(-1, len(b_in))


def zero_alive(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """A unit whose largest input is exactly 0 is called alive. ReLU gives 0 there, and torch's
    gradient at 0 is 0, too: nothing reaches the unit.
    """
    return (_inputs(x, w_in, b_in) < 0).all(0)


def sometimes_silent(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """A unit is called dead if *some* token leaves it silent. That is its work: it is dead only if
    every token does.
    """
    return (_inputs(x, w_in, b_in) <= 0).any(0)


def on_average(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """You look at a unit's mean input. One token far above 0 keeps a unit alive, whatever the
    others do.
    """
    return _inputs(x, w_in, b_in).mean(0) <= 0


def alive(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """True and False are exchanged: True should mark the dead units."""
    return ~dead_units(x, w_in, b_in)


def first_axis_alone(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """Only the first axis is reduced: with a batch you get a table for each position. All axes but
    the last hold tokens.
    """
    return (linear(x, w_in, b_in) <= 0).all(0)


def last_axis(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """You ask for each token whether all units are silent. Asked is for each unit whether all
    tokens leave it silent.
    """
    return (linear(x, w_in, b_in) <= 0).all(-1)


def bias_forgotten(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """The biases are not added. They are what kills most units."""
    return dead_units(x, w_in, torch.zeros_like(b_in))


def bias_subtracted(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """The bias is taken for a threshold and subtracted. It is added, as in nn.Linear."""
    return dead_units(x, w_in, -b_in)


def bias_alone(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """You look at the bias alone. A unit with a negative bias fires for tokens that match it."""
    return b_in <= 0


def not_transposed(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """w_in has one row for each unit, (F, D), as nn.Linear keeps it. What has to be done before the
    rows of x can be multiplied by it?
    """
    return dead_units(x @ w_in, torch.eye(len(b_in)), b_in)


def counted(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """You return how many units are dead. Asked is which."""
    return dead_units(x, w_in, b_in).sum()


def listed(x: Tensor, w_in: Tensor, b_in: Tensor) -> Any:
    """You return the numbers of the dead units. Asked is True or False for every unit."""
    return dead_units(x, w_in, b_in).nonzero().flatten()


def as_numbers(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """The answer is made of numbers, 0 and 1. It should be of dtype bool: what does a comparison
    give?
    """
    return dead_units(x, w_in, b_in).to(x.dtype)


def rarely_alive(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """You return for each unit the share of tokens that leave it silent. Dead means all of them."""
    return (_inputs(x, w_in, b_in) <= 0).float().mean(0)


def by_maximum(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    highest = torch.einsum("...d,fd->...f", x, w_in).flatten(0, -2) if x.ndim > 1 else None
    highest = (w_in @ x)[None] if highest is None else highest
    return highest.amax(dim=0).add(b_in).le(0)


def by_activation(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    active = torch.relu(linear(x, w_in, b_in))
    while active.ndim > 1:
        active = active.sum(dim=0)
    return active == 0


def by_gradient(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """A unit is dead where its bias gets no gradient."""
    bias = b_in.detach().clone().requires_grad_()
    (slope,) = torch.autograd.grad(torch.relu(linear(x, w_in, bias)).sum(), bias)
    return slope == 0


def unit_by_unit(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    rows = [~((x * w + b_in.new_zeros(())).sum(-1) + b > 0).any() for w, b in zip(w_in, b_in)]  # noqa: B905
    return torch.stack(rows)


EXERCISE = Exercise(
    solution=dead_units,
    chapter=CHAPTER,
    title="Dead units",
    points=3,
    minutes=8,
    difficulty=2,
    statement=(
        "Which hidden units of a ReLU layer does a batch of tokens leave silent altogether? Their "
        "weights get no gradient from it. You are given the tokens and the expansion, weights and "
        "biases; the answer says for each unit whether it is dead."
    ),
    example=(
        "Two tokens of width 1, the numbers 1 and 2, and three units. Unit 0 has weight 1 and gets "
        "1 and 2: alive. Unit 1 has weight -1 and gets -1 and -2: dead. Unit 2 has weight 1 and "
        "bias -2 and gets -1 and 0. ReLU gives 0 for both: dead."
    ),
    conventions=(
        "A unit is dead if its input to ReLU is 0 or less for every token, in all axes of x but "
        "the last. Exactly 0 counts as silent, since ReLU's gradient there is 0 in torch.",
        "w_in has the layout of nn.Linear, one row for each unit: (F, D).",
        "The result is of dtype bool and shape (F,); True is dead.",
    ),
    hints=(
        "First the inputs to ReLU, one for each token and unit: (..., F).",
        "How do you bring all tokens to one axis, whether x has none, one or three before D?",
        "Then one comparison, and one question to a whole axis: do all ...?",
    ),
    cases=CASES,
    mistakes=(
        zero_alive,
        sometimes_silent,
        on_average,
        alive,
        first_axis_alone,
        last_axis,
        bias_forgotten,
        bias_subtracted,
        bias_alone,
        not_transposed,
        counted,
        listed,
        as_numbers,
        rarely_alive,
        on_the_cpu(dead_units),
        changed_in_place(dead_units),
    ),
    alternatives=(by_maximum, by_activation, by_gradient, unit_by_unit),
)
