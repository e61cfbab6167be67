"""Exercise: the angles p base^(-2i/width), which sinusoids and rotations both start from."""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_06 import CHAPTER
from autograder.inputs import described, integer, sizes
from autograder.slips import changed_in_place, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere
from autograder.wire import call
from solutions.positions import position_angles

BASE = 10_000.0


def _trial(positions: Tensor, axes: str, of: dict[str, int], base: float | None = None) -> Trial:
    words = f"{described('positions', axes, of)} up to {positions.max().item():g}"
    words += f", width = {2 * of['K']}" + (f", base = {base}" if base else "")
    options = {"base": base} if base else {}
    return Trial(call(positions, 2 * of["K"], **options), words, of, f"{axes} K".strip())


def _places(rng: Generator, axes: str, of: dict[str, int], highest: int = 100) -> Tensor:
    shape = [of[letter] for letter in axes.split()]
    return torch.randint(2, highest, shape, generator=rng)


def _fractions(rng: Generator, places: Tensor) -> Tensor:
    """Draw less than a half for each: whichever way one rounds, the same is lost."""
    return 0.1 + 0.3 * torch.rand(places.shape, generator=rng)


def one_text(rng: Generator) -> Iterator[Trial]:
    for _ in range(2):
        of = sizes(rng, "L K")
        of["K"] += 1
        yield _trial(_places(rng, "L", of), "L", of)


def other_bases(rng: Generator) -> Iterator[Trial]:
    for base in (500_000.0, 100.5 + integer(rng, 1, 50)):
        of = sizes(rng, "L K")
        yield _trial(_places(rng, "L", of), "L", of, base)


def from_zero(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "L K")
    yield _trial(torch.arange(of["L"]), "L", of)


