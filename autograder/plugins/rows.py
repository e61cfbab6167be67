"""The rows of nbgrader's gradebook: many submissions of one assignment in a few statements.

nbgrader's own functions ask the database once for each grade; these ask once for each table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import bindparam, insert, select, update

from autograder.plugins.scores import Score

STUDENTS = Student.__table__
SUBMISSIONS = SubmittedAssignment.__table__
NOTEBOOKS = SubmittedNotebook.__table__
GRADES = Grade.__table__
COMMENTS = Comment.__table__

Row = dict[str, Any]


@dataclass(frozen=True)
class Layout:
    """An assignment of one notebook: ids, and the names of the cells that hold points or words."""

    assignment: str
    notebook: str
    duedate: datetime | None
    graded: Mapping[str, str]
    commented: Mapping[str, str]


@dataclass
class Kept:
    """What the gradebook holds of one submission; grades and comments by the cell's name."""

    submission: str
    notebook: str
    time: datetime | None
    extension: timedelta | None
    penalty: float | None
    grades: dict[str, tuple[str, Score]] = field(default_factory=dict)
    comments: dict[str, tuple[str, str | None, str | None]] = field(default_factory=dict)

    def seconds_late(self, time: datetime | None, duedate: datetime | None) -> float:
        """Count the seconds from the date that holds for this student; 0 if there is none."""
        if time is None or duedate is None:
            return 0.0
        allowed = duedate + (self.extension or timedelta())
        return max(0.0, (time - allowed).total_seconds())


def layout_of(connection: Any, chapter: str) -> Layout | None:
    """Find the assignment called like a chapter and its notebook of the same name, if they are."""
    found = connection.execute(
        select(Assignment.id, Notebook.id.label("notebook"), Assignment.duedate)
        .join(Notebook, Notebook.assignment_id == Assignment.id)
        .where(Assignment.name == chapter, Notebook.name == chapter)
    ).first()
    if found is None:
        return None
    cells = BaseCell.__table__
    rows = connection.execute(
        select(cells.c.id, cells.c.name, cells.c.type).where(cells.c.notebook_id == found.notebook)
    ).all()
    assignment, notebook, duedate = found
    return Layout(
        assignment,
        notebook,
        duedate,
        {name: at for at, name, kind in rows if kind in ("GradeCell", "TaskCell")},
        {name: at for at, name, kind in rows if kind in ("SolutionCell", "TaskCell")},
    )


def rows_for(connection: Any, layout: Layout, students: Sequence[str]) -> dict[str, Kept]:
    """Give the rows of students' submissions by the student's name; what is missing is added."""
    _add(connection, STUDENTS, [{"id": name} for name in students])
    wanted = [{"student_id": name, "assignment_id": layout.assignment} for name in students]
    _add(connection, SUBMISSIONS, wanted)
    ids = _submissions(connection, layout, students)
    wanted = [{"assignment_id": at, "notebook_id": layout.notebook} for at in ids.values()]
    _add(connection, NOTEBOOKS, wanted)
    kept = _notebooks(connection, layout, ids)
    books = [one.notebook for one in kept.values()]
    for table, cells in ((GRADES, layout.graded), (COMMENTS, layout.commented)):
        rows = [{"notebook_id": book, "cell_id": cell} for book in books for cell in cells.values()]
        _add(connection, table, rows)
    _read_grades(connection, layout, kept)
    _read_comments(connection, layout, kept)
    return kept


def change(connection: Any, table: Any, rows: Sequence[Row]) -> None:
    """Update rows, named by their "id"; each must set the same columns."""
    if rows:
        columns = [name for name in rows[0] if name != "id"]
        statement = update(table).where(table.c.id == bindparam("its_id"))
        values: Row = {name: bindparam(f"new_{name}") for name in columns}
        bound = [
            {"its_id": row["id"], **{f"new_{name}": row[name] for name in columns}} for row in rows
        ]
        connection.execute(statement.values(values), bound)


def _add(connection: Any, table: Any, wanted: Sequence[Row]) -> None:
    """Insert the rows that are not there; those wanted all have the same columns."""
    if not wanted:
        return
    columns = list(wanted[0])
    narrow = table.c[columns[0]]
    there = connection.execute(
        select(*(table.c[name] for name in columns)).where(
            narrow.in_({row[columns[0]] for row in wanted})
        )
    )
    known = {tuple(row) for row in there}
    missing = [row for row in wanted if tuple(row.values()) not in known]
    if missing:
        connection.execute(insert(table), missing)


def _submissions(connection: Any, layout: Layout, students: Iterable[str]) -> dict[str, str]:
    rows = connection.execute(
        select(SUBMISSIONS.c.student_id, SUBMISSIONS.c.id).where(
            SUBMISSIONS.c.assignment_id == layout.assignment,
            SUBMISSIONS.c.student_id.in_(set(students)),
        )
    )
    return {row.student_id: row.id for row in rows}


def _notebooks(connection: Any, layout: Layout, ids: Mapping[str, str]) -> dict[str, Kept]:
    rows = connection.execute(
        select(
            SUBMISSIONS.c.student_id,
            SUBMISSIONS.c.id,
            NOTEBOOKS.c.id,
            SUBMISSIONS.c.timestamp,
            SUBMISSIONS.c.extension,
            NOTEBOOKS.c.late_submission_penalty,
        )
        .join(NOTEBOOKS, NOTEBOOKS.c.assignment_id == SUBMISSIONS.c.id)
        .where(NOTEBOOKS.c.notebook_id == layout.notebook, SUBMISSIONS.c.id.in_(list(ids.values())))
    )
    return {student: Kept(*rest) for student, *rest in rows}


def _read_grades(connection: Any, layout: Layout, kept: Mapping[str, Kept]) -> None:
    names = {at: name for name, at in layout.graded.items()}
    by_notebook = {one.notebook: one for one in kept.values()}
    table = GRADES.c
    rows = connection.execute(
        select(
            table.notebook_id,
            table.cell_id,
            table.id,
            table.auto_score,
            table.manual_score,
            table.extra_credit,
            table.needs_manual_grade,
        ).where(table.notebook_id.in_(list(by_notebook)))
    )
    for notebook, cell, at, *score in rows:
        if cell in names:
            by_notebook[notebook].grades[names[cell]] = (at, Score(*score))


def _read_comments(connection: Any, layout: Layout, kept: Mapping[str, Kept]) -> None:
    names = {at: name for name, at in layout.commented.items()}
    by_notebook = {one.notebook: one for one in kept.values()}
    table = COMMENTS.c
    rows = connection.execute(
        select(
            table.notebook_id, table.cell_id, table.id, table.auto_comment, table.manual_comment
        ).where(table.notebook_id.in_(list(by_notebook)))
    )
    for notebook, cell, *comment in rows:
        if cell in names:
            at, ours, theirs = comment
            by_notebook[notebook].comments[names[cell]] = (at, ours, theirs)
