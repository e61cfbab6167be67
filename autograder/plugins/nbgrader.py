"""Every touch of nbgrader's classes."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient.exceptions import DeadKernelError
from nbformat import from_dict
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import CsvExportPlugin
from nbgrader.preprocessors import (
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    Execute,
    LockCells,
    NbGraderPreprocessor,
)
from nbgrader.utils import capture_log, is_grade
from traitlets.config import Config

from autograder.catalogue import UnknownExercise, exercise
from autograder.checking import SEED_VARIABLE
from autograder.editions.notebook import write
from autograder.grading import Autograded
from autograder.kernel import ONE_THREAD, SILENT, mark_dead
from autograder.outcome import has_record
from autograder.usage import UsageError

# The steps of `nbgrader generate_assignment` that change cells, in its order and with its defaults.
RELEASE_STEPS = (LockCells, ClearSolutions, ClearOutput, ComputeChecksums)

AUTOGRADE_STEPS = [
    "autograder.plugins.nbgrader.RunCells",
    "nbgrader.preprocessors.IgnorePattern",
    "nbgrader.preprocessors.LimitOutput",
    "autograder.plugins.nbgrader.RequireRecord",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

CONFIG = '''\
"""nbgrader's settings for this folder, written by `course grade`."""

import os
from pathlib import Path

