"""Chapters -> the notebooks that students and instructors get."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.editions.notebook import instructor_notebook, write

Release = Callable[[Any], Any]  # an instructor notebook -> the student's


@dataclass(frozen=True)
class Written:
    """One notebook file, and whether it had to change."""

    path: Path
    changed: bool


def instructor(course: Course, chapter: str) -> Any:
    """Make the notebook with answers of a chapter."""
    return instructor_notebook(course.text(chapter), *course.repository())


def instructors(course: Course) -> Callable[[str], Any]:
    """Give a function from a chapter to its notebook with answers, which is made once."""
    return cache(partial(instructor, course))


def write_notebooks(course: Course, release: Release, *, only_check: bool = False) -> list[Written]:
    """Write the notebooks of every chapter.

    only_check  leave the files alone, and say which of the committed ones are stale
    """
    written: list[Written] = []
    for name in course.chapters():
        written += _of_chapter(course, name, release, only_check)
    return written


def _of_chapter(course: Course, name: str, release: Release, only_check: bool) -> Iterator[Written]:
    full = instructor(course, name)
    student = release(full)
    if only_check:
        path = course.student_notebook(name)
        yield Written(path, _is_stale(path, student))
        return
    for path, notebook in (
        (course.student_notebook(name), student),
        (course.instructor_notebook(name), full),
    ):
        yield Written(path, write(notebook, path))


def _is_stale(path: Path, notebook: Any) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / path.name
        write(notebook, fresh)
        return not path.is_file() or path.read_bytes() != fresh.read_bytes()
