"""Our judge as steps of `nbgrader autograde`, for those who grade with nbgrader itself.

from autograder.plugins.preprocessors import STEPS

c.Autograde.autograde_preprocessors = STEPS
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import nbformat
from nbformat import from_dict
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from traitlets import Any as AnyTrait
from traitlets import default

from autograder.plugins.scores import Score, regraded, remark, report_of
from autograder.report.outputs import inert
from autograder.result import Result
from autograder.untrusted import RawCell

RECORD = "transformer_course_record"  # where the record waits between our two steps

STEPS = [
    "autograder.plugins.preprocessors.Judge",
    "nbgrader.preprocessors.LimitOutput",
    "autograder.plugins.preprocessors.SaveJudgedGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]


class GradeCells(Protocol):
    """Grades the cells of one notebook; gives the result, and the notebook as it was executed."""

    def __call__(self, cells: Sequence[RawCell], chapter: str) -> tuple[Result, Mapping[str, Any]]:
        """chapter: the name of the notebook, which need not be one of ours."""


class Judge(NbGraderPreprocessor):  # type: ignore[misc]
    """Takes the place of nbgrader's Execute: no submitted code runs in this process."""

    grade = AnyTrait(
        help="What grades the cells of one notebook; `autograder.grading.grade_cells` if not set."
    ).tag(config=True)

    @default("grade")  # type: ignore[untyped-decorator]
    def _grade(self) -> GradeCells:
        found: GradeCells = import_module("autograder.grading").grade_cells
        return found

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Let the judge grade a submitted notebook; give back the executed one."""
        where = resources["nbgrader"]
        result, executed = self.grade([_raw(cell) for cell in nb.cells], where["notebook"])
        resources[RECORD] = result.as_json()
        shown = inert(executed, _course_texts(where["assignment"], where["notebook"]))
        return from_dict(shown), resources


class SaveJudgedGrades(SaveAutoGrades):  # type: ignore[misc]
    """Takes the points from the judge's record, for every graded cell that nbgrader knows.

    nbgrader's own step reads them from outputs, and skips a cell that is not there.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Write points and comments of one notebook; nothing on it is believed.

        A cell that the judge does not know, an instructor's own, is left to a person.
        Raises RuntimeError if no Judge came before.
        """
        if RECORD not in resources:
            raise RuntimeError("SaveJudgedGrades needs autograder.plugins.preprocessors.Judge")
        where, record = resources["nbgrader"], resources[RECORD]
        judged = {report["id"] for report in record["exercises"]}
        with Gradebook(where["db_url"]) as book:
            rows = book.find_submission_notebook(
                where["notebook"], where["assignment"], where["student"]
            )
            for grade in rows.grades:
                _regrade(grade, record)
            for comment in rows.comments:
                if record.get("error") or comment.name in judged:
                    comment.auto_comment = remark(record, report_of(record, comment.name))
            book.db.commit()
        return nb, resources


def _regrade(grade: Any, record: Mapping[str, Any]) -> None:
    before = Score(
        grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade
    )
    after = regraded(before, report_of(record, grade.name))
    grade.auto_score, grade.needs_manual_grade = after.auto, after.needs_a_person


def _raw(cell: Any) -> RawCell:
    names = (cell.metadata.get("nbgrader", {}).get("grade_id"), cell.get("id"))
    kind = "code" if cell.cell_type == "code" else "markdown"
    return RawCell(kind, cell.source, tuple(name for name in names if isinstance(name, str)))


def _course_texts(assignment: str, notebook: str) -> set[str]:
    """Read the course's own Markdown from source/; nbgrader works in the course's folder."""
    path = Path("source", assignment, f"{notebook}.ipynb")
    if not path.is_file():
        return set()
    cells = nbformat.read(path, as_version=4).cells
    return {cell.source for cell in cells if cell.cell_type == "markdown"}
