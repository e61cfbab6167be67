"""What names a result, and what is kept of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class Key(NamedTuple):
    """What was graded: whose, which chapter, which bytes, by which checks, on which inputs."""

    student: str
    chapter: str
    submission: str
    version: str
    seed_id: str


@dataclass(frozen=True)
class Stored:
    """One result as it is kept.

    final    whether it is a verdict on the submission, not a fault of the grader
    created  UTC, ISO 8601
    """

    id: int
    key: Key
    verdict: str
    score: float
    max_score: float
    final: bool
    record: dict[str, Any]
    created: str
    run: str
    environment: str
