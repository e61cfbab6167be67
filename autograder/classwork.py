"""The work of `course grade`: what is to be graded, and the files that come out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from autograder.classroom import Entry, entries
from autograder.course import Course
from autograder.grading import Gradebook, Ours, grade_class
from autograder.report.grades import class_text
from autograder.result import Result
from autograder.seeds import class_seed
from autograder.usage import UsageError

RESULTS = "results.json"


class Finished(Protocol):
    """What a gradebook does once everything is graded."""

    def feedback(self) -> str:
        """Write the pages for students; return what went wrong, if anything."""

    def export(self) -> Path:
        """Write the table of marks and return its path."""


@dataclass(frozen=True)
class Work:
    """A class to grade: who handed in what, for which chapter, and where results go."""

    entries: tuple[Entry, ...]
    chapter: str
    out: Path
    seed: str

    def grade(self, ours: Ours, gradebook: Gradebook) -> Iterator[Result]:
        """Grade one submission after another."""
        return grade_class(self.entries, self.chapter, ours, gradebook)


def plan(
    course: Course, submitted: Path, out: Path, chapter: str | None, seed_file: Path | None
) -> Work:
    """Look at the folders before anything runs. Raises UsageError."""
    chapters = course.chapters()
    if chapter and chapter not in chapters:
        raise UsageError(f"there is no chapter {chapter}; there are: {', '.join(chapters)}")
    _look_at_folders(submitted, out)
    found = entries(submitted, [chapter] if chapter else chapters)
    if not found:
        raise UsageError(f"{submitted} holds no submissions: expected <student>/<chapter>/*.ipynb")
    only = chapter or (chapters[0] if len(chapters) == 1 else "")
    return Work(tuple(found), only, out, class_seed(seed_file, out))


def finish(out: Path, results: Sequence[Result], gradebook: Finished) -> str:
    """Write results.json, grades.csv, summary.txt and the feedback; return what to print."""
    records = [result.as_json() for result in results]
    _write(out / RESULTS, json.dumps(records, indent=2, ensure_ascii=False, allow_nan=False))
    trouble = gradebook.feedback()
    summary = class_text(results)
    if trouble:
        summary += f"\nSome feedback pages were not written ({trouble}); see nbgrader.log."
    _write(out / "summary.txt", summary)
    table = gradebook.export()
    return f"{summary}\n\nRecords: {out / RESULTS}\nMarks: {table}\nFeedback: {out / 'feedback'}"


def _look_at_folders(submitted: Path, out: Path) -> None:
    if not submitted.is_dir():
        raise UsageError(f"there is no folder {submitted}")
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; --out names a folder")
    inner, outer = out.resolve(), submitted.resolve()
    if inner == outer or outer in inner.parents:
        raise UsageError(f"--out {out} lies among the submissions; choose a folder outside")
    if out.is_dir() and any(out.iterdir()) and not (out / "nbgrader_config.py").exists():
        raise UsageError(f"--out {out} holds other files; choose an empty or a new folder")


def _write(path: Path, text: Any) -> None:
    path.write_text(f"{text}\n", encoding="utf-8", newline="\n")
