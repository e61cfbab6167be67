"""Note the score of a check, and say how far its chapter is."""

from __future__ import annotations

from pathlib import Path

from autograder.catalogue import of_chapter
from autograder.progress.journal import read_journal, write_entry
from autograder.progress.place import is_learning, place
from autograder.progress.standing import Standing, standing
from autograder.spec import Exercise


def noted(exercise: Exercise, score: float) -> Standing | None:
    """Keep a score if it is the best, and give the standing in the exercise's chapter.

    ->  None where no progress is kept: while grading, outside of notebooks, and wherever the file
        cannot be read or written
    """
    try:
        path = place() if is_learning() else None
        return _noted(path, exercise, score) if path else None
    except Exception:  # whatever is wrong with the file: the check itself must not fail
        return None


def _noted(path: Path, exercise: Exercise, score: float) -> Standing:
    best = {**read_journal(path).best}
    if score > best.get(exercise.id, 0.0):
        write_entry(path, exercise.id, score)
        best[exercise.id] = score
    return standing(of_chapter(exercise.chapter), best)
