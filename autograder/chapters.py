"""Which chapter does a submitted notebook belong to?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autograder.catalogue import exercises, of_chapter
from autograder.intake import exercises_found
from autograder.untrusted import RawCell


class UnknownChapter(LookupError):  # noqa: N818 - what happened, not that it is an error
    """The chapter of a notebook is not one of ours; the message names those that are."""


def chapter_of(cells: Sequence[RawCell], name: str) -> str:
    """Name the chapter whose exercises a notebook holds; where it holds none, `name` decides.

    Raises UnknownChapter.
    """
    known = _known()
    ids = {chapter: [one.id for one in of_chapter(chapter)] for chapter in known}
    count = {chapter: exercises_found(cells, ids[chapter]) for chapter in known}
    best = max(known, key=lambda chapter: (count[chapter], chapter == name))
    if count[best] or best == name:
        return best
    raise UnknownChapter(
        f"none of the course's exercises is in it; chapters with exercises: {', '.join(known)}"
    )


def chapter_in_name(path: Path) -> str:
    """Name the chapter that a file or its folder is called after, or nothing."""
    return next((name for name in _known() if name in (path.stem, path.parent.name)), "")


def _known() -> list[str]:
    return list(dict.fromkeys(one.chapter for one in exercises().values()))
