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
EXPORTS = "exports"


def run(arguments: Namespace) -> int:
    """Write the files, print where they are, and tell on stderr what they leave out."""
    made = export(arguments.folder, arguments.to, arguments.roster, arguments.chapter, arguments.db)
    for note in made.notes:
        print(f"note: {note}", file=sys.stderr)
    where = arguments.folder / EXPORTS
    count = len(made.files)
    print(where / next(iter(made.files)) if count == 1 else f"{count} files in {where}")
    return OK


def export(
    folder: Path,
    to: str,
    roster: Path | None = None,
    chapter: str | None = None,
    db: str | None = None,
) -> Export:
    """Make the files for one platform, and write them to exports/ in the class's folder.

    to       one of FORMATS
    roster   the platform's list of students
    chapter  of which to export; all, if None
    db       address of the gradebook; None is gradebook.db in the folder

    Raises UsageError for a folder that holds no gradebook or no marks, and for a bad roster.
    """
    records = _records(folder, needed=to == "gradescope")
    people = read_roster(roster) if roster else None
    marks = under_their_names(_marks(folder, db, chapter), (one["student"] for one in records))
    made = _made(to, marks, people, records)
    for name, data in made.files.items():
        write_whole(folder / EXPORTS / name, data)
    return made


def _made(to: str, marks: Sequence[Mark], roster: Roster | None, records: Sequence[Any]) -> Export:
    if to == "canvas":
        return canvas(marks, roster)
    if to == "moodle":
        return moodle(marks, roster)
    if to == "gradescope":
        return gradescope(marks, [(safe_name(one["student"]), one) for one in records])
    return plain(marks)


def _marks(folder: Path, db: str | None, chapter: str | None) -> list[Mark]:
    if db is None and not (folder / "gradebook.db").is_file():
        raise UsageError(f"{folder} holds no gradebook.db: name the folder of `course grade --out`")
    book = open_gradebook(gradebook_url(folder, db))
    try:
        marks = [mark for mark in final_marks(book) if chapter in (None, mark.chapter)]
    finally:
        book.close()
    if not marks:
        raise UsageError(f"the gradebook holds no marks{f' of {chapter}' if chapter else ''}")
    return marks


def _records(folder: Path, needed: bool) -> list[Any]:
    path = folder / RESULTS
    if not path.is_file():
        if needed:
            raise UsageError(f"{path} is missing: run `course grade` again, which writes it")
        return []
    records: list[Any] = json.loads(path.read_text(encoding="utf-8"))
    return records
