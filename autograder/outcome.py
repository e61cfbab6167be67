"""An executed notebook -> a report for each exercise. What left no record is never a pass."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autograder.celltext import bound_names, syntax_error
from autograder.score import MIME
from autograder.spec import Exercise
from autograder.verdict import Finding, Report, Verdict

TIMEOUT_NAMES = ("CellTimeoutError", "KeyboardInterrupt")
DEAD_KERNEL = "DeadKernelError"


def reports(
    exercises: Iterable[Exercise], cells: Sequence[Any], answers: Mapping[str, str]
) -> tuple[Report, ...]:
    """Read the outcome of every exercise from the outputs of our check cells.

    cells    cells of the executed notebook
    answers  exercise id -> text of the cell that answers it
    """
    return tuple(_report(one, cells, answers.get(one.id)) for one in exercises)


def has_record(cell: Any, exercise: Exercise) -> bool:
    """Whether a check cell's outputs hold a valid record of the exercise."""
    return _record(cell, exercise) is not None


def without_record(
    exercise: Exercise, verdict: Verdict, diagnosis: str, message: str = "not tried"
) -> Report:
    """Make the report of an exercise that was not judged: no points, no behaviour shown."""
    findings = tuple(Finding(case.behaviour, False, message=message) for case in exercise.cases)
    return Report(exercise.id, verdict, 0.0, exercise.points, diagnosis, findings)


def _report(exercise: Exercise, cells: Sequence[Any], answer: str | None) -> Report:
    check = _graded_cell(cells, f"check-{exercise.id}")
    recorded = check and _record(check, exercise)
    if recorded:
        return recorded
    verdict, text = _ending(exercise, answer, _graded_cell(cells, exercise.id), check)
    return without_record(exercise, verdict, text)


def _ending(
    exercise: Exercise, answer: str | None, answered: Any, check: Any
) -> tuple[Verdict, str]:
    """Say why there is no record, from the most telling sign to the least."""
    errors = [*_errors(answered), *_errors(check)]
    broken = syntax_error(answer) if answer is not None else None
    names = [error.get("ename", "") for error in errors]
    if broken:
        return Verdict.EXCEPTION, broken
    if DEAD_KERNEL in names or check is None:
        text = "Python ended before this exercise was checked: the code exited or crashed."
        return Verdict.EXITED, text
    if any(name in TIMEOUT_NAMES for name in names):
        text = "The cell of this exercise took too long and was stopped."
        return Verdict.TIME, text
    if answer is None or exercise.id not in bound_names(answer):
        return Verdict.NOT_ANSWERED, _not_found(exercise, answer)
    if errors:
        return Verdict.EXCEPTION, _described(errors[0])
    return Verdict.EXCEPTION, _said(check) or "The check of this exercise showed no result."


def _not_found(exercise: Exercise, answer: str | None) -> str:
    names = [f"`{name}`" for name in sorted(bound_names(answer or ""))]
    if not names:
        return f"No answer of `{exercise.id}` was found."
    return f"`{exercise.id}` is not defined; its cell defines {', '.join(names)}."


def _described(error: Mapping[str, Any]) -> str:
    value = str(error.get("evalue", "")).strip().splitlines()
    return f"{error.get('ename', 'Error')}: {value[0]}" if value else str(error.get("ename"))


def _said(check: Any) -> str:
    """Return what a record that is not of this exercise says; a lambda has another name, say."""
    data = [output.get("data", {}).get(MIME) for output in check.get("outputs", [])]
    return next((str(one.get("diagnosis", "")) for one in data if isinstance(one, dict)), "")


def _graded_cell(cells: Sequence[Any], grade_id: str) -> Any:
    for cell in cells:
        if cell.get("metadata", {}).get("nbgrader", {}).get("grade_id") == grade_id:
            return cell
    return None


def _errors(cell: Any) -> list[Mapping[str, Any]]:
    outputs = cell.get("outputs", []) if cell else []
    return [output for output in outputs if output.get("output_type") == "error"]


# The record is written by our check in the student's process: every field is looked at.


def _record(cell: Any, exercise: Exercise) -> Report | None:
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if output.get("output_type") == "execute_result" and MIME in data:
            return _valid(data[MIME], exercise)
    return None


def _valid(record: Any, exercise: Exercise) -> Report | None:
    try:
        report = Report(
            exercise=record["id"],
            verdict=Verdict(record["verdict"]),
            score=float(record["score"]),
            max_score=float(record["max_score"]),
            diagnosis=str(record["diagnosis"]),
            findings=tuple(_finding(case) for case in record["cases"]),
            printed=str(record.get("printed", "")),
        )
    except (KeyError, TypeError, ValueError):
        return None
    return report if _possible(report, exercise) else None


def _finding(case: Mapping[str, Any]) -> Finding:
    return Finding(
        behaviour=str(case["behaviour"]),
        passed=case["passed"] is True,
        inputs=str(case.get("inputs", "")),
        message=str(case["message"]),
    )


def _possible(report: Report, exercise: Exercise) -> bool:
    """Whether a report is one that the judge can write about this exercise."""
    full = report.score == exercise.points
    return (
        report.exercise == exercise.id
        and report.max_score == exercise.points
        and math.isfinite(report.score)
        and 0 <= report.score <= exercise.points
        and full == (report.verdict == Verdict.PASS)
        and (all(finding.passed for finding in report.findings) or not full)
    )
