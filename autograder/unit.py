"""The unit of work: one submitted file -> one record. Pure but for the process it starts."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from autograder.catalogue import of_chapter
from autograder.chapters import UnknownChapter, chapter_in_name, chapter_of
from autograder.given import given_modules
from autograder.intake import normalise
from autograder.jobs import Done, Job, Settings
from autograder.kept import close_zygotes, zygote_of
from autograder.nodes import read_nodes
from autograder.outcome import without_record
from autograder.result import Result
from autograder.sitting import Sitting
from autograder.untrusted import RawCell, Unreadable, read_notebook
from autograder.verdict import Verdict

ATTEMPTS = 3


def work(settings: Settings, job: Job) -> Done:
    """Grade one loaded job. A fault of ours is tried again, then it is a grader error."""
    started = time.perf_counter()
    done, fault = None, ""
    for _ in range(ATTEMPTS):
        try:
            done = _graded(settings, job)
        except Exception as error:  # one submission must not stop the others
            fault = f"{type(error).__name__}: {error}"
        else:
            if not _is_fault_of_ours(done[0]):
                break
        close_zygotes()  # it may be what failed
    result, notebook = done or (_failed(job.chapter, fault), "")
    seconds = time.perf_counter() - started
    return Done(_record(settings, job, replace(result, seconds=seconds)), notebook)


def _is_fault_of_ours(result: Result) -> bool:
    return any(report.verdict == Verdict.GRADER_ERROR for report in result.reports)


def given_up(settings: Settings, job: Job, reason: str) -> Done:
    """Make the record of a job that no worker brought to an end: a grader error."""
    return Done(_record(settings, job, _failed(job.chapter, reason)), "")


def grade_bytes(data: bytes, *, student: str, name: str, chapter: str, settings: Settings) -> Done:
    """Grade a submission that is at hand as bytes; `name` is the file's."""
    result, notebook = _graded_bytes(settings, chapter, Path(name), data)
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
    return _graded_bytes(settings, job.chapter, Path(job.path), job.data)


def _graded_bytes(settings: Settings, chapter: str, path: Path, data: bytes) -> tuple[Result, str]:
    named = chapter or chapter_in_name(path)
    try:
        read = read_notebook(data, path.name)
        known = chapter or chapter_of(read.cells, named)
    except (Unreadable, UnknownChapter) as problem:
        return without_notebook(named, f"{path.name}: {problem}"), ""
    result, notebook = graded_cells(settings, known, read.cells)
    executed = json.dumps(notebook, ensure_ascii=False, sort_keys=True)
    return replace(result, notes=(*read.notes, *result.notes)), executed


def graded_cells(
    settings: Settings, chapter: str, cells: Sequence[RawCell]
) -> tuple[Result, dict[str, Any]]:
    """Grade what was read of a notebook; give the result and the executed notebook."""
    intake = normalise(cells, _frame(settings.frames[chapter]))
    options = {"modules": given_modules(chapter), "seconds": settings.limits.request}
    start = partial(zygote_of(settings.tier).session, options)
    reports = Sitting(intake, chapter, start, settings.seed, settings.limits).held()
    return Result(chapter, reports, notes=intake.notes), intake.notebook


@cache
def _frame(text: str) -> Any:
    return read_nodes(text)


def without_notebook(chapter: str, why: str) -> Result:
    """Make the result of a submission that cannot be read."""
    text = "There was no notebook to grade."
    none = [without_record(one, Verdict.NOT_ANSWERED, text) for one in of_chapter(chapter)]
    return Result(chapter, tuple(none), error=why)


def _failed(chapter: str, why: str) -> Result:
    text = f"The grader itself failed ({why}). Tell your instructor."
    none = [without_record(one, Verdict.GRADER_ERROR, text) for one in of_chapter(chapter)]
    return Result(chapter, tuple(none), error="" if none else text)
