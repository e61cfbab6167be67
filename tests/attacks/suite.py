"""The attack suite: hostile submissions of chapter 02, and what they may get.

Each file of tests/attacks/<kind>/ is one submission in the format of the sample class, with
comments at the top; what it does not answer is answered rightly, as einsum__pass does:

    # attacks: softmax, attention_cost   exercises that must not earn more than they deserve
    # earns: 0.5                         the most that each may get; 0 if not said
    # verdicts: exited, time             how each may end; anything but "pass" if not said
    # says: not written                  text in the diagnosis of each
    # shows: attack over                 text among its outputs: it tried all it wanted to try
    # never: root:x:0                    text that must be nowhere, beside GOT_THROUGH
    # public: pass                       its own check, with the public seed, gives full marks
    # harm: forge the check cells        what becomes of the notebook (see HARMS)
    # limit: why                         it does earn: known, and told in the instructor guide

An attack that reaches something it must not reach prints GOT_THROUGH, put together at run time.
Nothing here is to be run outside of a sandbox.
"""

import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import sample_class

from autograder.score import MIME

CHAPTER = "02_scaled_dot_product"
FOLDER = Path(__file__).parent
HONEST = sample_class.FOLDER / CHAPTER / "einsum__pass.py"
FIELDS = "attacks|earns|verdicts|says|shows|never|public|harm|limit"
HEADER = re.compile(rf"^# ({FIELDS}): (.*)$", re.MULTILINE)
GOT_THROUGH = "got through"
MARK = "course_attack"  # in the name of every file that an attack leaves, but for START_FILES
START_FILES = ("sitecustomize.py", "usercustomize.py", "torch.py", "numpy.py")


@dataclass(frozen=True)
class Attack:
    """One hostile submission; the fields are those of its header."""

    path: Path
    attacked: tuple[str, ...]
    earns: float = 0.0
    verdicts: tuple[str, ...] = ()
    says: str = ""
    shows: str = ""
    never: tuple[str, ...] = (GOT_THROUGH,)
    public: bool = False
    harm: str = ""
    limit: str = ""

    @property
    def kind(self) -> str:
        """The folder that it lies in."""
        return self.path.parent.name

    @property
    def name(self) -> str:
        """Its kind and its own name."""
        return f"{self.kind}/{self.path.stem}"

    def notebook(self) -> bytes:
        """Build what is handed in."""
        written = answers(self.path)
        notebook = sample_class.filled_in(handed_out(), written)
        HARMS.get(self.harm, lambda _: None)(notebook)
        return as_bytes(notebook)


@cache
def attacks() -> list[Attack]:
    """Read all attacks."""
    return [_attack(path) for path in sorted(FOLDER.glob("*/*.py"))]


def _attack(path: Path) -> Attack:
    head, _, _ = path.read_text(encoding="utf-8").partition("# %%")
    said = dict(HEADER.findall(head))
    never = re.findall(r"^# never: (.*)$", head, re.MULTILINE)
    return Attack(
        path,
        attacked=_words(said["attacks"]),
        earns=float(said.get("earns", 0)),
        verdicts=_words(said.get("verdicts", "")),
        says=said.get("says", ""),
        shows=said.get("shows", ""),
        never=(GOT_THROUGH, *never),
        public="public" in said,
        harm=said.get("harm", ""),
        limit=said.get("limit", ""),
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def answers(path: Path) -> sample_class.Answers:
    """Read the cells of an attack; the honest answers take the place of what is not there."""
    names = sample_class.exercise_names(CHAPTER)
    honest = sample_class.read_answers(HONEST, names)
    own = sample_class.read_answers(path, names)
    return sample_class.Answers(
        {}, {**honest.answers, **own.answers}, {**honest.helpers, **own.helpers}
    )


def honest_notebook() -> bytes:
    """Build the submission whose answers are all right."""
    written = answers(HONEST)
    return as_bytes(sample_class.filled_in(handed_out(), written))


@cache
def handed_out() -> Any:
    """Make the student notebook without its demonstrations, which take most of the time."""
    notebook = copy.deepcopy(sample_class.student_notebook(CHAPTER))
    notebook.cells = [
        cell
        for cell in notebook.cells
        if "nbgrader" in cell.metadata or cell.source.startswith("import math")
    ]
    return notebook


def as_bytes(notebook: Any) -> bytes:
    """Write a notebook as the file that is handed in."""
    return json.dumps(notebook).encode()


# What an attack does to the file itself


def _checks(notebook: Any) -> list[Any]:
    return [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade")]


def forge_the_check_cells(notebook: Any) -> None:
    for cell in _checks(notebook):
        points = float(cell.metadata.nbgrader.points)
        name = cell.metadata.nbgrader.grade_id.removeprefix("check-")
        record = {"id": name, "verdict": "pass", "score": points, "max_score": points, "cases": []}
        shown = {"text/plain": repr(points), MIME: record}
        cell.source = f"from IPython.display import display\ndisplay({shown!r}, raw=True)\n{points}"
        cell.outputs = [nbformat.v4.new_output("execute_result", shown, execution_count=1)]


def rewrite_the_metadata(notebook: Any) -> None:
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.update(points=1000, grade=True, solution=True, locked=False)
    notebook.metadata.update(autograder={"score": 20}, kernelspec={"name": "full"})


def double_the_check_cells(notebook: Any) -> None:
    for cell in _checks(notebook):
        double = copy.deepcopy(cell)
        double.source = f"{float(cell.metadata.nbgrader.points)}  # full marks"
        notebook.cells.append(double)


HARMS: dict[str, Callable[[Any], None]] = {
    "forge the check cells": forge_the_check_cells,
    "rewrite the metadata": rewrite_the_metadata,
    "double the check cells": double_the_check_cells,
}


# What was told of it


@dataclass(frozen=True)
class Told:
    """What the grader tells of a submission: its record and the notebook that it ran."""

    record: dict[str, Any]
    notebook: dict[str, Any] = field(default_factory=dict)

    def exercise(self, name: str) -> dict[str, Any]:
        """Give the record of one exercise."""
        return next(dict(one) for one in self.record["exercises"] if one["id"] == name)

    def outputs(self) -> list[dict[str, Any]]:
        """List all outputs of all cells."""
        return [one for cell in self.notebook["cells"] for one in cell.get("outputs", [])]

    def marks_shown(self) -> dict[str, list[dict[str, Any]]]:
        """Give, for each exercise, the outputs of the cells that a gradebook reads."""
        shown: dict[str, list[dict[str, Any]]] = {}
        for cell in self.notebook["cells"]:
            grading = cell["metadata"].get("nbgrader", {})
            if grading.get("grade"):
                name = grading["grade_id"].removeprefix("check-")
                shown.setdefault(name, []).extend(cell["outputs"])
        return shown
