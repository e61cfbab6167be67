"""A folder of submissions -> one entry for each student and chapter, whatever lies in it."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from autograder.celltext import written
from autograder.layouts import METADATA, gradescope_owners, named
from autograder.membernames import in_words, is_leftover
from autograder.untrusted import Unreadable, read_file

SUFFIX = ".ipynb"
# What may hold a notebook, the likeliest first; browsers add .txt and .json to a download.
KINDS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (r".*\.ipynb", r".*\.ipynb[ ._(-].*|.*\.json", r".*\.zip", r".*\.py")
)
NO_EXTRAS = ("timestamp.txt", METADATA)  # written by nbgrader and Gradescope
MOST_FILES = 5_000  # that are looked at in one student's folder
SHOWN = 5


@dataclass(frozen=True)
class Entry:
    """One student's submission of one chapter.

    chapter  from the folder's name; empty if the notebook itself has to tell
    path     the notebook, or what may hold it; None if there is nothing to grade
    """

    student: str
    chapter: str
    path: Path | None
    notes: tuple[str, ...] = ()


@dataclass
class _HandedIn:
    """All that one student handed in: folders and files, with what the platform says of them."""

    student: str
    folders: list[Path] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def entries(submitted: Path, chapters: Collection[str]) -> list[Entry]:
    """List every submission in `submitted`, in the order of the students' names.

    Expected is submitted/<student>/<chapter>/<chapter>.ipynb. Other names, notebooks that lie
    directly in the student's folder or in `submitted` itself, and the downloads of learning
    platforms (see `layouts`) are taken too, with a note. Links are never followed.
    """
    students: dict[str, _HandedIn] = {}
    folder = _inner(submitted, chapters)
    owners = gradescope_owners(folder)
    for one in _visible(folder):
        for student in owners.get(one.name) or _students(one):
            name = _plain(student)
            _add(one, students.setdefault(name, _HandedIn(name)))
    for given in students.values():
        _keep_newest(given)
    return [entry for name in sorted(students) for entry in _of_student(students[name], chapters)]


# Whose it is


def _visible(folder: Path) -> list[Path]:
    there = sorted(folder.iterdir(), key=lambda path: path.name)
    return [path for path in there if not is_leftover(path.name)]


def _inner(folder: Path, chapters: Collection[str]) -> Path:
    """Step over the one folder that many zips wrap around the students' folders."""
    there = _visible(folder)
    if len(there) != 1 or not _is_folder(there[0]) or named(there[0].name):
        return folder
    inside = _visible(there[0])
    if any(path.name in chapters for path in inside):
        return folder  # the folder of the only student
    folders = [path for path in inside if _is_folder(path)]
    in_chapters = any(path.name in chapters for one in folders for path in _visible(one))
    wrapped = in_chapters or len(folders) > 1 or any(named(path.name) for path in inside)
    return there[0] if wrapped else folder


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _students(path: Path) -> Iterator[str]:
    """Name the student of something in the class's folder; nobody if it is no submission."""
    known = named(path.name)
    stem, suffix, _ = path.name.partition(SUFFIX)
    if known:
        yield known.student
    elif path.is_dir():
        yield path.name
    elif suffix:
        yield stem
    elif path.suffix.lower() in (SUFFIX, ".zip"):
        yield path.stem


def _plain(student: str) -> str:
    """Give a name that can be written anywhere: no half letters, no control characters."""
    text = os.fsencode(student).decode("utf-8", "replace")
    return unicodedata.normalize("NFC", in_words(text, longest=300)).strip() or "?"


def _add(path: Path, to: _HandedIn) -> None:
    known = named(path.name)
    if not path.is_dir():
        to.files.append(path)
    elif path.is_symlink():
        to.notes.append(f"{in_words(path.name)} is a link to a folder: it was not followed")
    else:
        to.folders.append(path)
    if known and known.late:
        to.notes.append(f"{known.platform} marks it as late")


def _keep_newest(given: _HandedIn) -> None:
    """Of the notebooks and folders that a platform numbers, keep the newest of a student."""
    versions = {
        path: known.version
        for path in (*given.folders, *(path for path in given.files if _kind(path) == 0))
        if (known := named(path.name)) and known.version[1]
    }
    older = sorted(versions, key=lambda path: versions[path])[:-1]
    if older:
        given.notes.append(f"handed in {len(versions)} times: the newest was graded")
        given.folders = [path for path in given.folders if path not in older]
        given.files = [path for path in given.files if path not in older]


