"""What a student has in the end for one chapter, and files made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Mark:
    """The final marks of one submission: a person's points before the judge's, penalty taken off.

    points  exercise -> points; None where nobody has given any yet
    """

    student: str
    chapter: str
    points: Mapping[str, float | None]
    max_score: float
    penalty: float = 0.0
    time: datetime | None = None

    @property
    def open(self) -> list[str]:
        """The exercises that wait for a person."""
        return [name for name, points in self.points.items() if points is None]

    @property
    def raw_score(self) -> float:
        """The sum of the points that were given."""
        return sum((points for points in self.points.values() if points is not None), 0.0)

    @property
    def score(self) -> float | None:
        """The points in the end; None while an exercise is open."""
        return None if self.open else max(0.0, self.raw_score - self.penalty)


@dataclass(frozen=True)
class Export:
    """Files by their path, and what the instructor has to know about them."""

    files: Mapping[str, bytes]
    notes: list[str] = field(default_factory=list)


def chapters_of(marks: Iterable[Mark]) -> list[str]:
    """List the chapters that there are marks of, in order."""
    return sorted({mark.chapter for mark in marks})


def by_student(marks: Iterable[Mark]) -> dict[str, dict[str, Mark]]:
    """Group marks: student -> chapter -> mark."""
    found: dict[str, dict[str, Mark]] = {}
    for mark in sorted(marks, key=lambda one: (one.student, one.chapter)):
        found.setdefault(mark.student, {})[mark.chapter] = mark
    return found


def number(points: float | None) -> str:
    """Write points as every platform reads them, at most two decimals; nothing for None."""
    return "" if points is None else f"{round(points, 2):g}"


def open_notes(marks: Iterable[Mark]) -> list[str]:
    """Name the marks that are left out because a person has to give points first."""
    return [
        f"{mark.student}, {mark.chapter}: left out, {', '.join(mark.open)} waits for your points"
        for mark in marks
        if mark.open
    ]
