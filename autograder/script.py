"""A notebook that was exported as a Python script -> its cells."""

from __future__ import annotations

import re

# What jupytext (percent format, also that of VS Code and Spyder) and nbconvert write.
MARKER = re.compile(r"^# ?(?:%%(?P<head>.*)|In ?\[[\d ]*\]:[ \t]*)$", re.MULTILINE)
TEXT_CELL = re.compile(r"\[(?:markdown|md|raw)\]")


def is_script(text: str) -> bool:
    """Whether a text has the marks that divide an exported script into cells."""
    return not text.lstrip().startswith(("{", "[", "<")) and MARKER.search(text) is not None


def script_cells(text: str) -> list[tuple[str, str]]:
    """Divide a script at its marks; return kind ("code", "markdown") and text of each cell."""
    marks = list(MARKER.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    cells = [("code", text[: marks[0].start()])]
    for mark, end in zip(marks, ends, strict=True):
        kind = "markdown" if TEXT_CELL.search(mark["head"] or "") else "code"
        cells.append((kind, text[mark.end() : end]))
    return [(kind, source.strip("\n")) for kind, source in cells if _says_something(source)]


def _says_something(source: str) -> bool:
    return any(line.strip() and not line.startswith("#") for line in source.split("\n"))
