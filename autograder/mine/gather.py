"""Gather the answers that pass their checks from a student's notebooks into one module."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.catalogue import exercises, of_chapter
from autograder.celltext import facts
from autograder.chapters import UnknownChapter, chapter_of
from autograder.checking import check
from autograder.mine.module import HEAD, Section, checked_before, module_text
from autograder.mine.own import NotLoaded, load
from autograder.mine.slices import answers_in
from autograder.untrusted import Unreadable, file_bytes, read_notebook
from autograder.usage import UsageError
from autograder.verdict import Verdict
from autograder.version import assignment_version

Tell = Callable[[str], None]


@dataclass
class Gathered:
    """What was found.

    passed  the answers that are in the module, in the order of the course
    why     exercise -> why an answer of it is not in the module
    notes   what is to be said of some files
    """

    passed: list[Section] = field(default_factory=list)
    why: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def gather(folder: Path, out: Path, tell: Tell) -> Gathered:
    """Write the module `out` from the notebooks in a folder and below it.

    tell  is called with a line for each answer that has been checked

    An answer whose text was checked before, by the same version of the course, is not checked
    again. When it is interrupted, what has passed until then is written. Raises UsageError.
    """
    before = _before(out)
    found = Gathered()
    sections = list(_sections(folder, found))
    if not sections:
        raise UsageError(f"no notebook under {folder} answers an exercise of the course")
    versions = {name: assignment_version(name, "") for name in {s.chapter for s in sections}}
    marks = {s.answer.name: s.digest(versions[s.chapter]) for s in sections}
    try:
        _check_all(sections, {name for name, mark in marks.items() if mark in before}, found, tell)
    finally:
        text = module_text(found.passed, _needed(found.passed), marks)
        out.write_text(text, encoding="utf-8", newline="\n")
    return found


def _before(out: Path) -> set[str]:
    if not out.exists():
        return set()
    text = out.read_text(encoding="utf-8", errors="replace")
    if not text.startswith(HEAD):
        raise UsageError(f"{out} was not made by `course mine`: move it away, or name another file")
    return checked_before(text)


def _sections(folder: Path, found: Gathered) -> Iterator[Section]:
    notebooks = _notebooks(folder, found)
    for chapter in dict.fromkeys(one.chapter for one in exercises().values()):
        names = [one.id for one in of_chapter(chapter)]
        answers = answers_in(notebooks.get(chapter, ()), names)
        found.why |= dict.fromkeys(names, "not answered")
        yield from (Section(chapter, answer) for answer in answers)


def _notebooks(folder: Path, found: Gathered) -> dict[str, Sequence[str]]:
    """Read the code cells of each chapter's notebook; of several, the one that was saved last."""
    cells: dict[str, Sequence[str]] = {}
    files = [file for file in folder.rglob("*.ipynb") if not _is_hidden(file, folder)]
    for file in sorted(files, key=lambda file: (-file.stat().st_mtime, file)):
        try:
            read = read_notebook(file_bytes(file), file.name).cells
            chapter = chapter_of(read, file.stem)
        except (Unreadable, UnknownChapter) as problem:
            found.notes.append(f"{file}: {problem}")
            continue
        if chapter in cells:
            found.notes.append(f"{file}: left out, there is a newer notebook of {chapter}")
        else:
            cells[chapter] = [one.source for one in read if one.kind == "code"]
    return cells


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)


def _check_all(sections: Sequence[Section], known: set[str], found: Gathered, tell: Tell) -> None:
    """Check each answer as it will stand in the module, beside all others."""
    with tempfile.TemporaryDirectory() as folder:  # the source is read while an answer is checked
        answers = _loaded(sections, Path(folder, "mine.py"))
        for one in sections:
            name = one.answer.name
            why = "" if name in known else _why_not(name, answers.get(name))
            if why:
                found.why[name] = why
            else:
                found.why.pop(name)
                found.passed.append(one)
            tell(f"{name}: {why or ('passed before' if name in known else 'passed')}")


def _loaded(sections: Sequence[Section], path: Path) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    path.write_text(module_text(sections, _needed(sections), {}), encoding="utf-8")
    load(path, answers.__setitem__)
    return answers


def _why_not(name: str, answer: Any) -> str:
    """Say why an answer is not taken; nothing if it passes its check."""
    if answer is None or isinstance(answer, NotLoaded):
        return answer.why if answer else "it could not be loaded"
    report = check(answer, name).report
    if report.verdict == Verdict.PASS:
        return ""
    return f"{report.verdict}, {report.score:g} of {report.max_score:g} points"


def _needed(sections: Sequence[Section]) -> list[tuple[str, str]]:
    """List (module, name) of exercises that an answer names and that are not gathered."""
    known: Mapping[str, Any] = exercises()
    here = {one.answer.name for one in sections}
    used = {name for one in sections for line in one.answer.lines for name in facts(line).used}
    bound = {name for one in sections for line in one.answer.lines for name in facts(line).bound}
    return [(known[n].solution.__module__, n) for n in (used & known.keys()) - here - bound]
