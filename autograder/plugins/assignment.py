"""A chapter as an assignment of an nbgrader course: source/, release/ and rows."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import capture_log
from traitlets.config import Config

COURSE = "default_course"  # a row that `Gradebook` makes; PostgreSQL takes no assignment without


def generate_assignment(folder: Path, chapter: str, db_url: str) -> None:
    """Run nbgrader's own `generate_assignment` on source/<chapter>/.

    Raises RuntimeError with nbgrader's reason; the whole log is in nbgrader.log.
    """
    settings = Config()
    settings.CourseDirectory.db_url = db_url
    settings.CourseDirectory.course_id = COURSE
    where = CourseDirectory(root=str(folder), config=settings)
    where.assignment_id = chapter
    app = GenerateAssignment(coursedir=where, config=settings)
    app.force = True
    with quiet(), tools_on_path():
        outcome = capture_log(app)
    with (folder / "nbgrader.log").open("a", encoding="utf-8") as log:
        log.write(outcome.get("log", "") + outcome.get("error", ""))
    if outcome.get("error", "").rstrip().endswith("KeyboardInterrupt"):
        raise KeyboardInterrupt  # nbgrader has swallowed it; a person wants all of this to end
    if not outcome["success"]:
        raise RuntimeError(f"nbgrader generate_assignment failed: {_last_line(outcome)}")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep the warnings of nbgrader's own dependencies from the terminal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def tools_on_path() -> Iterator[None]:
    """Let nbgrader find `alembic`, which lies beside Python."""
    before = os.environ.get("PATH")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before or ""])
    try:
        yield
    finally:
        if before is None:
            del os.environ["PATH"]
        else:
            os.environ["PATH"] = before


def _last_line(outcome: dict[str, Any]) -> str:
    """Find the error itself: the log holds it, nbgrader's own exception points to the log."""
    logged = outcome.get("log", "").splitlines()
    start = re.compile(r"\s*(?!nbgrader)[\w.]+(Error|Exception)\b")
    errors = [line.strip() for line in logged if start.match(line)]
    raised = outcome.get("error", "").strip().splitlines()
    return str((errors or raised or ["no reason given"])[-1])
