"""Grade one notebook, or a class of them. Every submission ends in exactly one result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from autograder.catalogue import exercises, of_chapter
from autograder.classroom import Entry
from autograder.intake import Intake, exercises_found, normalise
from autograder.outcome import reports, without_record
from autograder.result import Result
from autograder.untrusted import RawCell, Unreadable, read_file
from autograder.verdict import Report, Verdict

Execute = Callable[[Any], Any]  # a notebook -> the same, executed
Ours = Callable[[str], Any]  # a chapter -> the course's own notebook of it


class UnknownChapter(LookupError):  # noqa: N818 - what happened, not that it is an error
    """The chapter of a notebook is not one of ours; the message names those that are."""


@dataclass(frozen=True)
class Autograded:
    """What a gradebook gives back: the executed notebook and the points of each exercise.

    notebook is None if grading failed; then trouble says why.
    """

    notebook: Any
    scores: Mapping[str, float]
    trouble: str = ""


class Gradebook(Protocol):
    """Where the marks of a class are kept."""

    def known_as(self, student: str) -> str:
        """Give the name under which the gradebook keeps a student."""

    def autograde(self, student: str, chapter: str, notebook: Any) -> Autograded:
        """Execute and score a normalised notebook."""

    def record_zero(self, student: str, chapter: str) -> None:
        """Keep 0 points for a submission that could not be executed."""


def check_notebook(path: Path, ours: Ours, execute: Execute) -> Result:
    """Grade one notebook as a graded class would, without a gradebook."""
    started = time.perf_counter()
    entry = Entry("", "", path)
    chapter, taken = _taken_in(entry, "", ours)
    if isinstance(taken, str):
        return _without_notebook(chapter, taken)
    executed = execute(taken.notebook)
    found = reports(of_chapter(chapter), executed.cells, taken.answers)
    return Result(chapter, found, time.perf_counter() - started, taken.notes)


def grade_class(
    entries: Sequence[Entry], chapter: str, ours: Ours, gradebook: Gradebook
) -> Iterator[Result]:
    """Grade submissions one after another.

    chapter   what a submission that does not say it belongs to; empty: the notebook tells
    ours      gives the course's own notebook of a chapter
    """
    for entry in entries:
        started = time.perf_counter()
        try:
            result = _graded(entry, chapter, ours, gradebook)
        except Exception as error:  # one submission must not stop the others
            result = _our_fault(entry, chapter, error)
        seconds = time.perf_counter() - started
        notes = (*_renamed(entry.student, gradebook), *entry.notes, *result.notes)
        yield replace(result, student=entry.student, seconds=seconds, notes=notes)


def _renamed(student: str, gradebook: Gradebook) -> list[str]:
    kept = gradebook.known_as(student)
    return [] if kept == student else [f"called {kept} in grades.csv and feedback/"]


def chapter_of(cells: Sequence[RawCell], name: str) -> str:
    """Name the chapter whose exercises a notebook holds; where it holds none, `name` decides.

    Raises UnknownChapter.
    """
    known = list(dict.fromkeys(one.chapter for one in exercises().values()))
    ids = {chapter: [one.id for one in of_chapter(chapter)] for chapter in known}
    count = {chapter: exercises_found(cells, ids[chapter]) for chapter in known}
    best = max(known, key=lambda chapter: (count[chapter], chapter == name))
    if count[best] or best == name:
        return best
    raise UnknownChapter(
        f"none of the course's exercises is in it; chapters with exercises: {', '.join(known)}"
    )


def _taken_in(entry: Entry, fallback: str, ours: Ours) -> tuple[str, Intake | str]:
    """Return the chapter, and the normalised notebook or why there is none."""
    assert entry.path is not None
    named = entry.chapter or fallback or _chapter_in_name(entry.path)
    try:
        cells = read_file(entry.path)
        chapter = entry.chapter or chapter_of(cells, named)
    except (Unreadable, UnknownChapter) as problem:
        return named, f"{entry.path.name}: {problem}"
    return chapter, normalise(cells, ours(chapter))


def _chapter_in_name(path: Path) -> str:
    known = [one.chapter for one in exercises().values()]
    return next((name for name in known if name in (path.stem, path.parent.name)), "")


def _graded(entry: Entry, fallback: str, ours: Ours, gradebook: Gradebook) -> Result:
    if entry.path is None:
        chapter = entry.chapter or fallback
        gradebook.record_zero(entry.student, chapter)
        return _without_notebook(chapter, entry.notes[0])
    chapter, taken = _taken_in(entry, fallback, ours)
    if isinstance(taken, str):
        gradebook.record_zero(entry.student, chapter)
        return _without_notebook(chapter, taken)
    done = gradebook.autograde(entry.student, chapter, taken.notebook)
    if done.notebook is None:
        gradebook.record_zero(entry.student, chapter)
        return replace(_failed(chapter, done.trouble), notes=taken.notes)
    found = reports(of_chapter(chapter), done.notebook.cells, taken.answers)
    checked = tuple(_agreed(report, done.scores.get(report.exercise)) for report in found)
    return Result(chapter, checked, notes=taken.notes)


def _agreed(report: Report, kept: float | None) -> Report:
    """Compare a report with what the gradebook holds; a difference is a fault of ours."""
    if kept == report.score:
        return report
    held = "no score" if kept is None else f"{kept:g} points"
    text = f"The gradebook holds {held}, the check gave {report.score:g}. Tell your instructor."
    return replace(report, verdict=Verdict.GRADER_ERROR, diagnosis=text)


def _without_notebook(chapter: str, why: str) -> Result:
    text = "There was no notebook to grade."
    none = [without_record(one, Verdict.NOT_ANSWERED, text) for one in of_chapter(chapter)]
    return Result(chapter, tuple(none), error=why)


def _failed(chapter: str, why: str) -> Result:
    text = f"The grader itself failed ({why}). Tell your instructor."
    none = [without_record(one, Verdict.GRADER_ERROR, text) for one in of_chapter(chapter)]
    return Result(chapter, tuple(none))


def _our_fault(entry: Entry, fallback: str, error: Exception) -> Result:
    chapter = entry.chapter or fallback
    return _failed(chapter, f"{type(error).__name__}: {error}")
