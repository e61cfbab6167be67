"""Only a valid record gives points; everything else has a verdict and a reason."""

from typing import Any

import pytest

from autograder.catalogue import exercise
from autograder.outcome import reports
from autograder.score import MIME
from autograder.verdict import Report, Verdict

SPEC = exercise("softmax")
ANSWER = "def softmax(x, dim=-1):\n    return x"


def cell(grade_id: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"nbgrader": {"grade_id": grade_id}}, "outputs": list(outputs)}


def shown(record: Any) -> dict[str, Any]:
    return {"output_type": "execute_result", "data": {"text/plain": "4.0", MIME: record}}


def error(name: str, value: str = "") -> dict[str, Any]:
    return {"output_type": "error", "ename": name, "evalue": value, "traceback": []}


def outcome(*cells: dict[str, Any], answer: str | None = ANSWER) -> Report:
    answers = {} if answer is None else {"softmax": answer}
    return reports([SPEC], cells, answers)[0]


def passed() -> dict[str, Any]:
    cases = [{"behaviour": c.behaviour, "passed": True, "message": ""} for c in SPEC.cases]
    return {
        "id": "softmax",
        "verdict": "pass",
        "score": 4.0,
        "max_score": 4.0,
        "diagnosis": "",
        "cases": cases,
    }


def test_a_record_is_taken() -> None:
    assert outcome(cell("check-softmax", shown(passed()))).score == 4.0


@pytest.mark.parametrize(
    "change",
    [
        {"score": float("nan")},
        {"score": -1},
        {"score": 5.0},
        {"score": "many"},
        {"max_score": 1.0},
        {"id": "attention_cost"},
        {"verdict": "wrong"},
        {"verdict": "excellent"},
        {"score": 3.0},
        {"cases": [{"behaviour": "x", "passed": False, "message": ""}]},
        {"cases": 7},
    ],
)
def test_an_impossible_record_gives_nothing(change: dict[str, Any]) -> None:
    report = outcome(cell("check-softmax", shown(passed() | change)))
    assert report.score == 0
    assert report.verdict != Verdict.PASS


@pytest.mark.parametrize("record", [None, 7, "pass", [], {}])
def test_a_record_of_another_shape_gives_nothing(record: Any) -> None:
    assert outcome(cell("check-softmax", shown(record))).verdict == Verdict.EXCEPTION


@pytest.mark.parametrize(
    ("cells", "answer", "verdict"),
    [
        ([cell("check-softmax")], ANSWER, Verdict.EXCEPTION),
        ([], ANSWER, Verdict.EXITED),
        ([cell("check-softmax", error("DeadKernelError"))], ANSWER, Verdict.EXITED),
        ([cell("check-softmax", error("CellTimeoutError"))], ANSWER, Verdict.TIME),
        ([cell("softmax", error("KeyboardInterrupt")), cell("check-softmax")], "x", Verdict.TIME),
        ([cell("check-softmax", error("NameError", "x"))], ANSWER, Verdict.EXCEPTION),
        ([cell("check-softmax", error("NameError", "x"))], None, Verdict.NOT_ANSWERED),
        ([cell("check-softmax", error("NameError", "x"))], "  ", Verdict.NOT_ANSWERED),
    ],
)
def test_what_left_no_record_is_no_pass(cells: Any, answer: str | None, verdict: Verdict) -> None:
    report = outcome(*cells, answer=answer)
    assert (report.verdict, report.score) == (verdict, 0.0)
    assert report.diagnosis


def test_a_syntax_error_is_told_with_its_line() -> None:
    report = outcome(cell("check-softmax", error("NameError")), answer="def softmax(x:\n    pass")
    assert "line 1 of the cell, `def softmax(x:`" in report.diagnosis
    assert report.verdict == Verdict.EXCEPTION
