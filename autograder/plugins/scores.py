"""What a new record does to a grade that people may have touched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from autograder.report.outputs import plain
from autograder.verdict import Verdict

Record = Mapping[str, Any]  # of one submission: `Result.as_json`
CHECK = "check-"


@dataclass(frozen=True)
class Score:
    """The points of one graded cell, as nbgrader keeps them."""

    auto: float | None = None
    manual: float | None = None
    extra: float | None = None
    needs_a_person: bool = True

    @property
    def known(self) -> bool:
        """Whether anyone has given points."""
        return self.auto is not None or self.manual is not None

    @property
    def points(self) -> float:
        """The points that count: a person's before ours, and what was given on top."""
        first = self.auto if self.manual is None else self.manual
        return 0.0 if first is None else first + (self.extra or 0.0)


def report_of(record: Record, cell: str) -> Record:
    """Give what a record says of the exercise that a graded cell or an answer belongs to.

    A record that says nothing of it is a fault of the grader, unless nothing could be read at all.
    """
    exercise = cell.removeprefix(CHECK)
    for report in record["exercises"]:
        if report["id"] == exercise:
            found: Record = report
            return found
    if record.get("error"):
        return {"verdict": Verdict.NOT_ANSWERED, "score": 0.0, "diagnosis": ""}
    missing = "the judge's record says nothing of it"
    return {"verdict": Verdict.GRADER_ERROR, "score": 0.0, "diagnosis": missing}


def regraded(before: Score, report: Record) -> Score:
    """Give the score after a report.

    A fault of the grader takes no points: an earlier score stays and a person is asked. What a
    person gave stays too; they are asked again if our points have changed since.
    """
    if report["verdict"] == Verdict.GRADER_ERROR:
        return replace(before, needs_a_person=before.manual is None)
    points = float(report["score"])
    changed = points != before.auto
    asked = before.manual is not None and (before.needs_a_person or changed)
    return replace(before, auto=points, needs_a_person=asked)


def remark(record: Record, report: Record) -> str | None:
    """Give the comment that stands by an answer until a person writes another."""
    if record.get("error"):
        return plain(f"This submission could not be read: {record['error']}")
    if report["verdict"] == Verdict.NOT_ANSWERED:
        return "No response."  # nbgrader's words
    if report["verdict"] == Verdict.GRADER_ERROR:
        return plain(f"Not graded, by a fault of the grader: {report['diagnosis']}")
    return None
