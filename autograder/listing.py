"""What exercises there are, and how each known mistake and alternative fares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from autograder.judge import judge
from autograder.perform import perform
from autograder.spec import Exercise, Implementation, hint_of


@dataclass(frozen=True)
class Fared:
    """One known mistake, or one right answer written differently, judged.

    caught      whether some behaviour failed
    behaviours  those that failed
    named       whether the diagnosis is this mistake's own hint
    """

    exercise: str
    name: str
    kind: str
    caught: bool
    behaviours: tuple[str, ...]
    named: bool
    score: float
    max_score: float
    diagnosis: str

    def as_json(self) -> dict[str, Any]:
        """Give the record of `course mistakes --json`."""
        return {**asdict(self), "behaviours": list(self.behaviours)}


def summary(exercise: Exercise) -> dict[str, Any]:
    """Give the record of `course exercises --json`."""
    return {
        "id": exercise.id,
        "chapter": exercise.chapter,
        "title": exercise.title,
        "points": exercise.points,
        "minutes": exercise.minutes,
        "difficulty": exercise.difficulty,
        "cases": [case.behaviour for case in exercise.cases],
        "mistakes": [mistake.__name__ for mistake in exercise.mistakes],
        "alternatives": [alternative.__name__ for alternative in exercise.alternatives],
    }


def fare(exercise: Exercise) -> Iterator[Fared]:
    """Judge every mistake and every alternative of an exercise, with the public seed."""
    for mistake in exercise.mistakes:
        yield _judged(exercise, mistake, "mistake")
    for alternative in exercise.alternatives:
        yield _judged(exercise, alternative, "alternative")


def _judged(exercise: Exercise, implementation: Implementation, kind: str) -> Fared:
    report = judge(exercise, partial(perform, implementation))
    failed = tuple(finding.behaviour for finding in report.findings if not finding.passed)
    hint = hint_of(implementation)
    named = kind == "mistake" and bool(hint) and report.diagnosis.endswith(hint)
    return Fared(
        exercise.id,
        implementation.__name__,
        kind,
        bool(failed),
        failed,
        named,
        report.score,
        report.max_score,
        report.diagnosis,
    )
