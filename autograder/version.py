"""The version of an assignment: changes with whatever a score may depend on, and with no more."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from autograder.catalogue import of_chapter
from autograder.given import reference_files

PACKAGE = Path(__file__).parent


def assignment_version(chapter: str, notebook: str) -> str:
    """Name the version of a chapter's assignment: twelve hexadecimal digits.

    notebook  text of the course's own notebook of the chapter
    """
    digest = hashlib.sha256(f"{notebook}\n{metadata.version('torch')}".encode())
    for path in sorted(_sources(chapter)):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _sources(chapter: str) -> Iterator[Path]:
    """Yield what judges: the core, the runner, this chapter's exercises, the reference."""
    yield from PACKAGE.glob("*.py")
    yield from (PACKAGE / "runner").rglob("*.py")
    for package in {one.cases[0].draw.__module__.rpartition(".")[0] for one in of_chapter(chapter)}:
        yield from PACKAGE.parent.joinpath(*package.split(".")).glob("*.py")
    yield from reference_files()
