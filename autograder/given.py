"""What of the course a graded notebook may import: the answers of earlier chapters, as sources."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from inspect import getfile
from pathlib import Path

from autograder.catalogue import exercises


@cache
def given_modules(chapter: str) -> dict[str, str]:
    """Give module name -> source of what may be imported while a chapter is graded.

    A module that holds an exercise of the chapter, or of a later one, is not among them.
    """
    held_back = {one.solution.__module__ for one in exercises().values() if one.chapter >= chapter}
    found = {f"solutions.{path.stem}": path for path in reference_files() if path.stem[0] != "_"}
    given = {name: path for name, path in found.items() if name not in held_back}
    given |= {f"book.figures.{path.stem}": path for path in _figure_files()}
    texts = {name: path.read_text(encoding="utf-8") for name, path in given.items()}
    return {"solutions": "", "book": "", "book.figures": "", **texts}


def _figure_files() -> list[Path]:
    """List the files of the style of figures, which set-up cells import."""
    found = find_spec("book.figures")
    folders = [Path(one) for one in (found and found.submodule_search_locations) or ()]
    return sorted(path for folder in folders for path in folder.glob("[!_]*.py"))


def reference_files() -> list[Path]:
    """List the files of the reference library."""
    folders = {Path(getfile(one.solution)).parent for one in exercises().values()}
    return sorted(path for folder in folders for path in folder.glob("*.py"))
