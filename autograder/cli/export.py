"""`course export`."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.cli import OK
from autograder.exports.canvas import canvas
from autograder.exports.gradescope import gradescope
from autograder.exports.mark import Export, Mark
from autograder.exports.moodle import moodle
from autograder.exports.plain import plain
from autograder.exports.roster import Roster, read_roster
from autograder.plugins.database import gradebook_url, open_gradebook
from autograder.plugins.files import write_whole
from autograder.plugins.marks import final_marks, under_their_names
from autograder.plugins.names import safe_name
from autograder.usage import UsageError

FORMATS = ("canvas", "moodle", "csv", "gradescope")
RESULTS = "results.json"


def run(arguments: Namespace) -> int:
    """Write the files, print where each is, and tell on stderr what they leave out."""
    folder: Path = arguments.folder
    records = _records(folder)
    marks = _marks(folder, arguments.db, records, arguments.chapter)
    roster = read_roster(arguments.roster) if arguments.roster else None
    export = _export(arguments.to, marks, roster, records)
    for name, data in export.files.items():
        write_whole(folder / "exports" / name, data)
    for note in export.notes:
        print(f"note: {note}", file=sys.stderr)
    _tell(folder / "exports", export)
    return OK


def _export(
    kind: str, marks: Sequence[Mark], roster: Roster | None, records: Sequence[Any]
) -> Export:
    if kind == "canvas":
        return canvas(marks, roster)
    if kind == "moodle":
        return moodle(marks, roster)
    if kind == "gradescope":
        return gradescope(marks, [(safe_name(one["student"]), one) for one in records])
    return plain(marks)


def _marks(folder: Path, db: str | None, records: Sequence[Any], chapter: str | None) -> list[Mark]:
    if db is None and not (folder / "gradebook.db").is_file():
        raise UsageError(f"{folder} holds no gradebook.db: name the folder of `course grade --out`")
    book = open_gradebook(gradebook_url(folder, db))
    try:
        marks = final_marks(book)
    finally:
        book.close()
    marks = [mark for mark in marks if chapter in (None, mark.chapter)]
    if not marks:
        raise UsageError(f"the gradebook holds no marks{f' of {chapter}' if chapter else ''}")
    return under_their_names(marks, (one["student"] for one in records))


def _records(folder: Path) -> list[Any]:
    path = folder / RESULTS
    if not path.is_file():
        return []
    records: list[Any] = json.loads(path.read_text(encoding="utf-8"))
    return records


def _tell(where: Path, export: Export) -> None:
    if len(export.files) == 1:
        print(where / next(iter(export.files)))
    else:
        print(f"{len(export.files)} files in {where}")
