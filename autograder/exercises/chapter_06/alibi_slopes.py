"""Exercise: how steeply each head forgets, also where their number is no power of 2."""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import values
from autograder.exercises.chapter_06 import CHAPTER
from autograder.inputs import integer
from autograder.spec import Case, Exercise, Trial
from autograder.wire import call
from solutions.alibi import alibi_slopes

Slopes = tuple[float, ...]


def _trial(heads: int) -> Trial:
    return Trial(call(heads), f"heads = {heads}")


def eight(rng: Generator) -> Iterator[Trial]:
    yield _trial(8)


def powers(rng: Generator) -> Iterator[Trial]:
    for power in torch.randperm(5, generator=rng)[:2].tolist():
        yield _trial((2, 4, 16, 32, 64)[power])


def others(rng: Generator) -> Iterator[Trial]:
    yield _trial(12)
    yield _trial(integer(rng, 17, 30))
    yield _trial(integer(rng, 5, 7))


def one_more(rng: Generator) -> Iterator[Trial]:
    yield _trial((5, 9, 17)[integer(rng, 0, 2)])
    yield _trial((7, 15, 31)[integer(rng, 0, 2)])


def few(rng: Generator) -> Iterator[Trial]:
    yield _trial(1)
    yield _trial(3)


def many(rng: Generator) -> Iterator[Trial]:
    yield _trial(integer(rng, 65, 111))
    yield _trial(112)
    yield _trial(128)
    yield _trial(integer(rng, 129, 200))


CASES = (
    Case("eight heads have slopes from one half to 1 in 256", eight, values),
    Case("other powers of two", powers, values),
    Case("numbers of heads that are no power of two", others, values, weight=2),
    Case("one head more, or less, than a power of two", one_more, values),
    Case("one head, and three", few, values),
    Case("as many heads as in large models", many, values),
)


def _sequence(heads: int, first: int = 1) -> Slopes:
    return tuple(2.0 ** (-8 * i / heads) for i in range(first, heads + first))


def _smaller(heads: int) -> int:
    return 1 << (heads.bit_length() - 1)


def plain_formula(heads: int) -> Slopes:
    """You use 2 to the power -8i/h for every number of heads. The paper's text allows that, but the
    authors' code, and models that follow it, fill up the slopes of a power of 2.
    """
    return _sequence(heads)


def first_is_one(heads: int) -> Slopes:
    """The heads are counted from 0, so the first slope is 1. Count from 1: of eight heads the first
    has 1/2.
    """
    smaller = _smaller(heads)
    extra = _sequence(2 * smaller, first=0)[0::2]
    return _sequence(smaller, first=0) + extra[: heads - smaller]


def extra_from_zero(heads: int) -> Slopes:
    """The slopes that fill up are the second, fourth, sixth of the larger sequence, which you have
    already. Take the first, third, fifth.
    """
    smaller = _smaller(heads)
    return _sequence(smaller) + _sequence(2 * smaller)[1::2][: heads - smaller]


def extra_in_a_row(heads: int) -> Slopes:
    """You fill up with neighbours from the larger sequence. Take every second slope of it."""
    smaller = _smaller(heads)
    return _sequence(smaller) + _sequence(2 * smaller)[: heads - smaller]


def extra_last(heads: int) -> Slopes:
    """You fill up from the end of the larger sequence. Start with its first."""
    smaller, more = _smaller(heads), heads - _smaller(heads)
    odd = _sequence(2 * smaller)[0::2]
    return _sequence(smaller) + odd[len(odd) - more :]


def extra_first(heads: int) -> Slopes:
    """The slopes that fill up come first. The power of 2 comes first."""
    smaller = _smaller(heads)
    return alibi_slopes(heads)[smaller:] + alibi_slopes(smaller)


def put_in_order(heads: int) -> Slopes:
    """The slopes are sorted. Those that fill up stay at the end, as in the published code."""
    return tuple(sorted(alibi_slopes(heads), reverse=True))


def from_the_larger(heads: int) -> Slopes:
    """You take the first of the larger power's slopes. Start with all of the smaller power's."""
    return _sequence(2 * _smaller(heads) if heads != _smaller(heads) else heads)[:heads]


def powers_filled_up(heads: int) -> Slopes:
    """A power of 2 is treated like any other number: the slopes of half as many heads, filled up.
    It needs no filling up: its own sequence is complete, and falls from head to head.
    """
    smaller = _smaller(heads - 1) if heads > 1 else 1
    return _sequence(smaller) + _sequence(2 * smaller)[0::2][: heads - smaller]


def filled_with_fewer(heads: int) -> Slopes:
    """The slopes that fill up are those of a model with as many heads as are missing. They come
    from the next larger power of 2, however many are missing.
    """
    more = heads - _smaller(heads)
    return _sequence(_smaller(heads)) + (filled_with_fewer(more) if more else ())


