"""`course class-bundle`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from autograder.bundle.archive import zipped
from autograder.bundle.contents import bundle_files
from autograder.cli import OK
from autograder.course import Course, find_course
from autograder.usage import UsageError


def run(arguments: Namespace) -> int:
    """Write the zip for the students of a chapter and say what is in it."""
    course = find_course()
    chapter = _chapter(course, arguments.chapter)
    path = arguments.out or course.built / "bundles" / f"{chapter}.zip"
    files = bundle_files(course, chapter)
    content = zipped(files)
    _write(path, content)
    print(f"{path}: {len(files)} files, {len(content) / 1e6:.1f} MB. It holds no answers.")
    return OK


def _chapter(course: Course, asked: str) -> str:
    """Take a chapter's name or its number. Raises UsageError."""
    known = course.chapters()
    found = [name for name in known if asked in (name, name.partition("_")[0])]
    if not found:
        raise UsageError(f"there is no chapter {asked}; the chapters are: {', '.join(known)}")
    return found[0]


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
