"""Exercise: how many places each expert has.

Out of scope: who gets them (dispatch_slots).
"""

import math
from collections.abc import Iterator
from fractions import Fraction

from torch import Generator

from autograder.compare import values
from autograder.exercises.chapter_09 import CHAPTER
from autograder.inputs import integer
from autograder.spec import Case, Exercise, Trial
from autograder.wire import call
from solutions.routing import expert_capacity

FACTORS = (1.0, 1.25, 1.5, 2.0)  # exact in binary: no order of operations rounds them


def _trial(tokens: int, experts: int, k: int, factor: float) -> Trial:
    words = f"tokens = {tokens}, experts = {experts}, k = {k}, factor = {factor}"
    return Trial(call(tokens, experts, k, factor), words)


def rounded_up(rng: Generator) -> Iterator[Trial]:
    for factor in FACTORS:  # an eighth of a place more than a whole mean load
        yield _trial(8 * integer(rng, 6, 12) + 1, 8, 1, factor)
    yield _trial(10 * integer(rng, 1, 9) + 7, 5, 1, 1.5)  # half a token is left over


def most_of_a_place(rng: Generator) -> Iterator[Trial]:
    yield _trial(32 * integer(rng, 1, 9) + 5, 8, 1, 1.25)


def several_choices(rng: Generator) -> Iterator[Trial]:
    yield _trial(8 * integer(rng, 5, 9) + 3, 16, 3, 1.25)
    yield _trial(8 * integer(rng, 5, 9) + 5, 4, 2, 1.0)


def nothing_over(rng: Generator) -> Iterator[Trial]:
    yield _trial(8 * integer(rng, 3, 12), 8, 1, 1.0)
    yield _trial(16 * integer(rng, 3, 12), 4, 2, 1.25)
    experts = 2 * integer(rng, 2, 6) + 1  # tokens x factor alone does not come out even
    yield _trial(experts * (2 * integer(rng, 1, 4) + 1), experts, 4, 1.25)


def few_tokens(rng: Generator) -> Iterator[Trial]:
    yield _trial(integer(rng, 2, 5), 64, 1, 1.0)
    yield _trial(1, integer(rng, 3, 8), 2, 1.0)


def small_factor(rng: Generator) -> Iterator[Trial]:
    yield _trial(8 * integer(rng, 5, 9) + 3, 8, 2, 0.5)


def one_expert(rng: Generator) -> Iterator[Trial]:
    yield _trial(integer(rng, 5, 20), 1, 1, 1.0)
    yield _trial(integer(rng, 5, 20), 1, 1, 1.25)


def large_factor(rng: Generator) -> Iterator[Trial]:
    yield _trial(integer(rng, 9, 20), 2, 2, 2.0)


def large_batch(rng: Generator) -> Iterator[Trial]:
    yield _trial(2**20 + integer(rng, 1, 99), 256, 8, 1.25)


CASES = (
    Case("a part of a place is a whole one", rounded_up, values, weight=2),
    Case("most of a place is a whole one, too", most_of_a_place, values),
    Case("each token may have several choices", several_choices, values),
    Case("where it comes out even, nothing is added", nothing_over, values),
    Case("there is at least one place", few_tokens, values),
    Case("a factor below 1", small_factor, values),
    Case("a single expert has room for all", one_expert, values),
    Case("a large factor gives more places than tokens", large_factor, values),
    Case("a large batch", large_batch, values),
)


def rounded_down(tokens: int, experts: int, k: int, factor: float) -> int:
    """You round down, as some libraries do: with few tokens, experts have no places at all. Here it
    is rounded up.
    """
    return int(tokens * k * factor / experts)


def to_the_nearest(tokens: int, experts: int, k: int, factor: float) -> int:
    """You round to the nearest whole number. Here it is rounded up."""
    return round(tokens * k * factor / experts)


def not_rounded(tokens: int, experts: int, k: int, factor: float) -> float:
    """You do not round. A place is whole or not there."""
    return tokens * k * factor / experts


def one_more(tokens: int, experts: int, k: int, factor: float) -> int:
    """You add 1 after rounding down, also where nothing is left over."""
    return int(tokens * k * factor / experts) + 1


def rounded_before(tokens: int, experts: int, k: int, factor: float) -> int:
    """You round the mean load up before the factor is applied. Round once, at the end."""
    return math.ceil(math.ceil(tokens * k / experts) * factor)


