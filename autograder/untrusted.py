"""A file that someone handed in -> plain cells. Nothing in it is trusted, nothing is run."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.archives import LEFT_OUT, only_notebook
from autograder.celltext import written
from autograder.decoding import as_text, as_utf8
from autograder.outline import outlined, size_of
from autograder.script import is_script, script_cells
from autograder.unreadable import Unreadable

__all__ = ["RawCell", "RawNotebook", "Unreadable", "file_bytes", "read_bytes", "read_file"]

LARGEST_BYTES = 100_000_000  # of the file, with its outputs
LARGEST_USED = 5_000_000  # without outputs, attachments and the state of widgets
LARGEST_CODE = 2_000_000
MOST_CELLS = 5_000
CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7})(?: .*)?$", re.MULTILINE)
LANGUAGES = {"ir": "R", "irkernel": "R"}  # kernels that do not name their language
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
NOT_NOTEBOOKS = (
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a rar archive"),
    (b"\xd0\xcf\x11\xe0", "an Office document"),
    (b"{\\rtf", "a text of a word processor"),
    (b"version https://git-lfs", "a pointer of Git LFS to a file that is elsewhere"),
)
NEXT = "hand in the .ipynb file itself"


@dataclass(frozen=True)
class RawCell:
    """What is used of a submitted cell: its kind, its text, and the names it claims."""

    kind: str
    source: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class RawNotebook:
    """The cells of a submitted file, and in plain words what was odd about it."""

    cells: tuple[RawCell, ...]
    notes: tuple[str, ...] = ()


def file_bytes(path: Path) -> bytes:
    """Read a submitted file; no link, pipe or device. Raises Unreadable."""
    if path.is_symlink():
        raise Unreadable("it is a link to another file: hand in the file itself")
    try:
        # What became a link or a pipe since then must not be followed, and not be waited for.
        flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        flags |= getattr(os, "O_BINARY", 0)
        with open(os.open(path, os.O_RDONLY | flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Unreadable(f"it is not a file but a folder, pipe or device: {NEXT}")
            return file.read(LARGEST_BYTES + 1)
    except OSError as error:
        if path.is_dir():
            raise Unreadable(f"it is not a file but a folder: {NEXT}") from error
        why = error.strerror or "unknown"
        raise Unreadable(f"the system does not let us read it ({why}): {NEXT}") from error


def read_file(path: Path) -> list[RawCell]:
    """Read the cells of a submitted file. Raises Unreadable."""
    return read_bytes(file_bytes(path), path.name)


def read_bytes(data: bytes, name: str = "") -> list[RawCell]:
    """Read the cells of a submitted file. Raises Unreadable."""
    return list(read_notebook(data, name).cells)


def read_notebook(data: bytes, name: str = "") -> RawNotebook:
    """Read a notebook of any format, a script exported from one, or a zip that holds one.

    data  what was handed in
    name  the name of the file, for messages

    Raises Unreadable.
    """
    if len(data) > LARGEST_BYTES:
        raise Unreadable(f"it is larger than {_megabytes(LARGEST_BYTES)}: clear its outputs")
    if not data.startswith(ZIP):
        return _read(data, name)
    inner, data = only_notebook(data)
    found = _read(data, inner)
    return RawNotebook(found.cells, (f"opened from a zip, as {inner}", *found.notes))


def _read(data: bytes, name: str) -> RawNotebook:
    if not data.strip(b"\x00 \t\r\n"):
        raise Unreadable("the file is empty: save the notebook and hand it in again")
    if data.startswith(LEFT_OUT):
        raise Unreadable(data[len(LEFT_OUT) :].decode("utf-8", "replace")[:200])
    for start, kind in NOT_NOTEBOOKS:
        if data.startswith(start):
            raise Unreadable(f"not a notebook: it is {kind}; {NEXT}")
    data = as_utf8(data)
    if len(data) > LARGEST_USED:
        data = outlined(data)
        if size_of(data) > LARGEST_USED:
            limit = _megabytes(LARGEST_USED)
            raise Unreadable(f"it is larger than {limit} even without its outputs: hand in less")
    text, odd = as_text(data)
    if is_script(text):
        cells = [RawCell(kind, _clean(source)) for kind, source in script_cells(text)]
        note = "a Python script, not a notebook: its cells were read at the marks between them"
        found = RawNotebook(_within_limits(cells), (note,))
    else:
        found = _notebook(_json(text, name, odd))
    return _without_nul(RawNotebook(found.cells, (*((odd,) if odd else ()), *found.notes)))


def _without_nul(found: RawNotebook) -> RawNotebook:
    """Leave out what no editor shows and Python refuses."""
    if not any("\x00" in cell.source for cell in found.cells):
        return found
    cells = [replace(cell, source=cell.source.replace("\x00", "")) for cell in found.cells]
    note = "characters of no meaning (NUL) in it were left out"
    return RawNotebook(tuple(cells), (*found.notes, note))


# JSON


def _json(text: str, name: str, odd: str) -> Any:
    try:
        # Editors leave raw line ends in strings; no number is used, so none is too long.
        return json.loads(text, strict=False, parse_int=float)
    except RecursionError as error:
        raise Unreadable(f"not a notebook: its JSON is nested too deeply; {NEXT}") from error
    except json.JSONDecodeError as error:
        why = _why_not_json(text, name, error)
        raise Unreadable(f"{why} ({odd.partition(':')[0]})" if odd else why) from error


def _why_not_json(text: str, name: str, error: json.JSONDecodeError) -> str:
    conflict = CONFLICT.search(text)
    if conflict:
        line = text.count("\n", 0, conflict.start()) + 1
        return (
            f"not JSON: a merge conflict, `{conflict[0][:40]}` in line {line} column 1; "
            "settle it in git and save the notebook again"
        )
    if text.lstrip()[:1] == "<":
        return f"not a notebook: it is a web page, from line {error.lineno} on; {NEXT}"
    if name.lower().endswith(".py"):
        return f"not a notebook: it is a Python script without marks between cells; {NEXT}"
    where = f"not JSON: {error.msg} in line {error.lineno} column {error.colno}"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return f"{where}; the file was cut off: save the notebook and hand it in again"
    return f"{where}; open it in Jupyter, save it and hand it in again"


# Cells


def _notebook(value: Any) -> RawNotebook:
    if not isinstance(value, dict):
        kind = "list" if isinstance(value, list) else "single value"
        raise Unreadable(f"not a notebook: the JSON is a {kind}, not an object; {NEXT}")
    cells = value.get("cells")
    notes = []
    if not isinstance(cells, list) and isinstance(value.get("worksheets"), list):
        cells = [cell for sheet in value["worksheets"] for cell in _of_sheet(sheet)]
        notes.append("the notebook has the format 3 or older, of 2015: it was read all the same")
    if not isinstance(cells, list):
        raise Unreadable(f"not a notebook: it has no list of cells; {NEXT}")
    found = _within_limits([_cell(cell) for cell in cells if isinstance(cell, dict)])
    return RawNotebook(found, (*notes, *_other_language(value.get("metadata"), found)))


def _of_sheet(sheet: Any) -> list[Any]:
    cells = sheet.get("cells") if isinstance(sheet, dict) else None
    return cells if isinstance(cells, list) else []


def _within_limits(cells: Sequence[RawCell]) -> tuple[RawCell, ...]:
    if len(cells) > MOST_CELLS:
        raise Unreadable(f"it has {len(cells):,} cells: hand in at most {MOST_CELLS:,}")
    code = sum(len(cell.source) for cell in cells if cell.kind == "code")
    if code > LARGEST_CODE:
        limit = _megabytes(LARGEST_CODE)
        raise Unreadable(f"its code is {_megabytes(code)} long, more than {limit}: hand in less")
    return tuple(cells)


def _other_language(metadata: Any, cells: Sequence[RawCell]) -> list[str]:
    """Say that a notebook claims to be no Python. Raises Unreadable if nothing in it is."""
    language, kernel = _language(metadata)
    if not language or language.lower().startswith(("python", "ipython")):
        return []
    if not any(written(cell.source) for cell in cells if cell.kind == "code"):
        raise Unreadable(f"not Python: its kernel is {kernel}, of {language}; write it in Python")
    text = f"its kernel is {kernel}, of {language}: it was read as Python all the same"
    return [f"{text}; choose a Python kernel and save the notebook"]


def _language(metadata: Any) -> tuple[str, str]:
    """Name a notebook's language, "" if it is not told, and its kernel."""
    about = metadata if isinstance(metadata, dict) else {}
    kernel = _mapping(about.get("kernelspec"))
    name = _word(kernel.get("name"))
    told = (kernel.get("language"), _mapping(about.get("language_info")).get("name"))
    words = [_word(word) for word in (*told, about.get("language"), LANGUAGES.get(name))]
    return next((word for word in words if word), ""), name or "unknown"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _word(value: Any) -> str:
    return re.sub(r"[^\w.+# -]", "?", value)[:40] if isinstance(value, str) else ""


def _cell(cell: dict[str, Any]) -> RawCell:
    kind = "code" if cell.get("cell_type") == "code" else "markdown"
    value = cell.get("source", cell.get("input"))
    parts = value if isinstance(value, list) else [value]
    text = "".join(part for part in parts if isinstance(part, str))
    return RawCell(kind, _clean(text), _names(cell))


def _clean(text: str) -> str:
    """Leave what can be written to a file: no half of a surrogate pair, one kind of line end."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _names(cell: dict[str, Any]) -> tuple[str, ...]:
    graded = _mapping(_mapping(cell.get("metadata")).get("nbgrader")).get("grade_id")
    return tuple(name for name in (graded, cell.get("id")) if isinstance(name, str))


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.0f} MB"
