"""All exercises, found by walking `autograder.exercises`."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from functools import cache
from types import ModuleType

import autograder.exercises
from autograder.spec import Exercise


class UnknownExercise(LookupError):  # noqa: N818 - what happened, not that it is an error
    """No exercise has this name; the message holds the nearest ones."""


@cache
def exercises() -> dict[str, Exercise]:
    """Return every exercise by id, in the order of the chapters and of their `ORDER`.

    Raises ValueError if two exercises share an id.
    """
    found: dict[str, Exercise] = {}
    for chapter in _chapters():
        for name in chapter.ORDER:
            exercise = importlib.import_module(f"{chapter.__name__}.{name}").EXERCISE
            if exercise.id in found:
                raise ValueError(f"two exercises are called {exercise.id}")
            found[exercise.id] = exercise
    return found


def exercise(name: str) -> Exercise:
    """Return one exercise.

    Raises UnknownExercise, with the nearest names, if there is none.
    """
    known = exercises()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.4) or list(known)
        raise UnknownExercise(f"There is no exercise `{name}`. Nearest: {', '.join(near)}.")
    return known[name]


def of_chapter(chapter: str) -> list[Exercise]:
    """Return the exercises of one chapter, in order."""
    return [one for one in exercises().values() if one.chapter == chapter]


def _chapters() -> list[ModuleType]:
    found = pkgutil.iter_modules(autograder.exercises.__path__, "autograder.exercises.")
    return [importlib.import_module(info.name) for info in sorted(found, key=lambda i: i.name)]
