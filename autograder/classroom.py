"""A folder of submissions -> one entry for each student and chapter, whatever lies in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.celltext import written
from autograder.untrusted import Unreadable, read_file

SUFFIX = ".ipynb"


@dataclass(frozen=True)
class Entry:
    """One student's submission of one chapter.

    chapter  from the folder's name; empty if the notebook itself has to tell
    path     the notebook, or None if there is none
    """

    student: str
    chapter: str
    path: Path | None
    notes: tuple[str, ...] = ()


def entries(submitted: Path, chapters: Collection[str]) -> list[Entry]:
    """List every submission in `submitted`, in the order of the students' names.

    Expected is submitted/<student>/<chapter>/<chapter>.ipynb. Other names, and notebooks that lie
    directly in the student's folder or in `submitted` itself, are taken too, with a note.
    """
    found: list[Entry] = []
    for one in sorted(submitted.iterdir(), key=lambda path: path.name):
        if one.name.startswith(".") or one.name == "__MACOSX":
            continue  # what systems leave behind
        if one.is_symlink() or not one.is_dir():
            found += _loose(one)
        else:
            found += _of_student(one, chapters)
    return found


def _loose(path: Path) -> Iterator[Entry]:
    if path.suffix == SUFFIX:
        note = "the notebook lies outside a student's folder: its name was taken as the student's"
        yield Entry(path.stem, "", path, (note,))


def _of_student(folder: Path, chapters: Collection[str]) -> list[Entry]:
    named = [folder / chapter for chapter in chapters if (folder / chapter).is_dir()]
    found = [_in_chapter(folder.name, path.name, path) for path in sorted(named)]
    if found:
        return found
    notebooks = _notebooks(folder)
    if not notebooks:
        return [Entry(folder.name, "", None, (_nothing(folder, "the student's folder"),))]
    path, notes = _choice(notebooks, "")
    taken = f"taken from {path.relative_to(folder).as_posix()}, not from a chapter's folder"
    return [Entry(folder.name, "", path, (taken, *notes))]


def _in_chapter(student: str, chapter: str, folder: Path) -> Entry:
    notebooks = _notebooks(folder)
    if not notebooks:
        return Entry(student, chapter, None, (_nothing(folder, f"{chapter}/"),))
    path, notes = _choice(notebooks, chapter)
    if path.stem != chapter:
        notes = (f"the notebook is called {path.name}, not {chapter}{SUFFIX}", *notes)
    return Entry(student, chapter, path, notes)


def _nothing(folder: Path, where: str) -> str:
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    there = f" (there is {', '.join(names[:5])})" if names else ""
    return f"no notebook was found in {where}{there}"


def _notebooks(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob(f"*{SUFFIX}") if ".ipynb_checkpoints" not in path.parts)
    return sorted(found, key=lambda path: (len(path.parts), path.name))


def _choice(notebooks: list[Path], chapter: str) -> tuple[Path, tuple[str, ...]]:
    """Take the notebook of the right name, else the one with most written; name the others."""
    right = [path for path in notebooks if path.stem == chapter]
    chosen = right[0] if right else max(notebooks, key=_written)
    others = [path.name for path in notebooks if path != chosen]
    note = f"also there and not graded: {', '.join(others)}"
    return chosen, (note,) if others else ()


def _written(path: Path) -> int:
    try:
        cells = read_file(path)
    except Unreadable:
        return -1
    return sum(written(cell.source) for cell in cells if cell.kind == "code")
