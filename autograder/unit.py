"""The unit of work: one submitted file -> one record. Pure but for the process it starts."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import nbformat

from autograder.catalogue import of_chapter
from autograder.chapters import UnknownChapter, chapter_in_name, chapter_of
from autograder.given import given_modules
from autograder.intake import normalise
from autograder.limits import Limits
from autograder.outcome import without_record
from autograder.result import Result
from autograder.sitting import Sitting
from autograder.untrusted import RawCell, Unreadable, file_bytes, read_notebook
from autograder.verdict import Verdict
from autograder.zygotes import Spawned, Zygote, open_zygote

ATTEMPTS = 3


@dataclass(frozen=True)
class Job:
    """One submission to grade.

    chapter  empty if nothing tells which
    path     the file; empty if there is none, and then error says why
    digest   sha256 of the file
    data     its bytes, once it is to be graded
    handed   when it was handed in, in UTC, if something tells
    """

    student: str
    chapter: str
    path: str
    notes: tuple[str, ...] = ()
    error: str = ""
    digest: str = ""
    data: bytes = b""
    handed: datetime | None = None

    def loaded(self) -> Job:
        """Read the file, so that the job can travel to where the file is not."""
        if self.error:
            return self
        try:
            data = file_bytes(Path(self.path))
        except Unreadable as problem:
            return replace(self, error=f"{Path(self.path).name}: {problem}")
        return replace(self, data=data, digest=hashlib.sha256(data).hexdigest())


@dataclass(frozen=True)
class Settings:
    """What is the same for every submission of a class.

    frames   chapter -> the course's own notebook, as JSON
    version  chapter -> version of the assignment
    """

    seed: str
    tier: str
    frames: Mapping[str, str]
    versions: Mapping[str, str]
    limits: Limits = field(default_factory=Limits)

    @property
    def seed_id(self) -> str:
        """Name the seed without telling it."""
        return hashlib.sha256(f"seed id of {self.seed}".encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Done:
    """The record of a submission, and the executed notebook as JSON ("" if there is none)."""

    record: dict[str, Any]
    notebook: str


def work(settings: Settings, job: Job) -> Done:
    """Grade one loaded job. A fault of ours is tried again, then it is a grader error."""
    started = time.perf_counter()
    done, fault = None, ""
    for _ in range(ATTEMPTS):
        try:
            done = _graded(settings, job)
            break
        except Exception as error:  # one submission must not stop the others
            fault = f"{type(error).__name__}: {error}"
            close_zygotes()
    result, notebook = done or (_failed(job.chapter, fault), "")
    seconds = time.perf_counter() - started
    return Done(_record(settings, job, replace(result, seconds=seconds)), notebook)


def given_up(settings: Settings, job: Job, reason: str) -> Done:
    """Make the record of a job that no worker brought to an end: a grader error."""
    return Done(_record(settings, job, _failed(job.chapter, reason)), "")


def grade_bytes(data: bytes, *, student: str, name: str, chapter: str, settings: Settings) -> Done:
    """Grade a submission that is at hand as bytes; `name` is the file's."""
    result, notebook = _graded_bytes(settings, chapter, name, data)
    job = Job(student, chapter, name, digest=hashlib.sha256(data).hexdigest())
    return Done(_record(settings, job, result), notebook)


def _record(settings: Settings, job: Job, result: Result) -> dict[str, Any]:
    """Say whose it is and what was graded, and write it as a record."""
    return replace(
        result,
        student=job.student,
        notes=(*job.notes, *result.notes),
        sandbox=settings.tier,
        submission=job.digest,
        version=settings.versions.get(result.chapter, ""),
        seed_id=settings.seed_id,
    ).as_json()


def _graded(settings: Settings, job: Job) -> tuple[Result, str]:
    if job.error:
        return without_notebook(job.chapter, job.error), ""
    return _graded_bytes(settings, job.chapter, Path(job.path).name, job.data)


def _graded_bytes(settings: Settings, chapter: str, name: str, data: bytes) -> tuple[Result, str]:
    named = chapter or chapter_in_name(Path(name))
    try:
        read = read_notebook(data, name)
        known = chapter or chapter_of(read.cells, named)
    except (Unreadable, UnknownChapter) as problem:
        return without_notebook(named, f"{name}: {problem}"), ""
    result, notebook = graded_cells(settings, known, read.cells)
    executed = json.dumps(notebook, ensure_ascii=False, sort_keys=True)
    return replace(result, notes=(*read.notes, *result.notes)), executed


def graded_cells(
    settings: Settings, chapter: str, cells: Sequence[RawCell]
) -> tuple[Result, dict[str, Any]]:
    """Grade what was read of a notebook; give the result and the executed notebook."""
    intake = normalise(cells, _frame(settings.frames[chapter]))
    options = {"modules": given_modules(chapter), "seconds": settings.limits.request}
    start = partial(_zygote(settings.tier).session, options)
    reports = Sitting(intake, chapter, start, settings.seed, settings.limits).held()
    return Result(chapter, reports, notes=intake.notes), intake.notebook


@cache
def _frame(text: str) -> Any:
    return nbformat.reads(text, as_version=4)


def without_notebook(chapter: str, why: str) -> Result:
    """Make the result of a submission that cannot be read."""
    text = "There was no notebook to grade."
    none = [without_record(one, Verdict.NOT_ANSWERED, text) for one in of_chapter(chapter)]
    return Result(chapter, tuple(none), error=why)


def _failed(chapter: str, why: str) -> Result:
    text = f"The grader itself failed ({why}). Tell your instructor."
    none = [without_record(one, Verdict.GRADER_ERROR, text) for one in of_chapter(chapter)]
    return Result(chapter, tuple(none))


# Each process that grades keeps one warm parent of sessions.

_kept: dict[str, Zygote | Spawned] = {}


def _zygote(tier: str) -> Zygote | Spawned:
    if tier not in _kept:
        _kept[tier] = open_zygote(tier)
    return _kept[tier]


def close_zygotes() -> None:
    """End the warm parents that this process keeps."""
    while _kept:
        _kept.popitem()[1].close()
