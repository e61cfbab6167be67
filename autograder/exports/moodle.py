"""Files that Moodle imports: an assignment's grading worksheet, or a table for grade import.

A worksheet is filled in and otherwise left alone: Moodle finds a participant by `Identifier`, and
refuses a row whose `Last modified (grade)` is older than its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.exports.mark import Export, Mark, by_student, chapters_of, number, open_notes
from autograder.exports.roster import Roster, match
from autograder.exports.table import formula_notes, table
from autograder.usage import UsageError

IDENTIFIER, GRADE, MODIFIED = "identifier", "grade", "last modified (grade)"
MAXIMUM = "maximum grade"
WHO = ("username", "id number", "email address", "first name", "last name", "surname")


def moodle(marks: Sequence[Mark], roster: Roster | None) -> Export:
    """Write the file.

    roster  a grading worksheet, which is filled in; or a list of participants, whose names for
            students are used; without it, a student's name in our marks is the username

    Raises UsageError if a worksheet, which is of one assignment, meets several chapters.
    """
    if roster and all(roster.column(name) for name in (IDENTIFIER, GRADE, MODIFIED)):
        return _worksheet(marks, roster)
    return _grade_import(marks, roster)


def _worksheet(marks: Sequence[Mark], roster: Roster) -> Export:
    chapters = chapters_of(marks)
    if len(chapters) > 1:
        raise UsageError(f"a worksheet is of one assignment: add --chapter {'|'.join(chapters)}")
    students = {mark.student: mark for mark in marks}
    found = match(students, roster)
    at = {number: student for student, number in found.line_of.items()}
    grade = roster.column(GRADE)
    rows = []
    for line_number, line in enumerate(roster.lines):
        filled = dict(line)
        if line_number in at and grade:
            filled[grade] = number(students[at[line_number]].score) or line.get(grade, "")
        rows.append([filled.get(column, "") for column in roster.columns])
    notes = [*found.notes, *_other_maximum(marks, roster), *open_notes(marks)]
    return Export({"moodle-worksheet.csv": table(roster.columns, rows)}, notes)


def _other_maximum(marks: Sequence[Mark], roster: Roster) -> list[str]:
    column = roster.column(MAXIMUM)
    theirs = {line.get(column, "").replace(",", ".") for line in roster.lines} if column else set()
    ours = {mark.max_score for mark in marks}
    other = {text for text in theirs if text and _value(text) not in ours}
    if not other:
        return []
    most = ", ".join(number(one) for one in sorted(ours))
    return [f"Moodle's maximum grade is {', '.join(sorted(other))}, ours is {most}: set it to that"]


def _value(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _grade_import(marks: Sequence[Mark], roster: Roster | None) -> Export:
    chapters = chapters_of(marks)
    students = by_student(marks)
    header, people, notes = ["username"], {name: [name] for name in students}, []
    if roster:
        found = match(students, roster)
        header = [column for column in roster.columns if column.casefold() in WHO]
        people = {
            name: [roster.lines[at].get(column, "") for column in header]
            for name, at in sorted(found.line_of.items(), key=lambda one: one[1])
        }
        notes = found.notes
    rows = []
    for name, who in people.items():
        theirs = students[name]
        rows.append([*who, *(number(theirs[c].score) if c in theirs else "" for c in chapters)])
    notes = [*notes, *formula_notes(v for who in people.values() for v in who)]
    file = table([*header, *chapters], rows)
    return Export({"moodle.csv": file}, [*notes, *open_notes(marks)])
