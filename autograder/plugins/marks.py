"""The final marks of a class, read from nbgrader's gradebook in one query."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Grade,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import select

from autograder.exports.mark import Mark
from autograder.plugins.names import safe_name
from autograder.plugins.scores import CHECK, Score

COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score",
)  # fmt: skip


def final_marks(book: Any) -> list[Mark]:
    """Read the mark of every submission, by chapter and then by student.

    A student is called as in the gradebook; see `safe_name`.
    """
    most = {one.name: float(one.max_score or 0.0) for one in book.assignments}
    submission, notebook, grade = SubmittedAssignment, SubmittedNotebook, Grade
    query = (
        select(
            Assignment.name, submission.student_id, submission.timestamp, notebook.id,
            notebook.late_submission_penalty, BaseCell.__table__.c.name, grade.auto_score,
            grade.manual_score, grade.extra_credit, grade.needs_manual_grade,
        )
        .join(submission, submission.assignment_id == Assignment.id)
        .join(notebook, notebook.assignment_id == submission.id)
        .join(grade, grade.notebook_id == notebook.id)
        .join(BaseCell.__table__, BaseCell.__table__.c.id == grade.cell_id)
        .order_by(Assignment.name, submission.student_id)
    )  # fmt: skip
    points: dict[tuple[str, str], dict[str, float | None]] = {}
    penalties: dict[tuple[str, str], dict[str, float]] = {}
    times = {}
    with book.engine.connect() as connection:
        for chapter, student, time, at, penalty, cell, *score in connection.execute(query):
            key, given = (chapter, student), Score(*score)
            name = cell.removeprefix(CHECK)
            points.setdefault(key, {})[name] = given.points if given.known else None
            penalties.setdefault(key, {})[at] = penalty or 0.0
            times[key] = time
    return [
        Mark(student, chapter, given, most[chapter], sum(penalties[key].values()), times[key])
        for key, given in points.items()
        for chapter, student in [key]
    ]


def grades_table(book: Any) -> str:
    """Write the table of nbgrader's own exporter, which asks the database once for each mark."""
    marks = {(mark.chapter, mark.student): mark for mark in final_marks(book)}
    students = [[one.id, one.last_name, one.first_name, one.email] for one in book.students]
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for chapter, due, most in _assignments(book):
        for student in students:
            mark = marks.get((chapter, student[0]), Mark(student[0], chapter, {}, most))
            final = max(0.0, mark.raw_score - mark.penalty)
            scores = [mark.raw_score, mark.penalty, final, most]
            table.writerow([chapter, due, mark.time, *student, *scores])
    return text.getvalue()


def under_their_names(marks: Iterable[Mark], students: Iterable[str]) -> list[Mark]:
    """Call students as they called themselves, where the gradebook could not."""
    names = {safe_name(student): student for student in students}
    return [replace(mark, student=names.get(mark.student, mark.student)) for mark in marks]


def _assignments(book: Any) -> list[tuple[str, Any, float]]:
    return [(one.name, one.duedate, float(one.max_score or 0.0)) for one in book.assignments]
