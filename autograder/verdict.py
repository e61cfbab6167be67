"""All that leaves the judge: a closed set of verdicts, and what was found for each behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """How an exercise ended. Only `pass` gives full marks; `grader error` never costs points."""

    PASS = "pass"
    WRONG = "wrong"
    EXCEPTION = "exception"
    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    EXITED = "exited"
    NOT_ANSWERED = "not answered"
    FORBIDDEN = "forbidden"
    GRADER_ERROR = "grader error"


@dataclass(frozen=True)
class Finding:
    """One behaviour: whether it holds, on which inputs, and if not what came out."""

    behaviour: str
    passed: bool
    inputs: str = ""
    message: str = ""

    def as_json(self) -> dict[str, Any]:
        """Give the record of `course check --json`."""
        return {
            "behaviour": self.behaviour,
            "passed": self.passed,
            "message": self.message,
            "inputs": self.inputs,
        }


@dataclass(frozen=True)
class Report:
    """One exercise, judged.

    printed is the beginning of what the code wrote, on the first inputs that fail.
    """

    exercise: str
    verdict: Verdict
    score: float
    max_score: float
    diagnosis: str = ""
    findings: tuple[Finding, ...] = ()
    printed: str = ""

    def as_json(self) -> dict[str, Any]:
        """Give the record of `course check --json`."""
        return {
            "id": self.exercise,
            "verdict": str(self.verdict),
            "score": self.score,
            "max_score": self.max_score,
            "diagnosis": self.diagnosis,
            "cases": [finding.as_json() for finding in self.findings],
            "printed": self.printed,
        }
