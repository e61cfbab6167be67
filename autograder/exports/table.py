"""CSV that a spreadsheet may open: no cell of it is taken for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def neutral(text: str) -> str:
    """Put a quotation mark before what a spreadsheet would take for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def table(header: Sequence[str], rows: Iterable[Sequence[str]], encoding: str = "utf-8") -> bytes:
    """Write a table as CSV.

    encoding  "utf-8-sig" for what is opened in a spreadsheet: Excel needs the mark at the start
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode(encoding, errors="replace")


def formula_notes(names: Iterable[str]) -> list[str]:
    """Warn of names that stand in a table as they are, though a spreadsheet would run them."""
    return [
        f"{name!r} begins like a formula and must stay as it is to be found: do not open the file "
        "in a spreadsheet"
        for name in names
        if name.startswith(FORMULA)
    ]
