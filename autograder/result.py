"""How one submission ended: the record of `course check --json` and of a graded class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autograder.verdict import Report, Verdict


@dataclass(frozen=True)
class Result:
    """One submission of one chapter.

    notes    in plain words: how answers were matched, what was repaired
    error    why the file could not be read; empty if it could
    student  whose it is; empty for a single notebook
    """

    chapter: str
    reports: tuple[Report, ...]
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    error: str = ""
    student: str = ""
    sandbox: str = "none"

    @property
    def score(self) -> float:
        """The points won."""
        return round(sum(report.score for report in self.reports), 2)

    @property
    def max_score(self) -> float:
        """The points there are."""
        return sum(report.max_score for report in self.reports)

    @property
    def verdict(self) -> str:
        """Name the whole: "unreadable", "pass", or the verdict of the first exercise not passed."""
        if self.error:
            return "unreadable"
        endings = [report.verdict for report in self.reports if report.verdict != Verdict.PASS]
        return str(endings[0] if endings else Verdict.PASS)

    def as_json(self) -> dict[str, Any]:
        """Give the record; "student" and "error" only where there is one."""
        record: dict[str, Any] = {"student": self.student} if self.student else {}
        record |= {
            "chapter": self.chapter,
            "score": self.score,
            "max_score": self.max_score,
            "seconds": round(self.seconds, 2),
            "sandbox": self.sandbox,
            "exercises": [report.as_json() for report in self.reports],
            "notes": list(self.notes),
        }
        return record | ({"error": self.error} if self.error else {})
