"""A student's progress in the whole course, as text."""

from __future__ import annotations

from autograder.dispatch.progress import duration
from autograder.progress.standing import Standing
from autograder.report.standing import next_words
from autograder.report.text import WIDTH


def progress_text(course: Standing) -> str:
    """Write each chapter with its exercises, the sum, and what is next."""
    lines = [line for name, part in course.chapters().items() for line in _chapter(name, part)]
    ahead = next_words(course)
    if course.next:
        ahead = f"{ahead} It is in {course.next.chapter}."
    return "\n".join([*lines, _line("all chapters", course), ahead])


def _chapter(name: str, part: Standing) -> list[str]:
    return [
        _line(name, part),
        *(f"  {_row(row.exercise.id, row.points, row.exercise.points)}" for row in part.rows),
        "",
    ]


def _row(name: str, points: float, most: int) -> str:
    return f"{name:<38}{points:>5g} of {most}"


def _line(name: str, part: Standing) -> str:
    left = f"about {duration(60 * part.minutes_left)} left" if part.minutes_left else "done"
    return f"{_row(name, part.points, part.max_points):<{WIDTH - len(left)}}{left}"
