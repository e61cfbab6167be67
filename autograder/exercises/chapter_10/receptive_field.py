"""Exercise: how many tokens an output can depend on.

Out of scope: how much it does depend on them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Generator

from autograder.compare import inputs_kept, whole_number
from autograder.exercises.chapter_10 import CHAPTER
from autograder.inputs import integer
from autograder.spec import Case, Exercise, Trial
from autograder.wire import call
from solutions.sparse import layer_windows, receptive_field

Windows = Sequence[int | None]


def _trial(windows: list[int | None], n: int) -> Trial:
    shown = windows if len(windows) < 12 else f"{len(windows)} layers"
    return Trial(call(tuple(windows), n), f"windows = {shown}, n = {n:,}")


def equal_windows(rng: Generator) -> Iterator[Trial]:
    w, layers = integer(rng, 3, 5), integer(rng, 6, 8)
    yield _trial([w] * layers, 1000 + w)
    yield _trial([w + 4] * 2, 100 + layers)


def different_windows(rng: Generator) -> Iterator[Trial]:
    a, b = integer(rng, 2, 5), integer(rng, 7, 9)
    yield _trial([a, b, 6], 99)
    yield _trial([b, 1, a, 1], 88)


def one_layer(rng: Generator) -> Iterator[Trial]:
    yield _trial([integer(rng, 4, 9)], 50)
    yield _trial([1], integer(rng, 20, 30))


def no_layer(rng: Generator) -> Iterator[Trial]:
    yield _trial([], integer(rng, 20, 30))


def windows_of_one(rng: Generator) -> Iterator[Trial]:
    yield _trial([1] * integer(rng, 3, 6), 40)


def short_text(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 9, 12)
    yield _trial([5, 5, 5, 5], n)
    yield _trial([n + 4], n)
    yield _trial([7, 4], 10)  # just all of them
    yield _trial([7, 5], 10)


def full_at_the_top(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 90, 99)
    yield _trial([3, 4, None], n)
    yield _trial([*layer_windows(8, 4, 4)], n + 7)


def full_at_the_bottom(rng: Generator) -> Iterator[Trial]:
    yield _trial([None, 4, 5, 3], integer(rng, 90, 99))


def full_in_between(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 90, 99)
    yield _trial([3, None, 5], n)
    yield _trial([*layer_windows(9, 4, 4)], n + 7)


def full_alone(rng: Generator) -> Iterator[Trial]:
    yield _trial([None], integer(rng, 40, 50))


def large_model(rng: Generator) -> Iterator[Trial]:
    w = 2 * integer(rng, 2_100_000, 2_200_000) + 1
    yield _trial([w] * 33, 10**9)  # odd and large: float32 is too coarse


def kept(rng: Generator) -> Iterator[Trial]:
    windows = [integer(rng, 3, 5), integer(rng, 7, 9), 6]
    yield Trial(call(windows, 99), f"windows = {windows}, a list, n = 99")


CASES = (
    Case("layers of the same window", equal_windows, whole_number, weight=2),
    Case("layers of different windows", different_windows, whole_number),
    Case("a single layer sees its window", one_layer, whole_number),
    Case("windows of one never look elsewhere", windows_of_one, whole_number),
    Case("without a layer a token knows itself", no_layer, whole_number),
    Case("there are no more tokens than there are", short_text, whole_number),
    Case("a full layer at the top sees everything", full_at_the_top, whole_number),
    Case("local layers pass on what a full one heard", full_at_the_bottom, whole_number),
    Case("a full layer between local ones", full_in_between, whole_number),
    Case("a full layer alone", full_alone, whole_number),
    Case("large numbers, to the last token", large_model, whole_number),
    Case("the list of windows is not changed", kept, inputs_kept),
)


def _capped(reach: int, windows: Windows, n: int) -> int:
    return n if None in windows else min(reach, n)


def _numbers(windows: Windows, full: int = 0) -> list[int]:
    return [full if w is None else w for w in windows]


def product_of_windows(windows: Windows, n: int) -> int:
    """You multiply the windows. A layer lets each token hear w - 1 places further back: reaches add
    up.
    """
    reach = 1
    for w in _numbers(windows):
        reach *= w
    return _capped(reach, windows, n)


def sum_of_windows(windows: Windows, n: int) -> int:
    """You add up the windows. Each includes the token itself, which is counted once for every layer
    then; a layer adds only what lies before it. (Papers round like this.)
    """
    return _capped(max(1, sum(_numbers(windows))), windows, n)


def itself_not_counted(windows: Windows, n: int) -> int:
    """You count how far back the farthest token lies. Asked is how many tokens there are, the last
    one included.
    """
    return receptive_field(windows, n + 1) - 1 if None not in windows else n - 1


def one_less_for_all(windows: Windows, n: int) -> int:
    """The last token itself is missing where all windows are local."""
    return _capped(sum(w - 1 for w in _numbers(windows)), windows, n)


def windows_and_itself(windows: Windows, n: int) -> int:
    """You add whole windows to the token itself. It is in each of them: a layer adds w - 1."""
    return _capped(1 + sum(_numbers(windows)), windows, n)


def last_layer_alone(windows: Windows, n: int) -> int:
    """You look at the last layer alone. What it hears from has heard from others before."""
    return receptive_field(windows[-1:], n)


def first_layer_alone(windows: Windows, n: int) -> int:
    """You look at the first layer alone. The next ones reach further."""
    return receptive_field(windows[:1], n)


def widest_window(windows: Windows, n: int) -> int:
    """You take the widest window. Layers above one another reach further than each of them."""
    return _capped(max(_numbers(windows), default=1), windows, n)


def no_limit(windows: Windows, n: int) -> int:
    """The reach is larger than the text: there are no more than n tokens."""
    return n if None in windows else 1 + sum(w - 1 for w in _numbers(windows))


def both_directions(windows: Windows, n: int) -> int:
    """You count both sides of the token. These windows look back only."""
    return _capped(1 + sum(2 * (w - 1) for w in _numbers(windows)), windows, n)


def full_left_out(windows: Windows, n: int) -> int:
    """Full layers are passed over. Such a layer sees everything so far."""
    return receptive_field([w for w in windows if w is not None], n)


def full_at_the_end_alone(windows: Windows, n: int) -> int:
    """A full layer counts only if it is the last. Local layers above pass on what it heard."""
    return n if windows[-1:] == (None,) else receptive_field([w for w in windows if w], n)


def begins_again(windows: Windows, n: int) -> int:
    """A full layer counts only if it is the first: above, or below, the reach begins again."""
    return n if windows[:1] == (None,) else receptive_field([w for w in windows if w], n)


def in_float32(windows: Windows, n: int) -> int:
    """The count is a float, or has passed through one. float32 cannot tell large whole numbers
    apart, and tokens are counted with Python's own, which are exact.
    """
    return int(torch.tensor(float(receptive_field(windows, n))).item())


def list_emptied(windows: Windows, n: int) -> int:
    """The count is right, but the list that came in is another one afterwards: `pop`, `remove`,
    `append`, or an assignment to a part of it. The caller still needs it.
    """
    reach = receptive_field(windows, n)
    if isinstance(windows, list):
        windows.clear()
    return reach


def at_once(windows: Windows, n: int) -> int:
    if any(w is None for w in windows):
        return n
    return min(n, sum(windows) - len(windows) + 1)  # type: ignore[arg-type]  # no None here


def from_the_top(windows: Windows, n: int) -> int:
    """Follow the farthest token back, layer by layer."""
    farthest = n - 1
    for w in reversed(windows):
        farthest = 0 if w is None else max(0, farthest - (w - 1))
    return n - farthest


def with_infinity(windows: Windows, n: int) -> int:
    more = [n if w is None else w - 1 for w in windows]
    return int(min(1 + sum(more), n))


def recursive(windows: Windows, n: int) -> Any:
    if len(windows) == 0:
        return 1
    *before, w = windows
    below = recursive(before, n)
    return n if w is None else min(n, below + w - 1)


def set_by_set(windows: Windows, n: int) -> int:
    """Keep an interval of tokens that are heard, as (start, end)."""
    start, end = n - 1, n
    for w in windows:
        start = 0 if w is None or w > start else start - w + 1
    return end - start


EXERCISE = Exercise(
    solution=receptive_field,
    chapter=CHAPTER,
    title="How far layers see",
    points=2,
    minutes=7,
    difficulty=2,
    statement=(
        "The last token of n goes through causal layers with the given windows. On how many of the "
        "n tokens can its output depend? A window of w counts the token itself; None is a layer "
        "that sees everything so far."
    ),
    example=(
        "Two layers with w = 3 and 100 tokens. The last layer hears places 97, 98 and 99. What "
        "stands at place 97 has heard 95, 96 and 97 in the first. So the answer is 5: places 95 to "
        "99."
    ),
    conventions=(
        "The last token itself is one of those that are counted; without any layer the answer "
        "is 1.",
        "There are never more than n. Windows are at least 1.",
        "A whole number, an int.",
    ),
    hints=(
        "By how many places does one layer with window w reach further back?",
        "Begin with 1, the token itself, and go through the layers.",
        "What does a full layer do, at any place among the others?",
    ),
    cases=CASES,
    mistakes=(
        product_of_windows,
        sum_of_windows,
        itself_not_counted,
        one_less_for_all,
        windows_and_itself,
        last_layer_alone,
        first_layer_alone,
        widest_window,
        no_limit,
        both_directions,
        full_left_out,
        full_at_the_end_alone,
        begins_again,
        in_float32,
        list_emptied,
    ),
    alternatives=(at_once, from_the_top, with_infinity, recursive, set_by_set),
)
