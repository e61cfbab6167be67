"""The file of a student's progress: a line of JSON for each score that was better than before.

Lines are only ever added. Two kernels that check at once so lose nothing of each other, and the
order of the lines does not matter: of each exercise the best score counts. Answers are not in it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

LARGEST_BYTES = 1_000_000  # more is no progress, but something else under this name


@dataclass(frozen=True)
class Journal:
    """What a file says.

    best     exercise -> the best score
    damaged  numbers of the lines that cannot be read
    """

    best: Mapping[str, float] = field(default_factory=dict)
    damaged: tuple[int, ...] = ()


def read_journal(path: Path) -> Journal:
    """Read a file; one that is not there says nothing. Raises OSError."""
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_BYTES).decode("utf-8", errors="replace")
    except FileNotFoundError:
        return Journal()
    lines = {number: line for number, line in enumerate(text.split("\n"), 1) if line.strip()}
    entries = {number: _entry(line) for number, line in lines.items()}
    damaged = tuple(number for number, entry in entries.items() if entry is None)
    return Journal(best_of(entry for entry in entries.values() if entry), damaged)


def best_of(entries: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Take the best score of each exercise."""
    best: dict[str, float] = {}
    for exercise, score in entries:
        best[exercise] = max(score, best.get(exercise, 0.0))
    return best


def write_entry(path: Path, exercise: str, score: float) -> None:
    """Add one score. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps({"exercise": exercise, "score": float(score)})
    # The line end comes first, too: a line that a crash cut off then spoils no other.
    with path.open("ab") as file:
        file.write(f"\n{line}\n".encode())


def _entry(line: str) -> tuple[str, float] | None:
    try:
        read = json.loads(line)
        exercise, score = read["exercise"], read["score"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    if not isinstance(exercise, str) or not is_number or not math.isfinite(score) or score < 0:
        return None
    return exercise, float(score)
