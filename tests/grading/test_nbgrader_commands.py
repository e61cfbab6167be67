"""nbgrader's own programs, with their defaults, on our notebooks as they are."""

import csv
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
import sample_class
from commands import CHAPTER, Graded, run
from filelock import FileLock

from autograder.catalogue import of_chapter
from autograder.editions.notebook import write
from autograder.score import MIME

pytestmark = pytest.mark.slow

STUDENTS = ("no_scale__wrong", "half_finished__not_answered")


def nbgrader(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run([str(Path(sys.executable).with_name("nbgrader")), *arguments], folder)


@dataclass(frozen=True)
class Term:
    """A course folder after generate_assignment, autograde, generate_feedback and export."""

    folder: Path

    def notebook(self, step: str, student: str = ".") -> Any:
        path = self.folder / step / student / CHAPTER / f"{CHAPTER}.ipynb"
        return nbformat.read(path, as_version=4)


@pytest.fixture(scope="module")
def term(tmp_path_factory: pytest.TempPathFactory, ours: Any) -> Term:
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "plain nbgrader"
    with FileLock(str(shared / "term.lock")):
        if not (folder / "grades.csv").exists():
            _run_the_term(folder, ours)
    return Term(folder)


def _run_the_term(folder: Path, ours: Any) -> None:
    write(ours, folder / "source" / CHAPTER / f"{CHAPTER}.ipynb")
    for path in sample_class.samples():
        if path.stem in STUDENTS:
            sample_class.hand_in(path, folder / "submitted")
    for command in ("generate_assignment", "autograde", "generate_feedback"):
        done = nbgrader(folder, command, CHAPTER)
        assert done.returncode == 0, done.stderr[-3000:]
    done = nbgrader(folder, "export")
    assert done.returncode == 0, done.stderr[-3000:]


def test_its_release_is_our_student_notebook(term: Term, student: Any) -> None:
    made = term.notebook("release")
    assert [(c.cell_type, c.source, c.metadata) for c in made.cells] == [
        (c.cell_type, c.source, c.metadata) for c in student.cells
    ]


@pytest.mark.parametrize("name", STUDENTS)
def test_its_marks_are_those_of_course_grade(term: Term, graded: Graded, name: str) -> None:
    with (term.folder / "grades.csv").open() as table:
        marks = {row["student_id"]: row for row in csv.DictReader(table)}
    record = graded.record(name)
    assert float(marks[name]["score"]) == record["score"]
    assert float(marks[name]["max_score"]) == record["max_score"]


@pytest.mark.parametrize("name", STUDENTS)
def test_its_notebooks_hold_the_same_verdicts(term: Term, graded: Graded, name: str) -> None:
    shown = [
        output.data[MIME]
        for cell in term.notebook("autograded", name).cells
        for output in cell.get("outputs", [])
        if MIME in output.get("data", {})
    ]
    told = {one["id"]: (one["verdict"], one["score"]) for one in shown}
    records = graded.record(name)["exercises"]
    expected = {one["id"]: (one["verdict"], one["score"]) for one in records}
    assert {one: expected[one] for one in told} == told
    assert told, "a check that shows nothing: the answer was not there to be checked"


@pytest.mark.parametrize("name", STUDENTS)
def test_its_feedback_shows_our_table(term: Term, name: str) -> None:
    page = (term.folder / "feedback" / name / CHAPTER / f"{CHAPTER}.html").read_text()
    assert "<th>holds?</th>" in page


@pytest.mark.parametrize(("which", "words"), [("ours", "Success"), ("student", "FAILED")])
def test_its_validate_passes_answers_and_fails_stubs(
    which: str, words: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    write(request.getfixturevalue(which), tmp_path / "a chapter.ipynb")
    done = nbgrader(tmp_path, "validate", "a chapter.ipynb")
    assert words in done.stdout.replace("VALIDATION FAILED", "FAILED"), done.stdout[-2000:]
    if which == "student":
        assert all(f"check({one.id})" in done.stdout for one in of_chapter(CHAPTER))
