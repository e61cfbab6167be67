"""The line for each result, and the estimate in it."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.dispatch.progress import Progress, duration


class Stream(io.StringIO):
    """A terminal or a file, and the lines on it."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    @property
    def lines(self) -> list[str]:
        return self.getvalue().splitlines()


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def told(seconds: list[float], total: int, *, terminal: bool) -> list[str]:
    stream, clock = Stream(terminal=terminal), Clock()
    progress = Progress(total, stream, clock)
    for number, wait in enumerate(seconds):
        clock.now += wait
        progress.tell(f"student {number}: 18 of 20 points")
    return stream.lines


def test_a_line_names_number_student_and_time_left():
    lines = told([2.0] * 12, 42, terminal=True)
    assert lines[0] == "[1/42] student 0: 18 of 20 points"
    assert lines[11] == "[12/42] student 11: 18 of 20 points  (about 1 min left)"


def test_the_estimate_follows_the_last_results_not_the_first():
    lines = told([100.0] * 60 + [1.0] * 60, 140, terminal=True)
    assert lines[59].endswith("(about 2 h 10 min left)")
    assert lines[119].endswith("(about 20 s left)")


def test_the_last_line_has_no_estimate():
    assert told([1.0] * 9, 9, terminal=True)[-1] == "[9/9] student 8: 18 of 20 points"


@given(seconds=st.lists(st.floats(0, 30), min_size=1, max_size=80))
def test_a_file_gets_few_lines_and_always_the_last(seconds):
    lines = told(seconds, len(seconds), terminal=False)
    assert lines[0].startswith("[1/")
    assert lines[-1].startswith(f"[{len(seconds)}/{len(seconds)}]")
    assert len(lines) <= 2 + sum(seconds) / 10


@given(seconds=st.lists(st.floats(0, 1000), min_size=1, max_size=80), extra=st.integers(0, 1000))
def test_a_terminal_gets_each_line(seconds, extra):
    assert len(told(seconds, len(seconds) + extra, terminal=True)) == len(seconds)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "5 s"), (12, "10 s"), (54, "55 s"), (60, "1 min"), (170, "3 min"), (3600, "1 h"),
     (7750, "2 h 10 min"), (36000, "10 h")],
)  # fmt: skip
def test_a_duration_is_as_rough_as_an_estimate(seconds, text):
    assert duration(seconds) == text