# What is graded


def _of_student(given: _HandedIn, chapters: Collection[str]) -> list[Entry]:
    places = {
        folder / chapter: chapter
        for folder in given.folders
        for chapter in chapters
        if _is_folder(folder / chapter)
    }
    if places:
        found = [_in_chapter(given, name, place) for place, name in sorted(places.items())]
        return list({entry.chapter: entry for entry in found}.values())
    return [_without_chapter(given)]


def _in_chapter(given: _HandedIn, chapter: str, folder: Path) -> Entry:
    files = _files([folder])
    path, notes = _choice(files, chapter)
    if path is None:
        return Entry(given.student, chapter, None, (_nothing(files, f"{chapter}/"), *given.notes))
    if path.stem != chapter or path.suffix != SUFFIX:
        called = f"the notebook is called {in_words(path.name)}, not {chapter}{SUFFIX}"
        notes = (called, *notes)
    return Entry(given.student, chapter, path, (*notes, *given.notes))


def _without_chapter(given: _HandedIn) -> Entry:
    files = [*given.files, *_files(given.folders)]
    path, notes = _choice(files, "")
    if path is None:
        nothing = _nothing(files, "the student's folder" if given.folders else "what is there")
        return Entry(given.student, "", None, (nothing, *given.notes))
    return Entry(given.student, "", path, (_found_at(path, given), *notes, *given.notes))


def _found_at(path: Path, given: _HandedIn) -> str:
    for folder in given.folders:
        if folder in path.parents:
            place = "/".join(in_words(part) for part in path.relative_to(folder).parts)
            return f"taken from {place}, not from a chapter's folder"
    known = named(path.name)
    if known:
        return f"taken from a download of {known.platform}: handed in as {in_words(known.file)}"
    return "the notebook lies outside a student's folder: its name was taken as the student's"


def _files(folders: Iterable[Path]) -> list[Path]:
    """List the files in a student's folders, the least deep first; no link is followed."""
    found = []
    for folder in folders:
        walk = (Path(place) / name for place, _, names in os.walk(folder) for name in sorted(names))
        for path in islice(walk, MOST_FILES):
            if not any(is_leftover(part) for part in path.relative_to(folder).parts):
                found.append(path)
    return sorted(found, key=lambda path: (len(path.parts), path.name))


def _kind(path: Path) -> int | None:
    """Say how likely a file holds the notebook: 0 the most, None if it does not."""
    kinds = (number for number, kind in enumerate(KINDS) if kind.fullmatch(path.name))
    return next(kinds, None)


def _choice(files: list[Path], chapter: str) -> tuple[Path | None, tuple[str, ...]]:
    """Take the notebook of the right name, else the one with most written; name the others."""
    kinds = {path: kind for path in files if (kind := _kind(path)) is not None}
    if not kinds:
        return None, ()
    likeliest = [path for path, kind in kinds.items() if kind == min(kinds.values())]
    right = [path for path in likeliest if path.stem == chapter]
    chosen = right[0] if right else likeliest[0]
    if len(likeliest) > 1 and not right:
        chosen = max(likeliest, key=_written)
    others = [path.name for path in likeliest if path != chosen]
    extras = [path.name for path in files if path not in likeliest and path.name not in NO_EXTRAS]
    notes = (("also there and not graded", others), ("handed in beside it and not used", extras))
    return chosen, tuple(f"{text}: {_listed(names)}" for text, names in notes if names)


def _written(path: Path) -> int:
    try:
        cells = read_file(path)
    except Unreadable:
        return -1
    return sum(written(cell.source) for cell in cells if cell.kind == "code")


def _nothing(files: list[Path], where: str) -> str:
    there = f" (there is {_listed([path.name for path in files])})" if files else ""
    return f"no notebook was found in {where}{there}"


def _listed(names: list[str]) -> str:
    more = len(names) - SHOWN
    shown = ", ".join(in_words(name) for name in names[:SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown
