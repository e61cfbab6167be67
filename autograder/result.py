"""How one submission ended: the record of `course check --json` and of a graded class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autograder.verdict import Finding, Report, Verdict


@dataclass(frozen=True)
class Result:
    """One submission of one chapter.

    notes    in plain words: how answers were matched, what was repaired
    error    why the file could not be read; empty if it could
    student  whose it is; empty for a single notebook

    submission, version and seed_id name what was graded: the file's hash, the assignment, the
    seed (without telling it).
    """

    chapter: str
    reports: tuple[Report, ...]
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    error: str = ""
    student: str = ""
    sandbox: str = "none"
    submission: str = ""
    version: str = ""
    seed_id: str = ""

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
            "submission": self.submission,
            "version": self.version,
            "seed_id": self.seed_id,
        }
        return record | ({"error": self.error} if self.error else {})


def result_of(record: Mapping[str, Any]) -> Result:
    """Read a record back, as `Result.as_json` wrote it."""
    return Result(
        chapter=record["chapter"],
        reports=tuple(_report(one) for one in record["exercises"]),
        seconds=record["seconds"],
        notes=tuple(record["notes"]),
        error=record.get("error", ""),
        student=record.get("student", ""),
        sandbox=record["sandbox"],
        submission=record["submission"],
        version=record["version"],
        seed_id=record["seed_id"],
    )


def _report(one: Mapping[str, Any]) -> Report:
    cases = [(c["behaviour"], c["passed"], c["inputs"], c["message"]) for c in one["cases"]]
    return Report(
        one["id"],
        Verdict(one["verdict"]),
        one["score"],
        one["max_score"],
        one["diagnosis"],
        tuple(Finding(*case) for case in cases),
        one["printed"],
    )
