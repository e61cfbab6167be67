"""What a student's cell showed, reduced to what cannot do anything: text, and PNG pictures."""

from __future__ import annotations

import base64
import re
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from autograder.report.png import is_png

Notebook = Mapping[str, Any]

TEXT, PICTURE, ERROR = "text/plain", "image/png", "error"
LARGEST_PICTURE = 150_000  # bytes of base64

ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def shown(output: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (TEXT, PICTURE or ERROR, content) for one output, and in words what is left out."""
    kind = output.get("output_type")
    if kind == "stream":
        yield TEXT, joined(output.get("text"))
    elif kind == "error":
        trace = output.get("traceback")
        lines = "\n".join(map(str, trace)) if isinstance(trace, list) else ""
        yield ERROR, lines or f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
    else:
        data = output.get("data")
        yield from _rich(data if isinstance(data, Mapping) else {})


def joined(value: Any) -> str:
    """Give a text, or a notebook's list of its lines, as one text."""
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def plain(text: str) -> str:
    """Take out of a text colours, control characters and half surrogate pairs; never longer."""
    text = ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return CONTROL.sub("\ufffd", text)


def picture(value: Any) -> str | None:
    """Give the base64 of a PNG picture, written anew; None if it is anything else or too large."""
    text = joined(value)
    if len(text) > LARGEST_PICTURE:
        return None
    try:
        data = base64.b64decode(text.replace("\n", ""), validate=True)
    except ValueError:
        return None
    return base64.b64encode(data).decode() if is_png(data) else None


def inert(notebook: Notebook, trusted: Collection[str] = ()) -> dict[str, Any]:
    """Copy a notebook without what could act in the browser of the person who opens it.

    trusted  texts of Markdown that come from the course itself; any other is shown as it was typed

    Of a student's outputs stay text and PNG pictures. The outputs of graded cells are the judge's
    own, and stay.
    """
    return {**notebook, "cells": [_inert_cell(cell, trusted) for cell in notebook["cells"]]}


def without_outputs(notebook: Notebook) -> dict[str, Any]:
    """Copy a notebook as it was before it ran."""
    cells = notebook["cells"]
    blank: dict[str, Any] = {"outputs": [], "execution_count": None}
    return {**notebook, "cells": [c | blank if c["cell_type"] == "code" else c for c in cells]}


def cell_of(notebook: Notebook | None, grade_id: str) -> Mapping[str, Any] | None:
    """Find the cell that carries one of nbgrader's ids."""
    for cell in (notebook or {}).get("cells", []):
        if cell.get("metadata", {}).get("nbgrader", {}).get("grade_id") == grade_id:
            found: Mapping[str, Any] = cell
            return found
    return None


def _rich(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    image = picture(data.get(PICTURE)) if PICTURE in data else None
    if image:
        yield PICTURE, image
        return
    if TEXT in data:
        yield TEXT, joined(data[TEXT])
    others = sorted(str(kind)[:40] for kind in data if kind != TEXT)
    if others:
        yield TEXT, f"({', '.join(others[:5])}: not shown here)"


def _inert_cell(cell: Mapping[str, Any], trusted: Collection[str]) -> Mapping[str, Any]:
    if cell["cell_type"] != "code":
        if cell["cell_type"] == "markdown" and cell["source"] in trusted:
            return cell
        # Four spaces make a block of code, in which neither markup nor links nor formulas work.
        text = plain(joined(cell["source"]))
        typed = {"cell_type": "markdown", "source": textwrap.indent(text, "    ")}
        return {name: cell[name] for name in ("id", "metadata") if name in cell} | typed
    if cell.get("metadata", {}).get("nbgrader", {}).get("grade"):
        return cell
    return {**cell, "outputs": [_inert_output(one) for one in cell.get("outputs", [])]}


def _inert_output(output: Mapping[str, Any]) -> Mapping[str, Any]:
    if output.get("output_type") not in ("display_data", "execute_result"):
        return output
    kept: dict[str, str] = {}
    texts = []
    for kind, content in shown(output):
        if kind == PICTURE:
            kept[PICTURE] = content
        else:
            texts.append(content)
    return {**output, "data": kept | {TEXT: "\n".join(texts)}, "metadata": {}}


def code_outputs(cell: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Give the outputs of a cell, those that are records at all."""
    return [one for one in cell.get("outputs", []) if isinstance(one, Mapping)]
