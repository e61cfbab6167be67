"""A class from its folder to its marks, and the judge for cells that nbgrader has read."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sample_class
from commands import CHAPTER, ROOT, TRUST
from handed_in import handed_in

from autograder import grading
from autograder.chapters import UnknownChapter, chapter_in_name, chapter_of
from autograder.checking import SEED_VARIABLE
from autograder.classwork import Work, plan
from autograder.cli import OK, main
from autograder.course import Course
from autograder.jobs import Settings
from autograder.kept import close_zygotes
from autograder.unit import work
from autograder.untrusted import RawCell, read_notebook
from autograder.usage import UsageError

SAMPLES = ROOT / "tests" / "submissions" / CHAPTER


# What is to be graded


@pytest.mark.parametrize("chapter", [CHAPTER, None])
def test_the_plan_has_a_job_for_each_student(tmp_path: Path, chapter: str | None) -> None:
    for name in ("einsum__pass.py", "not_json__unreadable.ipynb"):
        sample_class.hand_in(SAMPLES / name, tmp_path)
    (tmp_path / "zoe" / CHAPTER).mkdir(parents=True)
    jobs = {job.student: job for job in _planned(tmp_path, chapter).jobs}
    assert list(jobs) == ["einsum__pass", "not_json__unreadable", "zoe"]
    assert {job.chapter for job in jobs.values()} == {CHAPTER}
    assert not any(job.data for job in jobs.values()), "a class does not fit in memory"
    assert len(jobs["einsum__pass"].digest) == 64
    assert jobs["zoe"].error.startswith("no notebook was found")


def _planned(folder: Path, chapter: str | None = None) -> Work:
    def settings(*, chapters: list[str]) -> Settings:
        return Settings("a seed", "none", {}, dict.fromkeys(chapters, "0123456789ab"))

    return plan(Course(ROOT), folder, chapter, settings)


def test_a_student_without_a_notebook_has_a_record(tmp_path: Path) -> None:
    (tmp_path / "ada" / CHAPTER).mkdir(parents=True)
    planned = _planned(tmp_path)
    record = work(planned.settings, planned.jobs[0].loaded()).record
    assert (record["student"], record["score"], record["max_score"]) == ("ada", 0, 20)
    assert record["error"].startswith("no notebook was found")


def test_the_time_beside_a_notebook_is_taken(tmp_path: Path) -> None:
    path = sample_class.hand_in(SAMPLES / "einsum__pass.py", tmp_path)
    path.with_name("timestamp.txt").write_text("2026-11-29 12:30:00.000000 UTC")
    (job,) = _planned(tmp_path).jobs
    assert str(job.handed) == "2026-11-29 12:30:00"


def test_a_chapter_that_is_none_of_ours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"no chapter 99_end; there are: .*{CHAPTER}"):
        _planned(tmp_path, "99_end")


def test_the_chapter_is_known_by_its_exercises() -> None:
    assert chapter_of([RawCell("code", "def softmax(x):\n  ...")], "") == CHAPTER
    assert chapter_of([], CHAPTER) == CHAPTER
    with pytest.raises(UnknownChapter, match=f"chapters with exercises: .*{CHAPTER}"):
        chapter_of([RawCell("code", "x = 1")], "homework")


def test_the_chapter_is_in_the_name_of_a_file_or_its_folder() -> None:
    assert chapter_in_name(Path(f"{CHAPTER}.ipynb")) == CHAPTER
    assert chapter_in_name(Path(f"ada/{CHAPTER}/hw.ipynb")) == CHAPTER
    assert chapter_in_name(Path("ada/hw.ipynb")) == ""


# The whole way


@pytest.mark.slow
def test_grading_again_leaves_nothing_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then the file is unreadable: no mark stays. Then it is back: nothing is graded anew."""
    monkeypatch.chdir(ROOT)
    folder, out = tmp_path / "handed in", tmp_path / "out"
    path = sample_class.hand_in(SAMPLES / "einsum__pass.py", folder)
    honest = path.read_bytes()
    assert _graded(folder, out) == [20.0]
    seed, page = (out / "seed.txt").read_text(), _page(out)
    (kept,) = out.glob("autograded/*/*/*.ipynb")
    assert "torch.einsum" in kept.read_text()
    path.write_text("{")
    assert _graded(folder, out) == [0.0]
    assert "torch.einsum" not in kept.read_text()
    assert not list(out.glob("submitted/*/*/*.ipynb"))
    assert "not JSON" in _page(out)
    path.write_bytes(honest)
    capsys.readouterr()
    assert _graded(folder, out) == [20.0]
    assert capsys.readouterr().err.startswith("graded already: 1 of 1")
    assert _page(out) == page
    assert (out / "seed.txt").read_text() == seed


def _graded(folder: Path, out: Path) -> list[float]:
    """Run the command; give the marks of grades.csv, which are those of results.json."""
    assert main(["grade", str(folder), "--out", str(out), "--jobs", "1", *TRUST]) == OK
    with (out / "grades.csv").open() as table:
        marks = [float(row["score"]) for row in csv.DictReader(table)]
    records = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert [record["score"] for record in records] == marks
    return marks


def _page(out: Path) -> str:
    (page,) = out.glob("feedback/*/*/*.html")
    return page.read_text(encoding="utf-8")


# Cells that nbgrader has read


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The judge as nbgrader calls it, here and with this machine's sandbox."""
    monkeypatch.chdir(ROOT / "book")
    monkeypatch.setenv(SEED_VARIABLE, "a seed for tests")
    if TRUST:
        monkeypatch.setenv(grading.TRUST_VARIABLE, "yes")
    grading._settings.cache_clear()
    yield grading.grade_cells
    grading._settings.cache_clear()
    close_zygotes()


@pytest.mark.slow
def test_cells_are_graded_with_the_seed_of_the_class(judge: Any) -> None:
    cells = read_notebook(handed_in(attention_cost="def attention_cost(*a): 1 / 0"), "hw").cells
    result, notebook = judge(cells, CHAPTER)
    assert (result.score, result.max_score) == (18, 20)
    assert result.seed_id == Settings("a seed for tests", "", {}, {}).seed_id
    assert len(result.version) == 12
    assert [cell["id"] for cell in notebook["cells"] if cell["id"] == "check-softmax"]


def test_a_notebook_that_is_no_chapter_of_ours_is_refused(judge: Any) -> None:
    with pytest.raises(UsageError, match=f"homework is no chapter.*{CHAPTER}"):
        judge([RawCell("code", "x = 1")], "homework")


def test_without_a_sandbox_the_cells_of_others_are_refused(
    judge: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(grading.TRUST_VARIABLE, raising=False)
    monkeypatch.setattr("autograder.tiers.best_tier", lambda: "none")
    with pytest.raises(UsageError, match="would run as you"):
        judge([], CHAPTER)
