"""When was a notebook handed in? nbgrader's exchange leaves `timestamp.txt` beside it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

LONGEST = 100
WRITTEN = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,6})?) ?(\S*)")
UNIVERSAL = ("", "UTC", "Z", "GMT")


def handed_in(notebook: Path) -> datetime | None:
    """Read the time beside a notebook, in UTC and without a zone; None if there is none to read.

    Understands what nbgrader writes, "2026-11-29 12:30:00.000000 UTC", and offsets as "+01:00".
    """
    path = notebook.parent / "timestamp.txt"
    try:
        if not path.is_file():  # whoever opens a pipe waits
            return None
        with path.open(encoding="utf-8") as file:
            found = WRITTEN.fullmatch(file.read(LONGEST).strip())
        return _time(*found.groups()) if found else None
    except (OSError, ValueError, OverflowError):  # the last: a time before the year 1 in UTC
        return None


def _time(day: str, clock: str, zone: str) -> datetime:
    offset = "+00:00" if zone in UNIVERSAL else zone
    return datetime.fromisoformat(f"{day}T{clock}{offset}").astimezone(UTC).replace(tzinfo=None)