def other_ranks(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L K")
    yield _trial(_places(rng, "B L", of), "B L", of)
    yield _trial(_places(rng, "", of), "", of)
    of = {"B": 2, "H": 3, "L": 4, "K": 5}
    yield _trial(_places(rng, "B H L", of), "B H L", of)


def not_in_order(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L K")
    yield _trial(_places(rng, "L B", of).mT, "B L", of)


def between(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "L K")
    places = _places(rng, "L", of)
    yield _trial(places + _fractions(rng, places), "L", of)


def backwards(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "L K")
    yield _trial(-_places(rng, "L", of), "L", of)
    yield _trial(_places(rng, "L", of) - 50.5, "L", of)


def far(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "L K")
    yield _trial(_places(rng, "L", of, 200_000), "L", of)


def small(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "L")
    yield _trial(_places(rng, "L", of), "L", {**of, "K": 1})
    of = sizes(rng, "K")
    yield _trial(_places(rng, "L", {"L": 1}), "L", {"L": 1, **of})


def kept(rng: Generator) -> Iterator[Trial]:
    yield from between(rng)
    yield from one_text(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    (trial, _) = one_text(rng)
    yield elsewhere(trial)


CASES = (
    Case("hand by hand, the frequencies fall as they should", one_text, values, weight=2),
    Case("the first positions of a text", from_zero, values),
    Case("works with another base", other_bases, values),
    Case("works for positions of any shape", other_ranks, values),
    Case("works where the positions are not in order in memory", not_in_order, values),
    Case("works for positions between the integers", between, values),
    Case("works for positions below zero", backwards, values),
    Case("works for positions in the thousands", far, values),
    Case("works for a single hand and a single position", small, values),
    Case("the positions themselves are not changed", kept, inputs_kept),
    Case("works on whatever device the positions are on", devices, values),
)


def _hands(positions: Tensor, width: int) -> Tensor:
    return torch.arange(width // 2, device=positions.device)


def _turned(positions: Tensor, frequencies: Tensor) -> Tensor:
    return positions.unsqueeze(-1) * frequencies


def exponent_doubled(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """The exponent grows twice as fast as it should. If your counter already runs 0, 2, 4, it is
    the 2i of the formula.
    """
    return _turned(positions, base ** (-4 * _hands(positions, width) / width))


def two_forgotten(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """The exponent grows half as fast as it should: for hand i it is 2i over the width."""
    return _turned(positions, base ** (-_hands(positions, width) / width))


def hands_from_one(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """Your hands are counted from 1, as in some papers. Here the first is hand 0, and it turns by 1
    for each position.
    """
    return _turned(positions, base ** (-2 * (_hands(positions, width) + 1) / width))


def to_the_base(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """Your slowest hand turns by exactly 1 / base: you divide by one less than the number of hands,
    as some libraries do. Here hand i has the exponent 2i over the width, which ends earlier.
    """
    last = max(width // 2 - 1, 1)
    return _turned(positions, base ** (-_hands(positions, width) / last))


def faster_and_faster(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """The hands get faster from one to the next: the exponent has the wrong sign."""
    return _turned(positions, base ** (2 * _hands(positions, width) / width))


def one_by_column(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """There is an angle for each column. Sine and cosine of a pair share one, so there are half as
    many.
    """
    return position_angles(positions, width, base).repeat_interleave(2, dim=-1)


def every_column_its_own(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """Each column has a frequency of its own. There is one for each pair of columns."""
    columns = torch.arange(width, device=positions.device)
    return _turned(positions, base ** (-columns / width))


def written_twice(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """The angles come twice, side by side. Code that pairs halves of a vector wants that; here each
    hand comes once.
    """
    return torch.cat([position_angles(positions, width, base)] * 2, dim=-1)


def base_ignored(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """The base is always 10,000. Use the argument."""
    return position_angles(positions, width)


def one_too_far(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """Every position is taken for the next one. Use the positions as they are given."""
    return position_angles(positions + 1, width, base)


def counted_anew(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """You count the positions yourself, from 0. They are given: in the middle of a text they do not
    start there.
    """
    if positions.ndim == 0:
        return position_angles(torch.zeros_like(positions), width, base)
    count = torch.arange(positions.shape[-1], device=positions.device)
    return position_angles(count.expand(positions.shape), width, base)


def whole_division(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """All hands but none are slowed down: the division in the exponent drops its fraction. `//`
    does that, `/` does not.
    """
    return _turned(positions, base ** (-(2 * _hands(positions, width) // width)).float())


def evenly_spaced(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """The frequencies fall by equal steps. They should fall by equal factors: the counter belongs
    into an exponent.
    """
    return _turned(positions, 1 - (1 - 1 / base) * 2 * _hands(positions, width) / width)


def wavelengths(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """The angles are too small by 2 pi. Hand 0 turns by 1 radian for each position, not by a full
    turn in one, or in 2 pi times as many.
    """
    return position_angles(positions, width, base) / (2 * math.pi)


def frequencies_alone(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """You return how fast the hands turn. How far have they turned at each position?"""
    return position_angles(torch.ones((), device=positions.device), width, base)


def sines_of_them(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """You return sines. Here the angles are asked; the sines come in the next exercise."""
    return position_angles(positions, width, base).sin()


def hands_first(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """Rows and columns are exchanged: the hands are the last axis."""
    return position_angles(positions, width, base).movedim(-1, 0)


def rounded(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """Positions lose their fraction. They may lie between the integers, when a text is squeezed
    into the range of a shorter one.
    """
    return position_angles(positions.long(), width, base)


def never_below_zero(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """A position below 0 loses its sign. It is a step back: its hands turn the other way."""
    return position_angles(positions.abs(), width, base)


def within_one_turn(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """The angles are reduced to one turn. Sines would not see the difference, but asked is how far
    each hand has turned.
    """
    return position_angles(positions, width, base) % (2 * math.pi)


def in_half_precision(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """The positions pass through bfloat16, which has no odd integers above 256: neighbours get the
    same angle. float32 has them all.
    """
    return position_angles(positions.bfloat16().float(), width, base)


def by_logarithm(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """exp(-log), as in much code."""
    step = math.log(base) / width
    speeds = torch.exp(torch.arange(0, width, 2, device=positions.device).float() * -step)
    return positions[..., None].float() * speeds


def hand_by_hand(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    return torch.stack([positions / base ** (2 * i / width) for i in range(width // 2)], -1)


def inverted(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    slowness = torch.pow(base, torch.arange(0, width, 2, device=positions.device) / width)
    return torch.einsum("...,k->...k", positions.to(torch.float32), 1.0 / slowness)


def in_double(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    i = torch.arange(width // 2, dtype=torch.float64, device=positions.device)
    return (positions.double().unsqueeze(-1) * base ** (-2 * i / width)).float()


EXERCISE = Exercise(
    solution=position_angles,
    chapter=CHAPTER,
    title="The hands of a clock",
    points=1,
    minutes=5,
    difficulty=1,
    statement=(
        "Every position is read off a clock with width / 2 hands. Return the angle of each hand at "
        "each position. Sinusoidal codes and rotary positions are both made of these angles."
    ),
    example=(
        "For width 4 and base 10,000 there are two hands. Hand 0 turns by 1 for each position, "
        "hand 1 by 10,000 to the power -2/4, which is 1/100. At position 3 they stand at 3 and "
        "0.03; at position 0, both at 0."
    ),
    conventions=(
        "Hands are counted from 0: of width 8, the exponents are 0, -2/8, -4/8 and -6/8.",
        "One angle for each pair of columns, in radians, not reduced to one turn. The hands are "
        "the last axis.",
        "Positions have any shape, also none; they may be integers or float32, lie between the "
        "integers or below 0. The result is float32, on the device of the positions. The width is "
        "even.",
    ),
    hints=(
        "First how fast each hand turns: a vector with one entry for each hand.",
        "A new last axis on the positions makes the product give every pair of the two.",
        "`torch.arange(0, n, 2)` counts 0, 2, 4 ... below n.",
    ),
    cases=CASES,
    mistakes=(
        exponent_doubled,
        two_forgotten,
        hands_from_one,
        to_the_base,
        faster_and_faster,
        one_by_column,
        every_column_its_own,
        written_twice,
        base_ignored,
        one_too_far,
        counted_anew,
        whole_division,
        evenly_spaced,
        wavelengths,
        frequencies_alone,
        sines_of_them,
        hands_first,
        rounded,
        never_below_zero,
        within_one_turn,
        in_half_precision,
        on_the_cpu(position_angles),
        changed_in_place(position_angles),
    ),
    alternatives=(by_logarithm, hand_by_hand, inverted, in_double),
)
