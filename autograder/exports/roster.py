"""The platform's own list of students, and who on it is whom in our marks."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autograder.usage import UsageError

# Columns that say who someone is, as Canvas, Moodle and Gradescope call them.
IDENTIFYING = (
    "sis login id", "sis user id", "login id", "username", "id number", "sid", "id", "student id",
    "email address", "email", "identifier", "student", "full name", "name",
)  # fmt: skip
GIVEN, FAMILY = ("first name", "firstname", "given name"), ("last name", "lastname", "surname")

Line = dict[str, str]


@dataclass(frozen=True)
class Roster:
    """A table as it was read: the names of its columns in order, and its rows."""

    columns: list[str]
    lines: list[Line]

    def column(self, *names: str) -> str | None:
        """Find a column by one of its names, written in any case."""
        known = {_folded(column): column for column in self.columns}
        return next((known[name] for name in names if name in known), None)


@dataclass(frozen=True)
class Match:
    """Which line of a roster is which student's, and what could not be settled."""

    line_of: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_roster(path: Path) -> Roster:
    """Read a CSV file that the platform gave. Raises UsageError."""
    try:
        text = _decoded(path.read_bytes())
    except OSError as problem:
        raise UsageError(f"--roster {path} cannot be read: {problem.strerror}") from problem
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(row)]
    if not rows or not any(_folded(name) in (*IDENTIFYING, *FAMILY) for name in rows[0]):
        raise UsageError(
            f"--roster {path} has no column that says who a student is, such as "
            "`SIS Login ID`, `Username`, `ID number` or `Email address`, in its first line"
        )
    columns = [name.strip() for name in rows[0]]
    return Roster(columns, [dict(zip(columns, row, strict=False)) for row in rows[1:]])


def match(students: Iterable[str], roster: Roster) -> Match:
    """Find each student's line; what fits two lines, or two students, is not guessed but told."""
    found = Match()
    known = _known_names(roster)
    taken: dict[int, list[str]] = {}
    for student in students:
        lines = known.get(_folded(student), set())
        if len(lines) == 1:
            taken.setdefault(next(iter(lines)), []).append(student)
        else:
            told = "is on the roster twice" if lines else "is not on the roster"
            found.notes.append(f"{student} {told}: left out")
    for line, ones in taken.items():
        if len(ones) == 1:
            found.line_of[ones[0]] = line
        else:
            found.notes.append(f"{' and '.join(ones)} are one line of the roster: left out")
    return found


def _known_names(roster: Roster) -> dict[str, set[int]]:
    known: dict[str, set[int]] = {}
    for number, line in enumerate(roster.lines):
        for name in _names(line):
            if _folded(name):
                known.setdefault(_folded(name), set()).add(number)
    return known


def _names(line: Line) -> Iterator[str]:
    """Yield whatever a folder of this person may be called."""
    folded = {_folded(column): value or "" for column, value in line.items() if column}
    for column in IDENTIFYING:
        value = folded.get(column, "")
        yield value
        if "@" in value:
            yield value.partition("@")[0]
        family, comma, given = value.partition(",")
        if comma:
            yield f"{given} {family}"
    given, family = (next((folded[c] for c in some if c in folded), "") for some in (GIVEN, FAMILY))
    if given and family:
        yield from (f"{given} {family}", f"{family}, {given}", f"{family} {given}")


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")
