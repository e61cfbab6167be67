"""Exercise: the width at which a gated layer costs what a plain one does."""

import math
from collections.abc import Iterator
from fractions import Fraction

from torch import Generator

from autograder.compare import values, whole_number
from autograder.exercises.chapter_08 import CHAPTER
from autograder.inputs import integer
from autograder.spec import Case, Exercise, Trial
from autograder.wire import call
from solutions.feedforward import matched_hidden_width


def _trial(d_ff: int, multiple: int | None = None) -> Trial:
    if multiple is None:
        return Trial(call(d_ff), f"d_ff = {d_ff}")
    return Trial(call(d_ff, multiple), f"d_ff = {d_ff}, multiple = {multiple}")


def it_fits(rng: Generator) -> Iterator[Trial]:
    for multiple in (8, 64):
        yield _trial(3 * multiple * integer(rng, 2, 20), multiple)


def rounding(rng: Generator) -> Iterator[Trial]:
    """Draw twice where the next multiple is nearer, twice where it is the farther one."""
    for share in (0.2, 0.4, 0.6, 0.8):
        multiple = 2 * integer(rng, 10, 40)
        target = multiple * (integer(rng, 3, 9) + share)
        yield _trial(round(target * 3 / 2), multiple)


def no_multiple(rng: Generator) -> Iterator[Trial]:
    for rest in range(3):
        d_ff = 3 * integer(rng, 10, 400) + rest
        yield _trial(d_ff)
        yield _trial(d_ff, 1)
        yield _trial(3 * integer(rng, 50_000, 60_000) + rest)