def smaller_alone(heads: int) -> Slopes:
    """There are fewer slopes than heads."""
    return _sequence(_smaller(heads))


def halving(heads: int) -> Slopes:
    """Each slope is half of the one before, whatever the number of heads. Only eight heads do that:
    the last one has 1/256 in every case.
    """
    return tuple(2.0**-i for i in range(1, heads + 1))


def upside_down(heads: int) -> Slopes:
    """The slopes rise. Head 0 is the steepest."""
    return alibi_slopes(heads)[::-1]


def negative(heads: int) -> Slopes:
    """Your slopes are negative. Here they are positive; the minus comes with the distance."""
    return tuple(-slope for slope in alibi_slopes(heads))


def exponents_alone(heads: int) -> Slopes:
    """You return the exponents. The slopes are powers of 2."""
    return tuple(math.log2(slope) for slope in alibi_slopes(heads))


def inverted(heads: int) -> Slopes:
    """The exponent has the wrong sign: all slopes are above 1."""
    return tuple(1 / slope for slope in alibi_slopes(heads))


def of_e(heads: int) -> Slopes:
    """You take powers of e. The slopes are powers of 2."""
    return tuple(math.exp(math.log2(slope)) for slope in alibi_slopes(heads))


def by_recursion(heads: int) -> list[float]:
    """As in much published code: first and ratio are equal."""
    if math.log2(heads).is_integer():
        first = 2 ** (-8 / heads)
        return [first * first**i for i in range(heads)]
    power = 2 ** math.floor(math.log2(heads))
    return by_recursion(power) + by_recursion(2 * power)[::2][: heads - power]


def as_tensor(heads: int) -> Tensor:
    power = 2 ** int(math.log2(heads))
    slopes = torch.pow(2.0, -8.0 / power * torch.arange(1, power + 1))
    if power < heads:
        odd = torch.arange(1, 1 + 2 * (heads - power), 2)
        slopes = torch.cat([slopes, torch.pow(2.0, -4.0 / power * odd)])
    return slopes


def with_loop(heads: int) -> Slopes:
    power = 1
    while power * 2 <= heads:
        power *= 2
    found = []
    for head in range(heads):
        i = head + 1 if head < power else head - power + 0.5
        found.append(0.5 ** (8 * i / power))
    return tuple(found)


def from_the_larger_power(heads: int) -> Slopes:
    """As in MPT's code: every second slope, then those between."""
    power = 1
    while power < heads:
        power *= 2
    slopes = [0.5 ** (8 * (i + 1) / power) for i in range(power)]
    return tuple(slopes if power == heads else [*slopes[1::2], *slopes[::2]][:heads])


def in_double(heads: int) -> Tensor:
    power = 1 << (heads.bit_length() - 1)
    first = torch.exp2(-8 * torch.arange(1, power + 1).double() / power)
    between = torch.exp2(-4 * torch.arange(1, 2 * power, 2).double() / power)
    return torch.cat([first, between[: heads - power]])


EXERCISE = Exercise(
    solution=alibi_slopes,
    chapter=CHAPTER,
    title="How steeply a head forgets",
    points=2,
    minutes=6,
    difficulty=2,
    statement=(
        "Return the slope of each head in ALiBi. For powers of 2 it is a geometric sequence; for "
        "other numbers of heads follow the authors' published code, which fills up the sequence of "
        "the next smaller power of 2."
    ),
    example=(
        "Three heads. The next smaller power of 2 is 2, with slopes 2^-4 = 0.0625 and 2^-8 = "
        "0.00390625. The next larger one is 4, with 2^-2, 2^-4, 2^-6 and 2^-8. One is missing: the "
        "first of these, 0.25, goes to the end."
    ),
    conventions=(
        "Heads are counted from 1 in the formula: eight heads have 1/2, 1/4, ..., 1/256.",
        "Twelve heads have these eight, and then the first, third, fifth and seventh of the slopes "
        "for sixteen. Nothing is sorted.",
        "Slopes are positive, in float32 or better. A tuple, a list or a vector will do.",
    ),
    hints=(
        "First write it for powers of 2 alone, and try it with 8.",
        "The largest power of 2 that is not above h: from its logarithm, or by doubling.",
        "A slice with step 2 takes the first, third, fifth ... of a list; another slice takes as "
        "many as are missing.",
    ),
    cases=CASES,
    mistakes=(
        plain_formula,
        first_is_one,
        extra_from_zero,
        extra_in_a_row,
        extra_last,
        extra_first,
        put_in_order,
        from_the_larger,
        powers_filled_up,
        filled_with_fewer,
        smaller_alone,
        halving,
        upside_down,
        negative,
        exponents_alone,
        inverted,
        of_e,
    ),
    alternatives=(by_recursion, as_tensor, with_loop, from_the_larger_power, in_double),
)
