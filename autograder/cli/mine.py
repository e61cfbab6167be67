"""`course mine`."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from autograder.catalogue import exercises
from autograder.cli import OK
from autograder.course import NotACourse, find_course
from autograder.dispatch.progress import Progress
from autograder.mine.gather import Gathered, gather
from autograder.mine.switch import NAME
from autograder.usage import UsageError


def run(arguments: Namespace) -> int:
    """Gather a student's answers, and say of each exercise whether it is among them."""
    folder = arguments.folder or _notebooks()
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; name the one that your notebooks are in")
    out = arguments.out or folder / NAME
    progress = Progress(len(exercises()), sys.stderr)
    found = gather(folder, out, progress.tell)
    for note in found.notes:
        print(f"note: {note}", file=sys.stderr)
    print(_summary(found))
    print(f"\n{len(found.passed)} answers are in {out}. In a notebook of chapters 11 to 13, set")
    print("USE_MINE = True to train and generate with them.")
    return OK


def _notebooks() -> Path:
    try:
        return find_course().root / "notebooks"
    except NotACourse:
        return Path.cwd()


def _summary(found: Gathered) -> str:
    passed = {one.answer.name for one in found.passed}
    lines, chapter = list[str](), ""
    for one in exercises().values():
        if one.chapter != chapter:
            chapter = one.chapter
            lines.append(chapter)
        lines.append(f"  {one.id:<32}{'yours' if one.id in passed else found.why[one.id]}")
    return "\n".join(lines)
