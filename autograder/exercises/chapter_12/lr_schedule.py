"""Exercise: how fast to learn at each step.

Out of scope: restarts, other shapes.
"""

import math
from collections.abc import Iterator

from torch import Generator

from autograder.compare import values
from autograder.exercises.chapter_12 import CHAPTER
from autograder.inputs import integer, uniform
from autograder.spec import Case, Exercise, Trial
from autograder.wire import Request, call
from solutions.optimiser import lr_schedule

Whole = tuple[int, int]


def _trial(steps: list[int], *rest: float) -> Trial:
    names = ("warmup", "total", "peak", "floor")
    words = ", ".join(f"{name} = {one}" for name, one in zip(names, rest, strict=False))
    calls = tuple(call(step, *rest).calls[0] for step in steps)
    return Trial(Request(calls), f"step = {', '.join(map(str, steps))}; {words}")


def _lengths(rng: Generator) -> Whole:
    warmup = integer(rng, 5, 20)
    return warmup, warmup + integer(rng, 30, 90)


def _rates(rng: Generator) -> tuple[float, float]:
    return uniform(rng, 0.5, 0.9), uniform(rng, 0.05, 0.2)


def going_up(rng: Generator) -> Iterator[Trial]:
    warmup, total = _lengths(rng)
    yield _trial([1, warmup // 2, warmup - 1], warmup, total, *_rates(rng))


def beginning(rng: Generator) -> Iterator[Trial]:
    warmup, total = _lengths(rng)
    yield _trial([0, 1], warmup, total, *_rates(rng))


def the_peak(rng: Generator) -> Iterator[Trial]:
    warmup, total = _lengths(rng)
    yield _trial([warmup, warmup + 1], warmup, total, *_rates(rng))


def going_down(rng: Generator) -> Iterator[Trial]:
    warmup, total = _lengths(rng)
    between = [warmup + (total - warmup) * i // 5 for i in (1, 2, 3, 4)]
    yield _trial([*between, total - 1], warmup, total, *_rates(rng))


def the_end(rng: Generator) -> Iterator[Trial]:
    warmup, total = _lengths(rng)
    yield _trial([total], warmup, total, *_rates(rng))


def afterwards(rng: Generator) -> Iterator[Trial]:
    warmup, total = _lengths(rng)
    yield _trial([total + 1, total + 17, 3 * total], warmup, total, *_rates(rng))


def no_floor(rng: Generator) -> Iterator[Trial]:
    warmup, total = _lengths(rng)
    yield _trial([warmup + 9, total - 1, total, total + 9], warmup, total, _rates(rng)[0])


def no_warmup(rng: Generator) -> Iterator[Trial]:
    _, total = _lengths(rng)
    yield _trial([0, 1, total // 2, total], 0, total, *_rates(rng))


def small_rates(rng: Generator) -> Iterator[Trial]:
    warmup, total = _lengths(rng)
    steps = [1, warmup, warmup + 7, total]
    yield _trial(steps, warmup, total, uniform(rng, 1, 9) * 1e-7, uniform(rng, 1, 9) * 1e-8)


def long_training(rng: Generator) -> Iterator[Trial]:
    total = integer(rng, 4 * 10**8, 9 * 10**8)
    yield _trial([3, 2000, total // 3, total - 7], 2000, total, *_rates(rng))


def constant(rng: Generator) -> Iterator[Trial]:
    warmup, total = _lengths(rng)
    rate = uniform(rng, 0.5, 0.9)
    yield _trial([warmup // 2, warmup + 9, total], warmup, total, rate, rate)


CASES = (
    Case("rises along a line", going_up, values, weight=2),
    Case("step 0 is the first, with the rate 0", beginning, values),
    Case("reaches the peak at step warmup", the_peak, values),
    Case("falls along half a cosine", going_down, values, weight=2),
    Case("has the floor at step total", the_end, values),
    Case("keeps the floor afterwards", afterwards, values),
    Case("the floor is 0 where none is given", no_floor, values),
    Case("works without warm-up", no_warmup, values),
    Case("small rates keep their digits", small_rates, values, tolerance=1e-6),
    Case("works for very many steps", long_training, values),
    Case("peak and floor may be equal", constant, values),
)


def counted_from_one(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """The warm-up goes by (step + 1) / (warmup + 1), as in nanoGPT. Here it is step / warmup: at
    step 0 the rate is 0.
    """
    if step < warmup:
        return peak * (step + 1) / (warmup + 1)
    return lr_schedule(step, warmup, total, peak, floor)


def one_step_early(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """The warm-up is one step early: (step + 1) / warmup. Here step 0 has the rate 0, and step
    warmup has the peak.
    """
    if step < warmup:
        return peak * (step + 1) / warmup
    return lr_schedule(step, warmup, total, peak, floor)


def no_way_up(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """There is no warm-up: the rate is the peak from the start."""
    return peak if step < warmup else lr_schedule(step, warmup, total, peak, floor)


def up_from_the_floor(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """The way up begins at the floor. It begins at 0."""
    if step < warmup:
        return floor + (peak - floor) * step / warmup
    return lr_schedule(step, warmup, total, peak, floor)


def up_along_a_cosine(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """The way up is a cosine, too. It is a line."""
    if step < warmup:
        return peak * (1 - math.cos(math.pi * step / warmup)) / 2
    return lr_schedule(step, warmup, total, peak, floor)


def cosine_from_zero(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """The cosine begins at step 0, so that at the end of the warm-up the rate jumps down. It begins
    where the line ends.
    """
    if step < warmup:
        return peak * step / warmup
    return lr_schedule(step, 0, total, peak, floor)


def warmup_on_top(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """The way down takes `total` steps, and ends at warmup + total. All of it, warm-up included,
    takes `total` steps.
    """
    return lr_schedule(step, warmup, total + warmup, peak, floor)


def down_along_a_line(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """The way down is a line. It is half a cosine: slow, fast, slow."""
    if step < warmup:
        return peak * step / warmup
    return peak + (floor - peak) * min(1.0, (step - warmup) / (total - warmup))


def quarter_of_a_cosine(
    step: int, warmup: int, total: int, peak: float, floor: float = 0.0
) -> float:
    """You take a quarter of a cosine, from 1 to 0, so that the rate falls fastest at the end. Half
    of one goes from 1 to -1; bring that to 1 and 0.
    """
    if step < warmup:
        return peak * step / warmup
    done = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * math.cos(math.pi / 2 * done)


def in_degrees(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """The cosine is given degrees. It wants radians: half a turn is pi."""
    if step < warmup:
        return peak * step / warmup
    done = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(180 * done)) / 2


def up_again(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """After `total` the cosine goes on, and the rate rises again. From there on it is the floor."""
    if step < warmup:
        return peak * step / warmup
    done = (step - warmup) / (total - warmup)
    return floor + (peak - floor) * (1 + math.cos(math.pi * done)) / 2


def nothing_afterwards(
    step: int, warmup: int, total: int, peak: float, floor: float = 0.0
) -> float:
    """After `total` the rate is 0. It stays at the floor."""
    return 0.0 if step > total else lr_schedule(step, warmup, total, peak, floor)


def floor_added(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """The floor is added to the cosine, and at the top there is peak + floor. What is left between
    peak and floor for the cosine?
    """
    return lr_schedule(step, warmup, total, peak) + (floor if step >= warmup else 0.0)


def floor_as_a_limit(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """The cosine goes down to 0 and is cut off at the floor. It goes down to the floor."""
    rate = lr_schedule(step, warmup, total, peak)
    return rate if step < warmup else max(rate, floor)


def never_below_the_floor(
    step: int, warmup: int, total: int, peak: float, floor: float = 0.0
) -> float:
    """The rate is never below the floor, not even at the beginning. The way up begins at 0."""
    return max(lr_schedule(step, warmup, total, peak, floor), floor)


def floor_as_a_share(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """The floor is taken for a share of the peak. It is a rate itself."""
    return lr_schedule(step, warmup, total, peak, floor * peak)


def no_floor_at_all(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """The floor is ignored: the cosine ends at 0."""
    return lr_schedule(step, warmup, total, peak)


def upside_down(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """The cosine goes up instead of down: a sign."""
    if step < warmup:
        return peak * step / warmup
    done = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 - math.cos(math.pi * done)) / 2


def stays_up(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """After the warm-up the rate stays at the peak."""
    return lr_schedule(min(step, warmup), warmup, total, peak, floor)


def divides_by_zero(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """Without warm-up you divide by 0. Nothing goes up then."""
    rising = step / warmup
    return peak * rising if rising < 1 else lr_schedule(step, warmup, total, peak, floor)


def whole_shares(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    """The share of the way is a whole number: `//` drops what is behind the point."""
    if step < warmup:
        return peak * (step // warmup)
    done = min(1, (step - warmup) // (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * done)) / 2


def by_a_sine(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    if step >= total:
        return floor
    if step < warmup:
        return step * (peak / warmup)
    left = (total - step) / (total - warmup)
    return floor + (peak - floor) * math.sin(math.pi / 2 * left) ** 2


def in_pieces(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    middle, half = (peak + floor) / 2, (peak - floor) / 2
    if warmup and step <= warmup:
        return peak / warmup * step
    late = min(step, total)
    return middle + half * math.cos((late - warmup) * math.pi / (total - warmup))


def as_a_mixture(step: int, warmup: int, total: int, peak: float, floor: float = 0.0) -> float:
    rising = min(step / warmup, 1.0) if warmup > 0 else 1.0
    done = min(max(step - warmup, 0) / (total - warmup), 1.0)
    share = 0.5 + 0.5 * math.cos(math.pi * done)
    return rising * (share * peak + (1 - share) * floor)


EXERCISE = Exercise(
    solution=lr_schedule,
    chapter=CHAPTER,
    title="How fast to learn",
    points=2,
    minutes=8,
    difficulty=2,
    statement=(
        "The learning rate of a step: from 0 up to the peak along a line, then down to the floor "
        "along half a cosine, and there it stays."
    ),
    example=(
        "With warmup = 2, total = 10, peak = 8 and floor = 2, the steps 0, 1 and 2 have the rates "
        "0, 4 and 8. Step 6 is half of the way down: (8 + 2) / 2 = 5. From step 10 on it is 2."
    ),
    conventions=(
        "The way up is step / warmup of the peak: step 0 has the rate 0, step `warmup` the peak. "
        "Others count (step + 1) / (warmup + 1).",
        "`total` includes the warm-up: step `total` has the floor, and so have all that follow.",
        "`warmup` may be 0: then step 0 has the peak.",
        "The floor is a rate, not a share of the peak. The way up does not know it.",
    ),
    hints=(
        "Three stretches; which is the first in which a step may lie?",
        "Which share of the way from `warmup` to `total` is done? The cosine of that share of half "
        "a turn goes from 1 to -1.",
        "Bring 1 and -1 to peak and floor.",
    ),
    cases=CASES,
    mistakes=(
        counted_from_one,
        one_step_early,
        no_way_up,
        up_from_the_floor,
        up_along_a_cosine,
        cosine_from_zero,
        warmup_on_top,
        down_along_a_line,
        quarter_of_a_cosine,
        in_degrees,
        up_again,
        nothing_afterwards,
        floor_added,
        floor_as_a_limit,
        never_below_the_floor,
        floor_as_a_share,
        no_floor_at_all,
        upside_down,
        stays_up,
        divides_by_zero,
        whole_shares,
    ),
    alternatives=(by_a_sine, in_pieces, as_a_mixture),
)
