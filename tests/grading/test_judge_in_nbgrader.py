"""The judge as steps of `nbgrader autograde`."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from commands import CHAPTER
from judged import EXERCISES, display, executed, record, report, unreadable
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.plugins.gradebook import ClassGradebook
from autograder.plugins.preprocessors import STEPS
from autograder.result import Result
from autograder.verdict import Report, Verdict

FIRST, SECOND = EXERCISES[:2]
OWN = "own-check"


@pytest.fixture(scope="module")
def course_folder(tmp_path_factory: pytest.TempPathFactory, ours: Any) -> Path:
    """An instructor's course: our chapter, with a graded cell of their own at its end."""
    folder = tmp_path_factory.mktemp("nbgrader") / "course"
    own = {"grade": True, "solution": False, "locked": True, "task": False, "points": 1}
    cell = nbformat.v4.new_code_cell(
        "1", metadata={"nbgrader": {**own, "schema_version": 3, "grade_id": OWN}}
    )
    more = nbformat.from_dict({**ours, "cells": [*ours.cells, cell]})
    with ClassGradebook(folder, lambda _: more) as book:
        book.prepare(CHAPTER)
    return folder


@pytest.fixture
def folder(course_folder: Path, tmp_path: Path, student: Any) -> Path:
    copy = Path(shutil.copytree(course_folder, tmp_path / "course"))
    path = copy / "submitted" / "ann" / CHAPTER / f"{CHAPTER}.ipynb"
    path.parent.mkdir(parents=True)
    fewer = [c for c in student.cells if FIRST not in c.metadata.get("nbgrader", {}).values()]
    cells = [c for c in fewer if f"check-{FIRST}" not in c.metadata.get("nbgrader", {}).values()]
    nbformat.write(nbformat.from_dict({**student, "cells": cells}), path)
    return copy


@pytest.fixture
def autograde(folder: Path, student: Any) -> Callable[..., list[Any]]:
    """Run nbgrader's Autograde with our steps and a judge that always says the same."""

    def do(said: dict[str, Any], steps: list[str] = STEPS) -> list[Any]:
        asked: list[Any] = []

        def judge(cells: Any, chapter: str) -> tuple[Result, Any]:
            asked.append((cells, chapter))
            shows = display(text_html="<script>alert(1)</script>", text_plain="shown")
            return _result(said), executed(student, said, shows)

        settings = Config()
        settings.Judge.grade = judge
        settings.Autograde.autograde_preprocessors = steps
        where = CourseDirectory(root=str(folder), config=settings)
        where.assignment_id, where.student_id = CHAPTER, "ann"
        here = Path.cwd()
        app = Autograde(coursedir=where, config=settings)
        app.force = True
        try:
            app.start()
        finally:
            os.chdir(here)
        return asked

    return do


def _result(said: dict[str, Any]) -> Result:
    reports = [
        Report(one["id"], Verdict(one["verdict"]), one["score"], one["max_score"], one["diagnosis"])
        for one in said["exercises"]
    ]
    return Result(CHAPTER, tuple(reports), error=said.get("error", ""))


@pytest.fixture
def book(folder: Path) -> Iterator[Any]:
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as opened:
        yield opened


pytestmark = pytest.mark.filterwarnings("ignore")  # of nbgrader's own


def test_points_come_from_the_judge(autograde: Any, book: Any, folder: Path) -> None:
    wrong = report(SECOND, Verdict.WRONG, 1.0, diagnosis="a hint")
    said = record(**{SECOND: wrong})
    ((cells, chapter),) = autograde(said)
    assert chapter == CHAPTER
    assert any(SECOND in cell.names for cell in cells)
    rows = book.find_submission_notebook(CHAPTER, CHAPTER, "ann").grades
    given = {one.name.removeprefix("check-"): one.auto_score for one in rows}
    assert given == {one["id"]: one["score"] for one in said["exercises"]} | {OWN: None}
    assert [one.name for one in rows if one.needs_manual_grade] == [OWN], "not the judge's to say"
    text = (folder / "autograded" / "ann" / CHAPTER / f"{CHAPTER}.ipynb").read_text("utf-8")
    assert "shown" in text
    assert "alert(1)" not in text


def test_a_deleted_cell_gets_what_the_judge_gave(autograde: Any, book: Any) -> None:
    autograde(record(**{FIRST: report(FIRST, Verdict.NOT_ANSWERED)}))
    kept = book.find_grade(f"check-{FIRST}", CHAPTER, CHAPTER, "ann")
    assert (kept.auto_score, kept.needs_manual_grade) == (0, False)
    assert book.find_comment(FIRST, CHAPTER, CHAPTER, "ann").comment == "No response."


def test_what_a_person_gave_survives(autograde: Any, book: Any) -> None:
    autograde(record())
    kept = book.find_grade(f"check-{SECOND}", CHAPTER, CHAPTER, "ann")
    kept.manual_score = 0.5
    book.db.commit()
    autograde(record(**{SECOND: report(SECOND, Verdict.GRADER_ERROR)}))
    book.db.expire_all()
    assert (kept.auto_score, kept.score) == (report(SECOND).score, 0.5)


def test_an_unreadable_notebook_gets_zero(autograde: Any, book: Any) -> None:
    autograde(unreadable(why="no cells"))
    assert book.find_submission(CHAPTER, "ann").score == 0
    assert "no cells" in book.find_comment(SECOND, CHAPTER, CHAPTER, "ann").comment


def test_the_steps_need_each_other(autograde: Any, book: Any, caplog: Any) -> None:
    with pytest.raises(Exception, match="Please see the"):
        autograde(record(), [step for step in STEPS if not step.endswith("Judge")])
    assert "SaveJudgedGrades needs autograder.plugins.preprocessors.Judge" in caplog.text
    assert book.find_submission(CHAPTER, "ann").score == 0


def test_the_settings_of_a_class_folder_name_the_steps(course_folder: Path) -> None:
    settings: dict[str, Any] = {"get_config": Config}
    exec((course_folder / "nbgrader_config.py").read_text("utf-8"), settings)
    assert settings["c"].Autograde.autograde_preprocessors == STEPS
