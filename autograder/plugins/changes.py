"""What new records change in the rows of a gradebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from autograder.plugins.late import LatePolicy
from autograder.plugins.rows import COMMENTS, GRADES, NOTEBOOKS, SUBMISSIONS, Kept, Row, change
from autograder.plugins.scores import CHECK, Record, Score, regraded, remark, report_of
from autograder.report.feedback import ByHand
from autograder.verdict import Verdict


@dataclass
class Changes:
    """The updates of many submissions of one assignment, collected to be made at once."""

    duedate: datetime | None
    policy: LatePolicy
    grades: list[Row] = field(default_factory=list)
    comments: list[Row] = field(default_factory=list)
    times: list[Row] = field(default_factory=list)
    penalties: list[Row] = field(default_factory=list)

    def take(self, name: str, kept: Kept, record: Record, handed_in: datetime | None) -> ByHand:
        """Note what one record changes; say what the gradebook will hold besides the record."""
        scores = {cell: self._score(cell, kept, record) for cell in kept.grades}
        for cell, (at, ours, _) in kept.comments.items():
            words = remark(record, report_of(record, cell))
            if words != ours:
                self.comments.append({"id": at, "auto_comment": words})
        time = handed_in or kept.time
        if time != kept.time:
            self.times.append({"id": kept.submission, "timestamp": time})
        total = sum(score.points for score in scores.values())
        penalty = self.policy.penalty(name, total, kept.seconds_late(time, self.duedate))
        if penalty != kept.penalty:
            self.penalties.append({"id": kept.notebook, "late_submission_penalty": penalty})
        comments = {cell: theirs for cell, (_, _, theirs) in kept.comments.items() if theirs}
        return ByHand(_other_points(record, scores), comments, penalty or 0.0)

    def make(self, connection: Any) -> None:
        """Write all that was noted."""
        change(connection, GRADES, self.grades)
        change(connection, COMMENTS, self.comments)
        change(connection, SUBMISSIONS, self.times)
        change(connection, NOTEBOOKS, self.penalties)

    def _score(self, cell: str, kept: Kept, record: Record) -> Score:
        at, before = kept.grades[cell]
        after = regraded(before, report_of(record, cell))
        if after != before:
            asked = {"needs_manual_grade": after.needs_a_person}
            self.grades.append({"id": at, "auto_score": after.auto, **asked})
        return after


def _other_points(record: Record, scores: Mapping[str, Score]) -> dict[str, float]:
    """Give the points that count, by exercise, where they are not those of the record."""
    found = {}
    for cell, score in scores.items():
        report = report_of(record, cell)
        judged = report["verdict"] != Verdict.GRADER_ERROR
        if score.known and not (judged and score.points == report["score"]):
            found[cell.removeprefix(CHECK)] = score.points
    return found