c = get_config()
c.Autograde.autograde_preprocessors = {steps}
c.Execute.shutdown_kernel = "immediate"
os.environ.setdefault("{variable}", Path(__file__).with_name("seed.txt").read_text().strip())
'''

# nbgrader looks for files with glob, fills folder names in with format, and writes CSV unquoted.
UNSAFE = re.compile(r"[\[\]*?{}+,\"'\\/:<>|]")


def release(instructor: Any) -> Any:
    """Make the student notebook: nbgrader's own steps on the instructor's."""
    notebook = copy.deepcopy(instructor)
    resources: dict[str, Any] = {"metadata": {}}
    for step in RELEASE_STEPS:
        notebook, resources = step().preprocess(notebook, resources)
    return notebook


class RunCells(Execute):  # type: ignore[misc]
    """nbgrader's Execute, which goes on to the marks when the kernel dies."""

    def preprocess(self, nb: Any, resources: Any, km: Any = None) -> tuple[Any, Any]:
        """Run every cell; cells that a dead kernel leaves unrun show an error."""
        self.done: set[int] = set()
        try:
            return super().preprocess(nb, resources, km)  # type: ignore[no-any-return]
        except DeadKernelError:
            mark_dead(nb, self.done)
            return nb, resources

    def start_new_kernel(self, **options: Any) -> Any:
        """Start a kernel that does not write to our terminal."""
        return super().start_new_kernel(**{**SILENT, **options})

    def on_cell_executed(self, **message: Any) -> None:
        """Note that a cell ended."""
        self.done.add(message["cell_index"])
        super().on_cell_executed(**message)


class RequireRecord(NbGraderPreprocessor):  # type: ignore[misc]
    """Let a check cell's points come from its record alone.

    nbgrader gives full marks to a cell that shows nothing, and none to one with a line on stderr.
    """

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        """Reduce a check cell's outputs to its record, or make the lack of one an error."""
        del cell_index
        if cell.cell_type == "code" and is_grade(cell):
            cell.outputs = _scored(cell)
        return cell, resources


def _scored(cell: Any) -> list[Any]:
    try:
        spec = exercise(cell.metadata.nbgrader.grade_id.removeprefix("check-"))
    except UnknownExercise:
        return list(cell.outputs)  # an instructor's own check keeps nbgrader's rules
    if has_record(cell, spec):
        return [one for one in cell.outputs if one.output_type == "execute_result"][:1]
    text = "This check left no result."
    error = {"output_type": "error", "ename": "NoRecord", "evalue": text, "traceback": [text]}
    return [*cell.outputs, from_dict(error)]


class ClassGradebook:
    """A folder that is an nbgrader course: source/, submitted/, autograded/, gradebook.db, ..."""

    def __init__(self, folder: Path, instructor: Callable[[str], Any], seed: str) -> None:
        """Make the folder.

        instructor  gives the instructor notebook of a chapter
        seed        what the checks draw their inputs from

        Raises UsageError for a folder whose name nbgrader takes for a pattern.
        """
        self.folder = folder.resolve()
        if re.search(r"[\[\]*?]", str(self.folder)):
            raise UsageError(
                f"nbgrader cannot work in {self.folder}: a name in it has one of [ ] * ? in it. "
                "Choose another folder for --out."
            )
        self.instructor = instructor
        self.prepared: set[str] = set()
        self.environment = {SEED_VARIABLE: seed, **ONE_THREAD}
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "seed.txt").write_text(f"{seed}\n", encoding="utf-8")
        settings = CONFIG.format(steps=AUTOGRADE_STEPS, variable=SEED_VARIABLE)
        (self.folder / "nbgrader_config.py").write_text(settings, encoding="utf-8")

    def known_as(self, student: str) -> str:
        """Give the name of a student's folder and of their row in the gradebook."""
        return safe_name(student)

    def prepare(self, chapter: str) -> None:
        """Make a chapter an assignment: source/, release/ and its rows in the gradebook."""
        if chapter in self.prepared:
            return
        write(self.instructor(chapter), self._path("source", ".", chapter))
        trouble = self._run(GenerateAssignment, chapter, ".")
        if trouble:
            raise RuntimeError(f"nbgrader generate_assignment failed: {trouble}")
        self.prepared.add(chapter)

    def autograde(self, student: str, chapter: str, notebook: Any) -> Autograded:
        """Execute and score a normalised notebook."""
        self.prepare(chapter)
        name = safe_name(student)
        self._forget(name, chapter)
        path = self._path("submitted", name, chapter)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(nbformat.writes(notebook), encoding="utf-8")
        trouble = self._run(Autograde, chapter, name)
        if trouble:
            return Autograded(None, {}, trouble)
        done = nbformat.read(self._path("autograded", name, chapter), as_version=4)
        return Autograded(done, self._scores(name, chapter))

    def record_zero(self, student: str, chapter: str) -> None:
        """Keep 0 points for a submission that could not be executed."""
        if not chapter:
            return  # nothing says which assignment the 0 would belong to
        self.prepare(chapter)
        name = safe_name(student)
        self._forget(name, chapter)
        with self._gradebook() as book:
            book.update_or_create_student(name)
            submission = book.update_or_create_submission(chapter, name)
            for grade in (grade for one in submission.notebooks for grade in one.grades):
                grade.auto_score, grade.needs_manual_grade = 0, False
            book.db.commit()

    def feedback(self) -> str:
        """Write feedback/<student>/<chapter>/<chapter>.html; return what went wrong, or nothing."""
        return "; ".join(filter(None, (self._feedback(one) for one in sorted(self.prepared))))

    def export(self) -> Path:
        """Write grades.csv by nbgrader's own exporter, and return its path."""
        path = self.folder / "grades.csv"
        with _quiet(), self._gradebook() as book:
            CsvExportPlugin(to=str(path)).export(book)
        return path

    def _feedback(self, chapter: str) -> str:
        graded = self.folder.glob(f"autograded/*/{chapter}/{chapter}.ipynb")
        return self._run(GenerateFeedback, chapter, "*") if any(graded) else ""

    def _path(self, step: str, student: str, chapter: str) -> Path:
        return self.folder / step / student / chapter / f"{chapter}.ipynb"

    def _forget(self, name: str, chapter: str) -> None:
        """Remove what an earlier run left of a submission, so that nothing old looks new."""
        for step in ("submitted", "autograded", "feedback"):
            shutil.rmtree(self._path(step, name, chapter).parent, ignore_errors=True)

    def _scores(self, name: str, chapter: str) -> dict[str, float]:
        with self._gradebook() as book:
            grades = book.find_submission_notebook(chapter, chapter, name).grades
            return {grade.name.removeprefix("check-"): grade.auto_score for grade in grades}

    @contextlib.contextmanager
    def _gradebook(self) -> Iterator[Any]:
        with _quiet(), Gradebook(f"sqlite:///{self.folder / 'gradebook.db'}") as book:
            yield book

    def _run(self, converter: Any, chapter: str, student: str) -> str:
        """Run one of nbgrader's converters; return the last line of its error, or nothing."""
        settings = Config()
        settings.Autograde.autograde_preprocessors = AUTOGRADE_STEPS
        settings.Execute.shutdown_kernel = "immediate"
        where = CourseDirectory(root=str(self.folder), config=settings)
        where.assignment_id, where.student_id = chapter, student
        app = converter(coursedir=where, config=settings)
        app.force = True
        with _quiet(), _environment(self.environment):
            outcome = capture_log(app)
        with (self.folder / "nbgrader.log").open("a", encoding="utf-8") as log:
            log.write(outcome.get("log", "") + outcome.get("error", ""))
        if outcome.get("error", "").rstrip().endswith("KeyboardInterrupt"):
            raise KeyboardInterrupt  # nbgrader has swallowed it; a person wants all of this to end
        return "" if outcome["success"] else _last_line(outcome)


def safe_name(student: str) -> str:
    """Make a name that nbgrader can use for a student's folder; most names stay as they are."""
    clean = UNSAFE.sub("_", student).strip()
    if clean == student:
        return student
    return f"{clean}-{hashlib.sha256(student.encode()).hexdigest()[:6]}"


def _last_line(outcome: dict[str, Any]) -> str:
    """Find the error itself: the log holds it, what was raised points to the log."""
    logged = outcome.get("log", "").splitlines()
    errors = [line for line in logged if re.match(r"[\w.]+(Error|Exception)\b", line)]
    raised = outcome.get("error", "").strip().splitlines()
    return str((errors or raised or ["no reason given"])[-1])


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the warnings of nbgrader's own dependencies from the terminal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _environment(extra: dict[str, str]) -> Iterator[None]:
    """Set variables that the kernel inherits; nbgrader also needs `alembic`, which lies beside
    Python.
    """
    scripts = str(Path(sys.executable).parent)
    path = os.pathsep.join([scripts, os.environ.get("PATH", "")])
    before = dict(os.environ)
    os.environ.update({**extra, "PATH": path})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
