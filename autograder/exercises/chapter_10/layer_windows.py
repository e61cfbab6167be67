"""Exercise: which layers look near by, and which everywhere.

Out of scope: patterns that differ between models' parts.
"""

from collections.abc import Iterator
from typing import Any

from torch import Generator

from autograder.compare import values
from autograder.exercises.chapter_10 import CHAPTER
from autograder.inputs import integer
from autograder.spec import Case, Exercise, Trial
from autograder.wire import call
from solutions.sparse import layer_windows

Windows = list[int | None]


def _trial(layers: int, w: int, every: int) -> Trial:
    return Trial(call(layers, w, every), f"layers = {layers}, w = {w}, every = {every}")


def whole_rounds(rng: Generator) -> Iterator[Trial]:
    w = integer(rng, 60, 90)
    yield _trial(3 * integer(rng, 3, 5), w, 3)
    yield _trial(4 * integer(rng, 2, 3), w + 5, 4)


def cut_short(rng: Generator) -> Iterator[Trial]:
    w = integer(rng, 60, 90)
    yield _trial(3 * integer(rng, 3, 5) + 1, w, 3)
    yield _trial(13 + integer(rng, 0, 3), w, 5)


def full_only(rng: Generator) -> Iterator[Trial]:
    yield _trial(integer(rng, 4, 7), 50, 1)


def alternating(rng: Generator) -> Iterator[Trial]:
    yield _trial(integer(rng, 6, 9), 4096, 2)


def local_only(rng: Generator) -> Iterator[Trial]:
    yield _trial(integer(rng, 3, 5), 64, 7)
    yield _trial(1, integer(rng, 20, 30), 2)


CASES = (
    Case("the last of so many layers is full, again and again", whole_rounds, values, weight=2),
    Case("the last round may be cut short", cut_short, values),
    Case("every second layer", alternating, values),
    Case("every layer is full", full_only, values),
    Case("fewer layers than one round", local_only, values),
)


def _where(layers: int, w: int, full: Any) -> Windows:
    return [None if full(i) else w for i in range(layers)]


def first_is_full(layers: int, w: int, every: int) -> Windows:
    """The first layer of each round is full. Here it is the last: with every = 3, layers number 3,
    6, 9, if the first has the number 1. Python counts from 0.
    """
    return _where(layers, w, lambda i: i % every == 0)


def shifted_early(layers: int, w: int, every: int) -> Windows:
    """The full layers come one too early. Which remainder has the last one of a round, if layers
    are counted from 0?
    """
    return _where(layers, w, lambda i: (i + 2) % every == 0)


def local_to_full(layers: int, w: int, every: int) -> Windows:
    """You put `every` local layers before each full one. The full one is the last *of* so many, so
    there is one local layer less.
    """
    return _where(layers, w, lambda i: (i + 1) % (every + 1) == 0)


def exchanged(layers: int, w: int, every: int) -> Windows:
    """Local and full layers are exchanged: most should be local."""
    return _where(layers, w, lambda i: (i + 1) % every != 0)


def full_at_the_end(layers: int, w: int, every: int) -> Windows:
    """The last layer of the model is always full. It is only where a round ends there."""
    return _where(layers, w, lambda i: (i + 1) % every == 0 or i == layers - 1)


def counted_from_the_end(layers: int, w: int, every: int) -> Windows:
    """Rounds are counted from the last layer back. They begin with the first one."""
    return _where(layers, w, lambda i: (layers - 1 - i) % every == 0)


def never_full(layers: int, w: int, every: int) -> Windows:
    """All layers are local."""
    return [w] * layers


def full_ones_first(layers: int, w: int, every: int) -> Windows:
    """There are as many full layers as there should be, but all at the beginning. They are spread
    over the model.
    """
    return [None] * (layers // every) + [w] * (layers - layers // every)


def full_ones_last(layers: int, w: int, every: int) -> Windows:
    """There are as many full layers as there should be, but all at the end. They are spread over
    the model.
    """
    return [w] * (layers - layers // every) + [None] * (layers // every)


def rounds_of_layers(layers: int, w: int, every: int) -> Windows:
    """The list is too long or too short: it has whole rounds only. It has one entry for each layer,
    and the last round may be cut short.
    """
    return ([w] * (every - 1) + [None]) * -(-layers // every)


def whole_rounds_alone(layers: int, w: int, every: int) -> Windows:
    """The layers of the last round are missing where it is cut short."""
    return ([w] * (every - 1) + [None]) * (layers // every)


def zero_for_full(layers: int, w: int, every: int) -> list[int]:
    """Full layers are marked by 0. The mark is None."""
    return [one or 0 for one in layer_windows(layers, w, every)]


def minus_one_for_full(layers: int, w: int, every: int) -> list[int]:
    """Full layers are marked by -1, as in the arguments of some kernels. The mark is None."""
    return [one or -1 for one in layer_windows(layers, w, every)]


def truths(layers: int, w: int, every: int) -> list[bool]:
    """You say which layers are full, True or False. Asked is the window of each."""
    return [one is None for one in layer_windows(layers, w, every)]


def names(layers: int, w: int, every: int) -> list[str]:
    """You give the layers names, "local" and "full". Asked is the window of each, or None."""
    return ["local" if one else "full" for one in layer_windows(layers, w, every)]


def by_slices(layers: int, w: int, every: int) -> Windows:
    windows: Windows = [w] * layers
    windows[every - 1 :: every] = [None] * len(windows[every - 1 :: every])
    return windows


def repeated(layers: int, w: int, every: int) -> Windows:
    one_round = [*[w] * (every - 1), None]
    return (one_round * layers)[:layers]


def one_by_one(layers: int, w: int, every: int) -> Any:
    windows: tuple[int | None, ...] = ()
    left = every
    for _ in range(layers):
        left -= 1
        windows += (w,) if left else (None,)
        left = left or every
    return windows


def by_divisibility(layers: int, w: int, every: int) -> Windows:
    full = {*range(every, layers + 1, every)}
    return [None if number + 1 in full else w for number in range(layers)]


EXERCISE = Exercise(
    solution=layer_windows,
    chapter=CHAPTER,
    title="Which layers see far",
    points=1,
    minutes=4,
    difficulty=1,
    statement=(
        "A model mixes local layers, with a window of width w, and full ones. In each round of "
        "`every` layers the last one is full. Say for each layer, from the first to the last, what "
        "its window is; None stands for a full layer."
    ),
    example=(
        "7 layers, w = 1024, every = 3: [1024, 1024, None, 1024, 1024, None, 1024]. The last round "
        "is cut short, so the last layer is local."
    ),
    conventions=(
        "The round begins with the first layer, so with every = 2 the first layer is local. (Some "
        "models begin with a full one.)",
        "`every` counts the full layer, too: five local layers to one full one is every = 6.",
        "A list with one entry for each layer, whole numbers and None; every = 1 makes all full.",
    ),
    hints=(
        "Number the layers from 1. Which numbers have the full ones?",
        "Python counts from 0, so the layer with number i is at place i - 1 of the list.",
    ),
    cases=CASES,
    mistakes=(
        first_is_full,
        shifted_early,
        local_to_full,
        exchanged,
        full_at_the_end,
        counted_from_the_end,
        never_full,
        full_ones_first,
        full_ones_last,
        rounds_of_layers,
        whole_rounds_alone,
        zero_for_full,
        minus_one_for_full,
        truths,
        names,
    ),
    alternatives=(by_slices, repeated, one_by_one, by_divisibility),
)
