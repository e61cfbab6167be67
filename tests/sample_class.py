"""Build the sample class: `python tests/sample_class.py OUT_DIR` writes a folder of submissions.

Each file of tests/submissions/<chapter>/ is one student; the name ends with the verdict that the
submission must get. A .py file holds answers, one `# %%` cell each; a cell that defines no exercise
is put in as a helper above the next answer. Comments at the top:

    # rest: einsum__pass             the other answers come from that file; else they stay stubs
    # hint: softmax.no_shift         the known mistake that must be named
    # file: homework (1).ipynb       the name under which it is handed in
    # harm: delete the check cells   what became of the notebook on the way (see HARMS)

Any other file is handed in as it is.
"""

import copy
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

from autograder.course import find_course
from autograder.notebooks import instructor
from autograder.plugins.nbgrader import release

FOLDER = Path(__file__).parent / "submissions"
SETTING = re.compile(r"^# (rest|hint|file|harm): (.*)$", re.MULTILINE)
CELL = re.compile(r"^# %%[^\n]*\n", re.MULTILINE)
DEFINED = re.compile(r"^(?:def |class )?(\w+)(?:\(| =|:)", re.MULTILINE)


@dataclass
class Answers:
    """What one student wrote: answers by exercise, and the helper cells above each."""

    settings: dict[str, str]
    answers: dict[str, str] = field(default_factory=dict)
    helpers: dict[str, list[str]] = field(default_factory=dict)


def read_answers(path: Path, exercises: list[str]) -> Answers:
    text = path.read_text(encoding="utf-8")
    found = Answers(dict(SETTING.findall(text)))
    waiting: list[str] = []
    for cell in CELL.split(text)[1:]:
        names = [name for name in DEFINED.findall(cell) if name in exercises]
        if not names:
            waiting.append(cell.strip())
            continue
        found.answers[names[-1]] = cell.strip()
        found.helpers[names[-1]], waiting = waiting, []
    return _with_rest(found, path, exercises)


def _with_rest(found: Answers, path: Path, exercises: list[str]) -> Answers:
    if "rest" in found.settings:
        rest = read_answers(path.with_name(found.settings["rest"] + ".py"), exercises)
        found.answers = {**rest.answers, **found.answers}
        found.helpers = {**rest.helpers, **found.helpers}
    return found


def filled_in(student_notebook: Any, written: Answers) -> Any:
    """Put answers in the place of the stubs of a student notebook."""
    notebook = copy.deepcopy(student_notebook)
    cells = []
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        for helper in written.helpers.get(name, []):
            cells.append(nbformat.v4.new_code_cell(helper))
        cell.source = written.answers.get(name, cell.source)
        cells.append(cell)
    notebook.cells = cells
    return notebook


def delete_checks(notebook: Any) -> None:
    notebook.cells = [
        cell for cell in notebook.cells if not cell.metadata.get("nbgrader", {}).get("grade")
    ]


def strip_metadata(notebook: Any) -> None:
    notebook.metadata = {}
    for number, cell in enumerate(notebook.cells):
        cell.metadata, cell["id"] = {}, f"c{number}"


HARMS: dict[str, Callable[[Any], None]] = {
    "delete the check cells": delete_checks,
    "strip ids and metadata": strip_metadata,
}


@cache
def student_notebook(chapter: str) -> Any:
    return release(instructor(find_course(FOLDER), chapter))


def exercise_names(chapter: str) -> list[str]:
    gradings = [cell.metadata.get("nbgrader", {}) for cell in student_notebook(chapter).cells]
    return [grading["grade_id"] for grading in gradings if grading.get("solution")]


def samples() -> list[Path]:
    """List the files of the sample class."""
    return sorted(path for path in FOLDER.glob("*/*__*") if path.is_file())


def hint_wanted(path: Path) -> str | None:
    """Name the known mistake that a sample must be told of, as "softmax.no_shift"."""
    if path.suffix != ".py":
        return None
    return dict(SETTING.findall(path.read_text(encoding="utf-8"))).get("hint")


def hand_in(path: Path, out: Path) -> Path:
    """Write the submission that a file of the sample class stands for; return its path."""
    chapter = path.parent.name
    folder = out / path.stem / chapter
    folder.mkdir(parents=True, exist_ok=True)
    if path.suffix != ".py":
        target = folder / f"{chapter}{path.suffix}"
        shutil.copyfile(path, target)
        return target
    written = read_answers(path, exercise_names(chapter))
    notebook = filled_in(student_notebook(chapter), written)
    HARMS.get(written.settings.get("harm", ""), lambda _: None)(notebook)
    target = folder / written.settings.get("file", f"{chapter}.ipynb")
    target.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    return target


def main(out: Path) -> None:
    for path in samples():
        hand_in(path, out)
    print(f"{len(samples())} submissions written to {out}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tests/sample_class.py OUT_DIR")
    main(Path(sys.argv[1]))
