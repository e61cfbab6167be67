"""`course progress`."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from autograder.catalogue import exercises
from autograder.cli import OK
from autograder.progress.journal import Journal, read_journal
from autograder.progress.place import VARIABLE, place
from autograder.progress.standing import Standing, standing
from autograder.report.progress import progress_text
from autograder.usage import UsageError


def run(arguments: Namespace) -> int:
    """Print how far the student of this machine is, and tell on stderr what is damaged."""
    path = _place()
    journal = _read(path)
    course = standing(exercises().values(), journal.best)
    if arguments.json:
        print(json.dumps(_record(path, journal, course), indent=2, ensure_ascii=False))
    else:
        print(f"{progress_text(course)}\n\n{_source(path)}")
    if journal.damaged:
        print(f"note: {_damage(path, journal.damaged)}", file=sys.stderr)
    return OK


def _place() -> Path:
    try:
        path = place()
    except RuntimeError as error:
        raise UsageError(f"{error} Set {VARIABLE} to the path of a file.") from error
    if path is None:
        raise UsageError(f"{VARIABLE} is set to nothing: no progress is kept")
    return path


def _read(path: Path) -> Journal:
    try:
        return read_journal(path)
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}. Mend or delete it, "
            f"or set {VARIABLE} to the path of another file."
        ) from error


def _record(path: Path, journal: Journal, course: Standing) -> dict[str, Any]:
    chapters = [
        {"chapter": name, **part.as_json(), "exercises": [row.as_json() for row in part.rows]}
        for name, part in course.chapters().items()
    ]
    damaged = list(journal.damaged)
    return {"file": str(path), "damaged": damaged, **course.as_json(), "chapters": chapters}


def _source(path: Path) -> str:
    if not path.exists():
        return f"Nothing is kept yet. A check in a notebook writes its points to {path}"
    return f"From {path}; delete it to start afresh."


def _damage(path: Path, lines: tuple[int, ...]) -> str:
    some = ", ".join(map(str, lines[:5])) + (" ..." if len(lines) > 5 else "")
    return (
        f"what stands in line {some} of {path} cannot be read and was left out. Delete it there, "
        "or the file, and check the exercises that are missing once more."
    )
