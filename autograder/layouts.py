"""How learning platforms name what students handed in, in the zip that a teacher downloads.

Moodle      Jo Doe_123456_assignsubmission_file_/hw.ipynb, or ..._file_hw.ipynb without folders
Canvas      doejo_12345_67890_hw-1.ipynb, doejo_LATE_12345_67890_hw.ipynb: name, user, file
Gradescope  submission_123456/hw.ipynb; submission_metadata.yml says whose it is
nbgrader    jo+02_chapter+2026-01-31 12:00:00 UTC+random/hw.ipynb, as in its exchange
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

METADATA = "submission_metadata.yml"
LARGEST_METADATA = 20_000_000
PATTERNS = {
    "Moodle": re.compile(
        r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?"
    ),
    "nbgrader": re.compile(
        r"(?P<name>.+)\+[^+]+\+(?P<version>\d{4}-\d\d-\d\d [\d:._]+ \w+)(?:\+[^+]+)?"
    ),
    "Canvas": re.compile(
        r"(?P<name>[^\W_]\w*?)(?:_(?P<late>LATE))?_(?P<id>\d+)_(?P<version>\d+)_(?P<file>.+)"
    ),
    "Canvas, without names": re.compile(
        r"(?P<name>anon)(?:_(?P<late>LATE))?_(?P<id>\w+?)_(?P<version>\d+)_(?P<file>.+)"
    ),
    "Gradescope": re.compile(r"submission_(?P<id>\d+)"),
}
FIELD = re.compile(r"\s+(?:- )?:(?P<field>name|sid|email): *(?P<value>.*)")
OWNER = re.compile(r"(?P<folder>[^\s:#'\"][^:]*):\s*")


@dataclass(frozen=True)
class Named:
    """What a platform says in the name of a file or folder.

    student  the name together with the platform's number: two may have the same name
    file     the name under which it was handed in, "" for a folder
    version  sorts what one student handed in: the newest has the greatest
    """

    platform: str
    student: str
    file: str = ""
    version: tuple[int, str] = (0, "")
    late: bool = False


def named(name: str) -> Named | None:
    """Read the name of a file or folder in a platform's download; None if it is no such name."""
    for platform, pattern in PATTERNS.items():
        match = pattern.fullmatch(name)
        if match:
            found = match.groupdict(default="")
            parts = (found.get("name", "submission"), found.get("id", ""))
            version = found.get("version", "")
            return Named(
                platform,
                "_".join(part for part in parts if part),
                found.get("file", ""),
                (int(version) if version.isdecimal() else 0, version),
                bool(found.get("late")),
            )
    return None


def gradescope_owners(folder: Path) -> dict[str, list[str]]:
    """Read whose submissions the folders of a Gradescope export are, some of several students.

    ->  folder's name -> students, as name and student number; empty without a metadata file
    """
    path = folder / METADATA
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_METADATA:
        return {}
    owners: dict[str, list[dict[str, str]]] = {}
    people: list[dict[str, str]] = []
    for key, value in _lines(path.read_text(encoding="utf-8", errors="replace")):
        if key == "":
            people = owners.setdefault(value, [])
        elif key == "name" or not people or key in people[-1]:
            people.append({key: value})
        else:
            people[-1][key] = value
    return {
        owner: list(dict.fromkeys(_student(one) for one in found))
        for owner, found in owners.items()
    }


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Read the lines that count: ("", folder), ("name", ...), ("sid", ...), ("email", ...)."""
    for line in text.splitlines():
        owner, entry = OWNER.fullmatch(line), FIELD.fullmatch(line)
        if owner:
            yield "", owner["folder"]
        elif entry and entry["value"].strip("'\" "):
            yield entry["field"], entry["value"].strip("'\" ")


def _student(person: dict[str, str]) -> str:
    number = person.get("sid") or person.get("email", "")
    return "_".join(part for part in (person.get("name", ""), number) if part)
