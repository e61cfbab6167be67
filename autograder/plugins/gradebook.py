"""The judge's records -> nbgrader's gradebook and files, and the pages for students.

A class folder is an nbgrader course: source/, release/, submitted/, autograded/, feedback/ and
gradebook.db. All of it follows from the records: keeping the same record again changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder.editions.notebook import write
from autograder.plugins.assignment import generate_assignment
from autograder.plugins.changes import Changes
from autograder.plugins.database import gradebook_url, open_gradebook
from autograder.plugins.files import notebook_bytes, place, write_whole
from autograder.plugins.late import SETTINGS, LatePolicy
from autograder.plugins.marks import grades_table
from autograder.plugins.names import safe_name
from autograder.plugins.release import release
from autograder.plugins.rows import Layout, layout_of, rows_for
from autograder.plugins.scores import Record
from autograder.report.feedback import NOTHING, ByHand, feedback_page
from autograder.report.outputs import inert, without_outputs
from autograder.usage import UsageError

BATCH = 50  # submissions written in one transaction
NOWHERE = "unknown_chapter"  # where the page lies of what belongs to no assignment

CONFIG = '''\
"""nbgrader's settings for this folder. `course grade` wrote this file once: it is yours now."""

from autograder.plugins.preprocessors import STEPS

c = get_config()
c.Autograde.autograde_preprocessors = STEPS  # `nbgrader autograde` asks the judge, too

