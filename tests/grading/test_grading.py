"""Every submission ends in one result, whatever the gradebook or the file does."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sample_class
from commands import CHAPTER, ROOT, course

from autograder.catalogue import of_chapter
from autograder.classroom import Entry, entries
from autograder.grading import Autograded, UnknownChapter, chapter_of, grade_class
from autograder.result import Result
from autograder.score import Score
from autograder.untrusted import RawCell
from autograder.verdict import Finding, Report, Verdict

SAMPLES = ROOT / "tests" / "submissions" / CHAPTER


class Pretended:
    """A gradebook that executes nothing: every check shows full marks."""

    def __init__(self, change: Callable[[Autograded], Autograded] = lambda done: done) -> None:
        self.change = change
        self.zeros: list[tuple[str, str]] = []

    def autograde(self, student: str, chapter: str, notebook: Any) -> Autograded:
        scores = {}
        for one in of_chapter(chapter):
            findings = tuple(Finding(case.behaviour, True) for case in one.cases)
            report = Report(one.id, Verdict.PASS, one.points, one.points, "", findings)
            data = Score(report)._repr_mimebundle_()
            check = next(c for c in notebook.cells if c.get("id") == f"check-{one.id}")
            check.outputs = [{"output_type": "execute_result", "data": data}]
            scores[one.id] = float(one.points)
        return self.change(Autograded(notebook, scores))

    def known_as(self, student: str) -> str:
        return student.replace(",", "_")

    def record_zero(self, student: str, chapter: str) -> None:
        self.zeros.append((student, chapter))


def graded(book: Pretended, found: list[Entry], ours: Any) -> list[Result]:
    return list(grade_class(found, CHAPTER, lambda _: ours, book))


@pytest.fixture
def two(tmp_path: Path) -> list[Entry]:
    """One readable submission, and before it one that is not."""
    for name in ("einsum__pass.py", "not_json__unreadable.ipynb"):
        sample_class.hand_in(SAMPLES / name, tmp_path)
    return sorted(entries(tmp_path, [CHAPTER]), key=lambda one: one.student, reverse=True)


def test_the_good_one_is_graded_after_the_bad_one(two: list[Entry], ours: Any) -> None:
    book = Pretended()
    bad, good = graded(book, two, ours)
    assert (bad.verdict, bad.score, bad.max_score) == ("unreadable", 0, 20)
    assert book.zeros == [("not_json__unreadable", CHAPTER)]
    assert (good.verdict, good.score) == ("pass", 20)


@pytest.mark.parametrize("kept", [3.0, None, float("nan")])
def test_a_gradebook_that_disagrees_is_a_fault_of_ours(
    two: list[Entry], ours: Any, kept: float | None
) -> None:
    def disagree(done: Autograded) -> Autograded:
        return Autograded(done.notebook, {**done.scores, "softmax": kept})  # type: ignore[dict-item]

    good = graded(Pretended(disagree), two, ours)[1]
    (fault,) = [one for one in good.reports if one.verdict == Verdict.GRADER_ERROR]
    assert fault.exercise == "softmax"
    assert fault.score == 4, "a fault of ours takes no points"
    assert "Tell your instructor" in fault.diagnosis


def test_a_gradebook_that_fails_gives_a_result(two: list[Entry], ours: Any) -> None:
    book = Pretended(lambda _: Autograded(None, {}, "the disk is full"))
    good = graded(book, two, ours)[1]
    assert {one.verdict for one in good.reports} == {Verdict.GRADER_ERROR}
    assert "the disk is full" in good.reports[0].diagnosis
    assert book.zeros[-1] == ("einsum__pass", CHAPTER)


def test_a_gradebook_that_raises_does_not_stop_the_batch(two: list[Entry], ours: Any) -> None:
    def broken(_: Autograded) -> Autograded:
        raise OSError("the disk is full")

    results = graded(Pretended(broken), [two[1], two[0], two[1]], ours)
    assert [one.verdict for one in results] == ["grader error", "unreadable", "grader error"]


def test_a_student_without_a_notebook_has_a_record(ours: Any) -> None:
    (result,) = graded(Pretended(), [Entry("ada", CHAPTER, None, ("none found",))], ours)
    record = result.as_json()
    assert (record["student"], record["score"], record["max_score"]) == ("ada", 0, 20)
    assert record["error"] == "none found"


def test_the_chapter_is_known_by_its_exercises() -> None:
    assert chapter_of([RawCell("code", "def softmax(x):\n  ...")], "") == CHAPTER
    assert chapter_of([], CHAPTER) == CHAPTER
    with pytest.raises(UnknownChapter, match=f"chapters with exercises: {CHAPTER}"):
        chapter_of([RawCell("code", "x = 1")], "homework")


@pytest.mark.slow
def test_grading_again_leaves_nothing_old(tmp_path: Path) -> None:
    """The second time the file is unreadable: no mark and no page of the first stays."""
    folder, out = tmp_path / "handed in", tmp_path / "out"
    path = sample_class.hand_in(SAMPLES / "einsum__pass.py", folder)
    command = ["grade", folder, "--out", out, "--trust-students"]
    assert course(*command).returncode == 0
    seed = (out / "seed.txt").read_text()
    assert ",20.0,0.0,20.0,20.0" in (out / "grades.csv").read_text()
    path.write_text("{")
    again = course(*command)
    assert again.returncode == 0, again.stderr
    assert ",0.0,0.0,0.0,20.0" in (out / "grades.csv").read_text()
    assert not list(out.glob("autograded/*/*/*.ipynb")) + list(out.glob("feedback/*/*/*.html"))
    assert (out / "seed.txt").read_text() == seed


def test_a_name_that_the_gradebook_changes_is_told(tmp_path: Path, ours: Any) -> None:
    sample_class.hand_in(SAMPLES / "einsum__pass.py", tmp_path)
    (only,) = entries(tmp_path, [CHAPTER])
    (result,) = graded(Pretended(), [replace(only, student="O'Brien, Ann")], ours)
    assert "called O'Brien_ Ann in grades.csv and feedback/" in result.notes
