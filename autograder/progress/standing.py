"""How far a student is in some exercises: points, minutes left, and what is next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from autograder.spec import Exercise


@dataclass(frozen=True)
class Reached:
    """One exercise, and the most points that were reached in it."""

    exercise: Exercise
    points: float

    @property
    def is_done(self) -> bool:
        """Whether all points were reached."""
        return self.points >= self.exercise.points

    def as_json(self) -> dict[str, Any]:
        """Give the record of `course progress --json`."""
        one = self.exercise
        return {
            "id": one.id,
            "title": one.title,
            "points": self.points,
            "max_points": one.points,
            "minutes": one.minutes,
        }


@dataclass(frozen=True)
class Standing:
    """A chapter's exercises, or those of the whole course, in order."""

    rows: tuple[Reached, ...]

    @property
    def points(self) -> float:
        """The points that were reached."""
        return sum(row.points for row in self.rows)

    @property
    def max_points(self) -> int:
        """The points that there are."""
        return sum(row.exercise.points for row in self.rows)

    @property
    def minutes_left(self) -> int:
        """The estimated minutes of the exercises that are not done."""
        return sum(row.exercise.minutes for row in self.rows if not row.is_done)

    @property
    def next(self) -> Exercise | None:
        """The first exercise that is not done."""
        return next((row.exercise for row in self.rows if not row.is_done), None)

    def chapters(self) -> dict[str, Standing]:
        """Give the standing in each chapter."""
        groups = groupby(self.rows, key=lambda row: row.exercise.chapter)
        return {chapter: Standing(tuple(rows)) for chapter, rows in groups}

    def as_json(self) -> dict[str, Any]:
        """Give the sums of `course progress --json`."""
        return {
            "points": self.points,
            "max_points": self.max_points,
            "minutes_left": self.minutes_left,
            "next": self.next.id if self.next else None,
        }


def standing(exercises: Iterable[Exercise], best: Mapping[str, float]) -> Standing:
    """Compare the best scores with what there is.

    best  exercise -> score; a score above an exercise's points, from another version of the
          course, counts as all of them
    """
    rows = (Reached(one, min(best.get(one.id, 0.0), one.points)) for one in exercises)
    return Standing(tuple(rows))
