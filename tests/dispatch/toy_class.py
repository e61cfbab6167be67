"""A class of 300 toys: each takes a few milliseconds to grade, and its result is its number's."""

import hashlib
import time
from collections.abc import Iterator
from typing import Any

from autograder.dispatch.run import Failed
from autograder.records import Key

CHAPTER = "02_toys"
SECONDS = 0.02


def keys(count: int) -> Iterator[Key]:
    for number in range(count):
        submission = hashlib.sha256(str(number).encode()).hexdigest()
        yield Key(f"toy {number:04}", CHAPTER, submission, "0123456789ab", "ba9876543210")


def record(key: Key, verdict: str, score: float) -> dict[str, Any]:
    exercise = {"id": "toy", "verdict": verdict, "score": score, "max_score": 7.0}
    return {
        "student": key.student,
        "chapter": key.chapter,
        "score": score,
        "max_score": 7.0,
        "seconds": time.perf_counter(),
        "exercises": [exercise],
    }


def grade(key: Key) -> tuple[dict[str, Any], str]:
    """Grade a toy: some pass and some do not."""
    time.sleep(SECONDS)
    score = float(int(key.submission, 16) % 8)
    return record(key, "pass" if score == 7 else "wrong", score), f"the notebook of {key.student}"


def graded(key: Key, done: tuple[dict[str, Any], str] | Failed) -> tuple[dict[str, Any], str]:
    return (record(key, "grader error", 0.0), "") if isinstance(done, Failed) else done
