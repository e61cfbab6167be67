"""The work of `course grade`: what is to be graded, before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.chapters import UnknownChapter, chapter_in_name, chapter_of
from autograder.classroom import Entry, entries
from autograder.course import Course
from autograder.editions.notebook import write
from autograder.jobs import Job, Settings
from autograder.notebooks import instructors
from autograder.seeds import class_seed
from autograder.settings import settings_of
from autograder.timestamps import handed_in
from autograder.untrusted import Unreadable, read_bytes
from autograder.usage import UsageError


@dataclass(frozen=True)
class Work:
    """A class to grade: one job for each submission, and what holds for all of them."""

    jobs: tuple[Job, ...]
    settings: Settings


def plan(
    course: Course, submitted: Path, chapter: str | None, settings: Callable[..., Settings]
) -> Work:
    """Find out what is to be graded.

    submitted  an unpacked folder
    chapter    the only chapter to grade; None for whatever is there
    settings   makes the settings for the chapters that occur

    Raises UsageError.
    """
    chapters = course.chapters()
    if chapter and chapter not in chapters:
        raise UsageError(f"there is no chapter {chapter}; there are: {', '.join(chapters)}")
    found = entries(submitted, [chapter] if chapter else chapters)
    if not found:
        raise UsageError(f"{submitted} holds no submissions: expected <student>/<chapter>/*.ipynb")
    only = chapter or (chapters[0] if len(chapters) == 1 else "")
    jobs = tuple(_job(entry, only) for entry in found)
    return Work(jobs, settings(chapters=sorted({job.chapter for job in jobs} - {""})))


def settings_for_class(
    course: Course, out: Path, seed: str, tier: str, *, chapters: Sequence[str]
) -> Settings:
    """Make the settings for a class, and write the course's notebooks into `out`."""
    make = instructors(course)
    frames = {}
    for name in chapters:
        frames[name] = out / "source" / name / f"{name}.ipynb"
        write(make(name), frames[name])
    return settings_of(frames, seed, tier)


def _job(entry: Entry, only: str) -> Job:
    """Look at a file: at its hash, and at its chapter where no folder tells."""
    if entry.path is None:
        return Job(entry.student, entry.chapter or only, "", entry.notes[1:], entry.notes[0])
    job = Job(entry.student, entry.chapter, str(entry.path), entry.notes).loaded()
    chapter = entry.chapter or _chapter(job.data, entry.path, only)
    return replace(job, chapter=chapter, data=b"", handed=handed_in(entry.path))


def _chapter(data: bytes, path: Path, only: str) -> str:
    named = only or chapter_in_name(path)
    try:
        return chapter_of(read_bytes(data), named)
    except (Unreadable, UnknownChapter):
        return named


def seed_of(seed_file: Path | None, out: Path) -> str:
    """Take the class's seed, and keep it in `out` for the next time."""
    seed = class_seed(seed_file, out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "seed.txt").write_text(f"{seed}\n", encoding="utf-8")
    return seed
