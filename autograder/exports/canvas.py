"""A gradebook file that Canvas imports.

Canvas wants its own columns first and in its order, then a column for each assignment. It finds a
student by ID, then by SIS ids, then by name; an assignment by the number behind its name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from autograder.exports.mark import Export, Mark, by_student, chapters_of, number, open_notes
from autograder.exports.roster import Roster, match
from autograder.exports.table import formula_notes, neutral, table

COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS = "    Points Possible"


def canvas(marks: Sequence[Mark], roster: Roster | None) -> Export:
    """Write the file.

    roster  what Canvas exports from its gradebook; without it, a student's name in our marks is
            taken for the SIS login
    """
    chapters = chapters_of(marks)
    people, notes = _people(by_student(marks), roster)
    titles = [_title(chapter, roster) for chapter in chapters]
    most = {mark.chapter: mark.max_score for mark in marks}
    rows = [[POINTS, *("" for _ in COLUMNS[1:]), *(number(most[one]) for one in chapters)]]
    for person, theirs in people:
        scores = [number(theirs[one].score) if one in theirs else "" for one in chapters]
        rows.append([neutral(person[0]), *person[1:], *scores])
    notes += formula_notes(value for person, _ in people for value in person[1:])
    file = table([*COLUMNS, *titles], rows)
    return Export({"canvas.csv": file}, [*notes, *open_notes(marks)])


def _people(
    students: Mapping[str, Mapping[str, Mark]], roster: Roster | None
) -> tuple[list[tuple[list[str], Mapping[str, Mark]]], list[str]]:
    """Give each student's values for Canvas's own columns, with their marks."""
    if roster is None:
        return [([name, "", "", name, ""], theirs) for name, theirs in students.items()], []
    found = match(students, roster)
    columns = [roster.column(name.casefold()) for name in COLUMNS]
    people = []
    for student, at in sorted(found.line_of.items(), key=lambda one: one[1]):
        line = roster.lines[at]
        values = [line.get(column, "") if column else "" for column in columns]
        people.append(([values[0] or student, *values[1:]], students[student]))
    return people, found.notes


def _title(chapter: str, roster: Roster | None) -> str:
    """Find the assignment that Canvas knows; the chapter's name makes a new one."""
    pattern = re.compile(rf"{re.escape(chapter)}(?: \(\d+\))?")
    known = roster.columns if roster else []
    return next((column for column in known if pattern.fullmatch(column)), chapter)
