"""Submissions made for one test: the honest answers of the sample class, and what is to differ."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import nbformat
import sample_class
from commands import CHAPTER, ROOT

from autograder.course import Course
from autograder.jobs import Done, Settings
from autograder.limits import Limits
from autograder.settings import settings_for_one
from autograder.unit import grade_bytes
from autograder.zygotes import best_tier

HONEST = sample_class.FOLDER / CHAPTER / "einsum__pass.py"
POINTS = 20.0
Above = Mapping[str, Sequence[str]]


def handed_in(above: Above | None = None, last: Sequence[str] = (), **answers: str) -> bytes:
    """Make the file of an honest student, but for some answers.

    above  exercise -> cells that stand above its answer
    last   cells below everything
    """
    names = sample_class.exercise_names(CHAPTER)
    honest = sample_class.read_answers(HONEST, names).answers
    helpers = {name: list(cells) for name, cells in (above or {}).items()}
    written = sample_class.Answers({}, {**honest, **answers}, helpers)
    notebook = sample_class.filled_in(sample_class.student_notebook(CHAPTER), written)
    notebook.cells += [nbformat.v4.new_code_cell(cell) for cell in last]
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"c{number}"  # nbformat draws them, and the same notebook is the same bytes
    return nbformat.writes(notebook).encode()


@cache
def settings(limits: Limits | None = None, seed: str = "a seed for tests") -> Settings:
    """Make settings for this repository's own notebooks and the best sandbox here."""
    made = settings_for_one(Course(ROOT), seed, best_tier())
    return made if limits is None else Settings(seed, made.tier, made.frames, made.versions, limits)


def graded(data: bytes, limits: Limits | None = None, seed: str = "a seed for tests") -> Done:
    """Grade a file of the chapter."""
    given = {"student": "ann", "name": "hw.ipynb", "chapter": CHAPTER}
    return grade_bytes(data, settings=settings(limits, seed), **given)


def verdicts(done: Done) -> dict[str, str]:
    """Give the verdict of each exercise that did not pass."""
    return {one["id"]: one["verdict"] for one in exercises(done) if one["verdict"] != "pass"}


def exercises(done: Done) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = done.record["exercises"]
    return found