# What being late costs: "none", or "zero" for all points. Due dates are set in the formgrader.
# c.LateSubmissionPlugin.penalty_method = "zero"
'''


@dataclass(frozen=True)
class Waiting:
    """A result that is not in the gradebook yet."""

    record: Record
    notebook: Mapping[str, Any] | None
    handed_in: datetime | None


@dataclass(frozen=True)
class Prepared:
    """A chapter that is an assignment: what of a submission's notebook is the course's own."""

    student_notebook: Mapping[str, Any]
    texts: frozenset[str]


class ClassGradebook:
    """Writes what became of submissions; the only writer of its folder and of its database."""

    def __init__(
        self, folder: Path, instructor: Callable[[str], Any], db_url: str | None = None
    ) -> None:
        """Make the folder, and open its database.

        instructor  gives the instructor notebook of a chapter
        db_url      of the gradebook; None is gradebook.db in the folder

        Raises UsageError for a folder whose name nbgrader takes for a pattern, for settings in it
        that cannot be used, and for a database that cannot.
        """
        self.folder = folder.resolve()
        if re.search(r"[\[\]*?]", str(self.folder)):
            raise UsageError(
                f"nbgrader cannot work in {self.folder}: a name in it has one of [ ] * ? in it. "
                "Choose another folder for --out."
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.folder / SETTINGS).exists():
            write_whole(self.folder / SETTINGS, CONFIG.encode())
        self.instructor = instructor
        self.db_url = gradebook_url(self.folder, db_url)
        self.policy = LatePolicy(self.folder)
        self.book = open_gradebook(self.db_url)
        self.prepared: dict[str, Prepared] = {}
        self.waiting: dict[tuple[str, str], Waiting] = {}

    def __enter__(self) -> ClassGradebook:
        """Go on with the open gradebook."""
        return self

    def __exit__(self, *reason: object) -> None:
        """Write what waits, unless something went wrong, and close the database."""
        if reason == (None, None, None):
            self.commit()
        self.close()

    def close(self) -> None:
        """Close the database. What waits is not written."""
        self.book.close()

    def known_as(self, student: str) -> str:
        """Give the name of a student's folder and of their row in the gradebook."""
        return safe_name(student)

    def prepare(self, chapter: str) -> None:
        """Make a chapter an assignment: source/, release/ and its rows in the gradebook.

        Raises UsageError if the chapter's cells changed and the gradebook holds marks for the old.
        """
        if chapter in self.prepared:
            return
        ours = self.instructor(chapter)
        fresh = write(ours, place(self.folder, "source", ".", chapter))
        there = place(self.folder, "release", ".", chapter).exists()
        if fresh or not there or self._layout(chapter) is None:
            self._generate(chapter)
        texts = {cell.source for cell in ours.cells if cell.cell_type == "markdown"}
        self.prepared[chapter] = Prepared(release(ours), frozenset(texts))

    def export(self) -> Path:
        """Write grades.csv, as nbgrader's own exporter does, and return its path."""
        path = self.folder / "grades.csv"
        write_whole(path, grades_table(self.book).encode())
        return path

    def keep(
        self,
        record: Record,
        notebook: Mapping[str, Any] | None,
        handed_in: datetime | None = None,
    ) -> None:
        """Take one result; it is written with the next BATCH of them, or at `commit`.

        record     as `Result.as_json` gives it, with "student"
        notebook   as it was executed; None if nothing could be
        handed_in  in UTC, without a zone, if known; else a time that stands already is kept
        """
        chapter = record["chapter"]
        if chapter:
            self.prepare(chapter)
        name = safe_name(record.get("student", ""))
        self.waiting[name, chapter] = Waiting(record, notebook, handed_in)
        if len(self.waiting) >= BATCH:
            self.commit()

    def commit(self) -> None:
        """Write everything that was kept: rows in one transaction for each chapter, then files."""
        waiting, self.waiting = self.waiting, {}
        for chapter in dict.fromkeys(chapter for _, chapter in waiting):
            ones = {name: one for (name, where), one in waiting.items() if where == chapter}
            by_hand = self._rows(chapter, ones) if chapter else {}
            for name, one in ones.items():
                self._files(name, chapter, one, by_hand.get(name, NOTHING))

    # Rows

    def _layout(self, chapter: str) -> Layout | None:
        with self.book.engine.connect() as connection:
            return layout_of(connection, chapter)

    def _generate(self, chapter: str) -> None:
        try:
            generate_assignment(self.folder, chapter, self.db_url)
        except RuntimeError as problem:
            if "there are submissions" not in str(problem):
                raise
            raise UsageError(
                f"{self.folder} holds marks for another version of {chapter}, with other "
                "exercises. Choose a new folder for --out."
            ) from problem

    def _rows(self, chapter: str, ones: Mapping[str, Waiting]) -> dict[str, ByHand]:
        """Write the rows of submissions of one chapter; give what else the gradebook says."""
        with self.book.engine.begin() as connection:
            layout = layout_of(connection, chapter)
            if layout is None:
                raise RuntimeError(f"{chapter} is no longer in the gradebook {self.book.engine}")
            kept = rows_for(connection, layout, list(ones))
            changes = Changes(layout.duedate, self.policy)
            by_hand = {
                name: changes.take(name, kept[name], one.record, one.handed_in)
                for name, one in ones.items()
            }
            changes.make(connection)
        return by_hand

    # Files

    def _files(self, name: str, chapter: str, one: Waiting, by_hand: ByHand) -> None:
        page = feedback_page(one.record, one.notebook, by_hand).encode("utf-8", "replace")
        where = chapter or NOWHERE
        write_whole(place(self.folder, "feedback", name, where, ".html"), page)
        if not chapter:
            return
        submitted = place(self.folder, "submitted", name, chapter)
        autograded = place(self.folder, "autograded", name, chapter)
        prepared = self.prepared[chapter]
        if one.notebook is not None:
            write_whole(submitted, notebook_bytes(without_outputs(one.notebook)))
            shown = inert(one.notebook, prepared.texts)
            write_whole(autograded, notebook_bytes(shown))
        elif one.record.get("error"):
            submitted.unlink(missing_ok=True)
            write_whole(autograded, notebook_bytes(_in_its_place(one.record, prepared)))
        elif not autograded.exists():
            write_whole(autograded, notebook_bytes(_in_its_place(one.record, prepared)))
        if one.handed_in is not None:
            stamp = f"{one.handed_in.isoformat(' ')} UTC\n".encode()
            for folder in (submitted.parent, autograded.parent):
                write_whole(folder / "timestamp.txt", stamp)


def _in_its_place(record: Record, prepared: Prepared) -> dict[str, Any]:
    """Make what the formgrader shows of a submission that gave no notebook: why, and the cells."""
    why = record.get("error") or "the grader failed; see the comments"
    said = {
        "cell_type": "markdown",
        "id": "no-notebook",
        "metadata": {},
        "source": "This stands in the place of a notebook. Why there is none:\n\n    "
        + "\n    ".join(str(why).splitlines()),
    }
    cells = prepared.student_notebook["cells"]
    graded = [cell for cell in cells if "nbgrader" in cell["metadata"]]
    return {**prepared.student_notebook, "cells": [said, *graded]}