def whole_load_first(tokens: int, experts: int, k: int, factor: float) -> int:
    """The mean load is cut to a whole number before the factor is applied (`//`). Round once, at
    the end.
    """
    return math.ceil(tokens * k // experts * factor)


def factor_on_tokens(tokens: int, experts: int, k: int, factor: float) -> int:
    """tokens x factor is cut to a whole number first. Round once, at the end."""
    return math.ceil(int(tokens * factor) * k / experts)


def rounded_twice(tokens: int, experts: int, k: int, factor: float) -> int:
    """tokens x factor is rounded up first, and the end once more. Round once, at the end."""
    return math.ceil(math.ceil(tokens * factor) * k / experts)


def rounded_for_each_choice(tokens: int, experts: int, k: int, factor: float) -> int:
    """You round for one choice of each token and multiply by k afterwards. Round once, at the
    end.
    """
    return k * math.ceil(tokens * factor / experts)


def choices_forgotten(tokens: int, experts: int, k: int, factor: float) -> int:
    """`k` is not used. Each token asks k experts for a place."""
    return math.ceil(tokens * factor / experts)


def divided_by_choices(tokens: int, experts: int, k: int, factor: float) -> int:
    """You divide by k. More choices need more places."""
    return math.ceil(tokens * factor / (experts * k))


def factor_forgotten(tokens: int, experts: int, k: int, factor: float) -> int:
    """`factor` is not used."""
    return math.ceil(tokens * k / experts)


def whole_factor(tokens: int, experts: int, k: int, factor: float) -> int:
    """The factor is cut to a whole number: 1.25 becomes 1, and 0.5 becomes 0."""
    return math.ceil(tokens * k * int(factor) / experts)


def never_below_one(tokens: int, experts: int, k: int, factor: float) -> int:
    """A factor below 1 counts as 1. It stands for less room than the mean load needs."""
    return math.ceil(tokens * k * max(1, factor) / experts)


def excess_added(tokens: int, experts: int, k: int, factor: float) -> int:
    """What the factor has above 1 is added to the mean load: 1.25 gives a quarter of a place more.
    The load is to be multiplied by it.
    """
    return math.ceil(tokens * k / experts + factor - 1)


def at_most_the_tokens(tokens: int, experts: int, k: int, factor: float) -> int:
    """You stop at the number of tokens. No expert can use more places, but the formula gives them,
    and here it counts.
    """
    return min(tokens, expert_capacity(tokens, experts, k, factor))


def divided_by_factor(tokens: int, experts: int, k: int, factor: float) -> int:
    """You divide by the factor. A larger factor means more room."""
    return math.ceil(tokens * k / experts / factor)


def added(tokens: int, experts: int, k: int, factor: float) -> int:
    """The factor is added to 1: your 1.25 leaves room for 2.25 times the mean load."""
    return math.ceil(tokens * k * (1 + factor) / experts)


def all_together(tokens: int, experts: int, k: int, factor: float) -> int:
    """These are the places of all experts together. How many does one have?"""
    return math.ceil(tokens * k * factor)


def at_least_four(tokens: int, experts: int, k: int, factor: float) -> int:
    """You give each expert 4 places at least, as some libraries do. Here one is enough."""
    return max(4, expert_capacity(tokens, experts, k, factor))


def multiple_of_eight(tokens: int, experts: int, k: int, factor: float) -> int:
    """You round up to a multiple of 8, as some libraries do for their hardware. Here it is the next
    whole number.
    """
    return -(-expert_capacity(tokens, experts, k, factor) // 8) * 8


def at_most_all(tokens: int, experts: int, k: int, factor: float) -> int:
    """You never give fewer places than a token has choices. An expert is asked once by each token
    at most.
    """
    return max(k, expert_capacity(tokens, experts, k, factor))


def negative_floor(tokens: int, experts: int, k: int, factor: float) -> int:
    return int(-(-tokens * k * factor // experts))


def by_fractions(tokens: int, experts: int, k: int, factor: float) -> int:
    return math.ceil(Fraction(tokens * k, experts) * Fraction(factor))


def mean_load_first(tokens: int, experts: int, k: int, factor: float) -> int:
    mean_load = tokens / experts * k
    places = int(mean_load * factor)
    return places if places == mean_load * factor else places + 1


EXERCISE = Exercise(
    solution=expert_capacity,
    chapter=CHAPTER,
    title="Places at each expert",
    points=1,
    minutes=4,
    difficulty=1,
    statement=(
        "How many places does each expert have, if T tokens with k choices each are shared out "
        "among the experts, and the capacity factor says how much more room there is than the mean "
        "load needs? See the formula of the capacity in the chapter."
    ),
    example=(
        "10 tokens with 2 choices are 20 choices; 4 experts get 5 each on average. With the factor "
        "1.25 that is 6.25, rounded up: 7 places."
    ),
    conventions=(
        "Rounded up, once, at the end: 6.25 is 7, and 6 is 6. So there is always one place at "
        "least. (Several libraries round down, or to a multiple of 4 or 8.)",
        "With a large factor there may be more places than tokens. The formula is not cut off.",
        "The checks use factors such as 1.25 and 0.5, which a computer holds exactly.",
    ),
    hints=(
        "Begin with the number of choices in the whole batch.",
        "`math` has a function that rounds up.",
    ),
    cases=CASES,
    mistakes=(
        rounded_down,
        to_the_nearest,
        not_rounded,
        one_more,
        rounded_before,
        whole_load_first,
        factor_on_tokens,
        rounded_twice,
        rounded_for_each_choice,
        choices_forgotten,
        divided_by_choices,
        factor_forgotten,
        whole_factor,
        never_below_one,
        excess_added,
        at_most_the_tokens,
        divided_by_factor,
        added,
        all_together,
        at_least_four,
        multiple_of_eight,
        at_most_all,
    ),
    alternatives=(negative_floor, by_fractions, mean_load_first),
)