def just_above(rng: Generator) -> Iterator[Trial]:
    """Draw widths of which two thirds are a multiple and one third, or two thirds."""
    even, odd = 2 * integer(rng, 4, 40), 2 * integer(rng, 4, 40) + 1
    blocks = 2 * integer(rng, 1, 4) + 1
    for multiple, times in ((even, blocks), (odd, blocks), (256, integer(rng, 2500, 3000))):
        yield _trial(3 * multiple * times // 2 + 1, multiple)


def large_multiple(rng: Generator) -> Iterator[Trial]:
    d_ff = integer(rng, 10, 90)
    yield _trial(d_ff, d_ff)
    yield _trial(d_ff, 4 * d_ff)


def models(rng: Generator) -> Iterator[Trial]:
    for multiple in (64, 128, 256):
        yield _trial(4 * 64 * integer(rng, 8, 128), multiple)
    yield Trial(call(16384, multiple=256), "d_ff = 16384, multiple = 256")


CASES = (
    Case("two thirds, where they are a multiple already", it_fits, values),
    Case("rounds up to a multiple, however far it is", rounding, values, weight=2),
    Case("without a multiple, rounds up to a whole number", no_multiple, values),
    Case("the width is never less than two thirds", just_above, values),
    Case("one multiple at least", large_multiple, values),
    Case("gives the widths of real models", models, values),
    Case("the width is an int, which a layer takes as its size", it_fits, whole_number),
)


def rounded_down(d_ff: int, multiple: int = 1) -> int:
    """The width is rounded down, so that the gated layer is the smaller one. Here it is rounded
    up.
    """
    return multiple * (2 * d_ff // (3 * multiple))


def nearest(d_ff: int, multiple: int = 1) -> int:
    """The nearest multiple is taken, as some courses do. Here it is the next one that is not
    smaller.
    """
    return multiple * round(Fraction(2 * d_ff, 3 * multiple))


def truncated_first(d_ff: int, multiple: int = 1) -> int:
    """Two thirds are cut to a whole number before they are rounded up, as in Llama's own code: the
    width can come out just below two thirds. Round once.
    """
    return multiple * math.ceil(2 * d_ff // 3 / multiple)


def rounded_first(d_ff: int, multiple: int = 1) -> int:
    """Two thirds are rounded to the nearest whole number before the multiple is taken: the width
    can come out just below two thirds. Round once.
    """
    return multiple * math.ceil(round(Fraction(2 * d_ff, 3)) / multiple)


def as_float(d_ff: int, multiple: int = 1) -> float:
    """The width is right but no int: 2048.0, say, or a tensor. A layer takes its size as an int."""
    return float(matched_hidden_width(d_ff, multiple))


def not_rounded(d_ff: int, multiple: int = 1) -> float:
    """The width is about two thirds, but not rounded up to a multiple: it is no whole number, or
    too small.
    """
    return 2 * d_ff / 3


def multiple_ignored(d_ff: int, multiple: int = 1) -> int:
    """The result is a whole number, but no multiple of what was asked."""
    return matched_hidden_width(d_ff)


def blocks_alone(d_ff: int, multiple: int = 1) -> int:
    """You return how many multiples it takes. Asked is the width."""
    return matched_hidden_width(d_ff, multiple) // multiple


def always_one_more(d_ff: int, multiple: int = 1) -> int:
    """Where two thirds are a multiple already, you go on to the next one."""
    return multiple * (2 * d_ff // (3 * multiple) + 1)


def half(d_ff: int, multiple: int = 1) -> int:
    """d_ff is halved, as if there were four matrices. There are three instead of two."""
    return multiple * math.ceil(Fraction(d_ff, 2 * multiple))


def wider(d_ff: int, multiple: int = 1) -> int:
    """The width is made larger, by three halves. A third matrix has to be paid for by a smaller
    width.
    """
    return multiple * math.ceil(Fraction(3 * d_ff, 2 * multiple))


def of_the_model(d_ff: int, multiple: int = 1) -> int:
    """You take 8/3 of d_ff. That factor is for d_model, of which d_ff is already 4 times."""
    return multiple * math.ceil(Fraction(8 * d_ff, 3 * multiple))


def not_reduced(d_ff: int, multiple: int = 1) -> int:
    """d_ff is rounded to a multiple, but not reduced to two thirds."""
    return multiple * math.ceil(d_ff / multiple)


def rounded_too_early(d_ff: int, multiple: int = 1) -> int:
    """d_ff is rounded up first and two thirds of that are taken: the result is no multiple."""
    return math.ceil(Fraction(2 * not_reduced(d_ff, multiple), 3))


def one_third(d_ff: int, multiple: int = 1) -> int:
    """This is one third of d_ff. Two matrices of the old width have to become three of the new."""
    return multiple * math.ceil(Fraction(d_ff, 3 * multiple))


def by_ceil(d_ff: int, multiple: int = 1) -> int:
    return math.ceil(2 * d_ff / 3 / multiple) * multiple


def by_adding(d_ff: int, multiple: int = 1) -> int:
    step = 3 * multiple
    return (2 * d_ff + step - 1) // step * multiple


def by_divmod(d_ff: int, multiple: int = 1) -> int:
    blocks, left = divmod(2 * d_ff, 3 * multiple)
    return (blocks + (left > 0)) * multiple


def by_search(d_ff: int, multiple: int = 1) -> int:
    width = multiple
    while 3 * width < 2 * d_ff:
        width += multiple
    return width


def by_remainder(d_ff: int, multiple: int = 1) -> int:
    width = math.ceil(d_ff * 2 / 3)
    return width + -width % multiple


EXERCISE = Exercise(
    solution=matched_hidden_width,
    chapter=CHAPTER,
    title="The width of equal cost",
    points=2,
    minutes=6,
    difficulty=2,
    statement=(
        "A plain layer has two matrices of D x d_ff numbers, a gated one three. At which hidden "
        "width do both have the same number of weights? Hardware likes multiples of a power of "
        "two: round up to a multiple of `multiple`."
    ),
    example=(
        "Two thirds of 3072 are 2048: 3 x D x 2048 = 2 x D x 3072. Two thirds of 16384 are "
        "10922.67. In multiples of 256 that is 42.67, so the width is 43 x 256 = 11008."
    ),
    conventions=(
        "Rounded up, once: the smallest multiple that is not less than two thirds of d_ff. In "
        "multiples of 128 the nearest one would be 10880; here it is 11008. Llama's code cuts two "
        "thirds to a whole number first; for its own widths that makes no difference.",
        "No biases. Without a multiple, the smallest whole number that is not less.",
        "The width is an int: 2048, not 2048.0.",
    ),
    hints=(
        "How many multiples fit into two thirds of d_ff, and when do you need one more?",
        "Round once, at the end. Rounding in between can take you below two thirds.",
    ),
    cases=CASES,
    mistakes=(
        rounded_down,
        nearest,
        truncated_first,
        rounded_first,
        as_float,
        not_rounded,
        multiple_ignored,
        blocks_alone,
        always_one_more,
        half,
        wider,
        of_the_model,
        not_reduced,
        rounded_too_early,
        one_third,
    ),
    alternatives=(by_ceil, by_adding, by_divmod, by_search, by_remainder),
)
