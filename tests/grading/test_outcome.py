"""What was not judged has a verdict and a reason, and no points."""

from typing import Any

import pytest

from autograder.catalogue import exercise
from autograder.outcome import missing, without_record
from autograder.verdict import Report, Verdict

SPEC = exercise("softmax")
ANSWER = "def softmax(x, dim=-1):\n    return x"


def error(name: str, value: str = "") -> dict[str, Any]:
    return {"output_type": "error", "ename": name, "evalue": value, "traceback": []}


def outcome(answer: str | None, *outputs: dict[str, Any]) -> Report:
    return missing(SPEC, answer, outputs)


def test_there_is_a_line_for_each_behaviour_and_no_point() -> None:
    report = without_record(SPEC, Verdict.TIME, "too late")
    assert (report.exercise, report.verdict, report.diagnosis) == ("softmax", "time", "too late")
    assert (report.score, report.max_score) == (0, SPEC.points)
    assert [one.behaviour for one in report.findings] == [case.behaviour for case in SPEC.cases]
    assert {(one.passed, one.message) for one in report.findings} == {(False, "not tried")}


@pytest.mark.parametrize(
    ("answer", "outputs", "verdict", "words"),
    [
        (None, [], Verdict.NOT_ANSWERED, "No answer of `softmax` was found"),
        ("  ", [], Verdict.NOT_ANSWERED, "No answer of `softmax` was found"),
        ("def sofmax(x): ...", [], Verdict.NOT_ANSWERED, "its cell defines `sofmax`"),
        (ANSWER, [], Verdict.NOT_ANSWERED, "`softmax` is not there after its cell ran"),
        (ANSWER, [error("NameError", "no torch\nmore")], Verdict.EXCEPTION, "NameError: no torch"),
        (ANSWER, [error("NameError")], Verdict.EXCEPTION, "NameError"),
        (ANSWER, [error("OutOfTime", "x")], Verdict.TIME, "took too long"),
        (ANSWER, [error("time", "still running")], Verdict.TIME, "still running"),
        (ANSWER, [error("memory", "it wrote more")], Verdict.MEMORY, "it wrote more"),
        (ANSWER, [error("exited", "ended Python")], Verdict.EXITED, "ended Python"),
        ("import os", [error("exited", "ended Python")], Verdict.EXITED, "ended Python"),
        ("x = 1", [error("KeyError", "a")], Verdict.NOT_ANSWERED, "its cell defines `x`"),
    ],
)
def test_an_answer_that_is_not_there_says_why(
    answer: str | None, outputs: list[dict[str, Any]], verdict: Verdict, words: str
) -> None:
    report = outcome(answer, *outputs)
    assert (report.verdict, report.score) == (verdict, 0.0)
    assert words in report.diagnosis


def test_only_errors_tell_of_an_end() -> None:
    printed = {"output_type": "stream", "name": "stdout", "text": "exited", "ename": "exited"}
    assert outcome(ANSWER, printed).verdict == Verdict.NOT_ANSWERED


def test_a_syntax_error_is_told_with_its_line() -> None:
    report = outcome("def softmax(x:\n    pass", error("SyntaxError", "invalid"))
    assert "line 1 of the cell, `def softmax(x:`" in report.diagnosis
    assert report.verdict == Verdict.EXCEPTION
