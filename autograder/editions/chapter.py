"""Read a chapter: a MyST notebook in which some code cells carry `:exercise: name`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jupytext

NAME = re.compile(r"\d\d_\w+")
CODE_CELL = re.compile(
    r"^```\{code-cell\}[^\n]*\n(?P<body>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL
)
EXERCISE = re.compile(r"^:exercise:[ \t]*(?P<id>\w+)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """One cell of a chapter; `exercise` names the exercise whose answer it imports."""

    kind: str
    source: str
    exercise: str | None = None
    tags: tuple[str, ...] = ()


def chapter_names(book: Path) -> list[str]:
    """List the chapters of a book folder: "02_scaled_dot_product", ..."""
    return sorted(p.stem for p in book.glob("*.md") if NAME.fullmatch(p.stem))


def read_cells(text: str) -> list[Cell]:
    """Split a chapter's text into cells."""
    notebook = jupytext.reads(text, fmt="md:myst")
    return [_cell(cell) for cell in notebook.cells]


def _cell(cell: Any) -> Cell:
    tags = tuple(cell.metadata.get("tags", ()))
    return Cell(cell.cell_type, cell.source, cell.metadata.get("exercise"), tags)


def exercise_ids(text: str) -> list[str]:
    """List the exercises of a chapter's text, in order."""
    found = (EXERCISE.search(m["body"]) for m in CODE_CELL.finditer(text))
    return [match["id"] for match in found if match]


def replace_exercises(text: str, write: Callable[[str, str], str]) -> str:
    """Replace each exercise cell of a chapter's text by write(exercise id, cell text)."""

    def replaced(match: re.Match[str]) -> str:
        found = EXERCISE.search(match["body"])
        return write(found["id"], match[0]) if found else match[0]

    return CODE_CELL.sub(replaced, text)
