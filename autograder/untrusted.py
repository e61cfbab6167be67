"""A file that someone handed in -> plain cells. Nothing in it is trusted, nothing is run."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LARGEST_BYTES = 50_000_000
CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7})(?: .*)?$", re.MULTILINE)
NOT_NOTEBOOKS = (
    (b"PK\x03\x04", "a zip archive"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
)


class Unreadable(ValueError):  # noqa: N818 - what happened, not that it is an error
    """The file is no notebook; the message says why, with line and column where there are any."""


@dataclass(frozen=True)
class RawCell:
    """What is used of a submitted cell: its kind, its text, and the names it claims."""

    kind: str
    source: str
    names: tuple[str, ...] = ()


def read_file(path: Path) -> list[RawCell]:
    """Read the cells of a submitted file. Raises Unreadable."""
    if path.is_symlink():
        raise Unreadable("it is a link to another file: hand in the file itself")
    if not path.is_file():
        raise Unreadable("it is not a file")
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"the system does not let us read it: {error.strerror}") from error
    return read_bytes(data)


def read_bytes(data: bytes) -> list[RawCell]:
    """Read the cells of a notebook in any format from version 3 on. Raises Unreadable."""
    if len(data) > LARGEST_BYTES:
        raise Unreadable(f"it is larger than {LARGEST_BYTES // 1_000_000} MB: clear its outputs")
    return _cells(_json(_text(data)))


def _text(data: bytes) -> str:
    if not data.strip(b"\x00 \t\r\n"):
        raise Unreadable("the file is empty")
    for start, kind in NOT_NOTEBOOKS:
        if data.startswith(start):
            raise Unreadable(f"not a notebook: it is {kind}")
    encoding = json.detect_encoding(data)
    try:
        # Half of a surrogate pair is no reason to refuse a notebook: it becomes a question mark.
        return data.decode(encoding, errors="surrogatepass").lstrip("\ufeff")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = error.start - (before.rfind(b"\n") + 1) + 1
        what = f"not text in {encoding}: byte 0x{data[error.start]:02x}"
        raise Unreadable(f"{what} in line {line} column {column}") from error


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise Unreadable("not a notebook: its JSON is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise Unreadable(_why_not_json(text, error)) from error
    except ValueError as error:  # a number with thousands of digits
        raise Unreadable(f"not JSON: {error}") from error


def _why_not_json(text: str, error: json.JSONDecodeError) -> str:
    conflict = CONFLICT.search(text)
    if conflict:
        line = text.count("\n", 0, conflict.start()) + 1
        return (
            f"not JSON: a merge conflict, `{conflict[0][:40]}` in line {line} column 1; "
            "settle it in git and save the notebook again"
        )
    if text.lstrip()[:1] == "<":
        return f"not JSON: it is a web page, from line {error.lineno} column {error.colno} on"
    return f"not JSON: {error.msg} in line {error.lineno} column {error.colno}"


def _cells(notebook: Any) -> list[RawCell]:
    if not isinstance(notebook, dict):
        raise Unreadable(f"not a notebook: the JSON is a {type(notebook).__name__}, not an object")
    cells = notebook.get("cells")
    if cells is None and isinstance(notebook.get("worksheets"), list):  # format 3
        sheets = [sheet for sheet in notebook["worksheets"] if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets for cell in sheet.get("cells", [])]
    if not isinstance(cells, list):
        raise Unreadable("not a notebook: it has no list of cells")
    return [_cell(cell) for cell in cells if isinstance(cell, dict)]


def _cell(cell: dict[str, Any]) -> RawCell:
    kind = "code" if cell.get("cell_type") == "code" else "markdown"
    return RawCell(kind, _source(cell.get("source", cell.get("input"))), _names(cell))


def _source(value: Any) -> str:
    parts = value if isinstance(value, list) else [value]
    text = "".join(part for part in parts if isinstance(part, str))
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\r\n", "\n").replace("\r", "\n")


def _names(cell: dict[str, Any]) -> tuple[str, ...]:
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    graded = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return tuple(name for name in (graded, cell.get("id")) if isinstance(name, str))
