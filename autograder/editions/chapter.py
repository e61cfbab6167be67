"""Read a chapter: a MyST notebook in which some code cells carry `:exercise: name`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jupytext

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


def read_cells(text: str) -> list[Cell]:
    """Split a chapter's text into cells."""
    notebook = jupytext.reads(text, fmt="md:myst")
    return [_cell(cell) for cell in notebook.cells]


def _cell(cell: Any) -> Cell:
    tags = tuple(cell.metadata.get("tags", ()))
    return Cell(cell.cell_type, cell.source, cell.metadata.get("exercise"), tags)


def replace_exercises(text: str, write: Callable[[str, str], str]) -> str:
    """Replace each exercise cell of a chapter's text by write(exercise id, cell text)."""

    def replaced(match: re.Match[str]) -> str:
        found = EXERCISE.search(match["body"])
        return write(found["id"], match[0]) if found else match[0]

    return CODE_CELL.sub(replaced, text)
