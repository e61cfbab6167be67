"""What of the course a graded notebook may import: the answers of earlier chapters, as sources."""

from __future__ import annotations

import ast
from functools import cache
from importlib.util import find_spec
from inspect import getfile
from pathlib import Path

from autograder.bundle.modules import imports
from autograder.catalogue import exercises

BESIDE = ("book.figures", "book.data")  # no answers there


@cache
def given_modules(chapter: str) -> dict[str, str]:
    """Give module name -> source of what may be imported while a chapter is graded.

    A module that holds an exercise of the chapter, or of a later one, is not among them, nor is one
    that imports such a module.
    """
    held_back = {one.solution.__module__ for one in exercises().values() if one.chapter >= chapter}
    found = {f"solutions.{path.stem}": path for path in reference_files() if path.stem[0] != "_"}
    given = {name: path for name, path in found.items() if name not in held_back}
    for package in BESIDE:
        given |= {f"{package}.{path.stem}": path for path in _files(package)}
    texts = {name: path.read_text(encoding="utf-8") for name, path in given.items()}
    return {"solutions": "", "book": "", **dict.fromkeys(BESIDE, ""), **_whole(texts, held_back)}


def _whole(texts: dict[str, str], missing: set[str]) -> dict[str, str]:
    """Leave out what imports a missing module, and what imports that, and so on."""
    while missing:
        imported = {name: imports(ast.parse(text)) for name, text in texts.items()}
        missing = {name for name in texts if imported[name] & missing}
        texts = {name: text for name, text in texts.items() if name not in missing}
    return texts


def _files(package: str) -> list[Path]:
    """List the files of a package that set-up cells import from."""
    found = find_spec(package)
    folders = [Path(one) for one in (found and found.submodule_search_locations) or ()]
    return sorted(path for folder in folders for path in folder.glob("[!_]*.py"))


def reference_files() -> list[Path]:
    """List the files of the reference library."""
    folders = {Path(getfile(one.solution)).parent for one in exercises().values()}
    return sorted(path for folder in folders for path in folder.glob("*.py"))
