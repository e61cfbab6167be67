"""A table for people: a row for each submission, a column for each exercise."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.exports.mark import Export, Mark, number, open_notes
from autograder.exports.table import neutral, table


def plain(marks: Sequence[Mark]) -> Export:
    """Write grades of every exercise, the penalty, the total, and what there was to win."""
    exercises = list(dict.fromkeys(name for mark in marks for name in mark.points))
    header = ["student", "chapter", *exercises, "late penalty", "total", "out of"]
    rows = [
        [
            neutral(mark.student),
            mark.chapter,
            *(number(mark.points.get(name)) for name in exercises),
            number(mark.penalty),
            number(mark.score),
            number(mark.max_score),
        ]
        for mark in sorted(marks, key=lambda one: (one.student, one.chapter))
    ]
    return Export({"exercises.csv": table(header, rows, "utf-8-sig")}, open_notes(marks))
