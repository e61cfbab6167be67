"""The report of an exercise that was not judged, and why it was not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.celltext import bound_names, syntax_error
from autograder.spec import Exercise
from autograder.verdict import Finding, Report, Verdict

OUT_OF_TIME = "OutOfTime"
ENDINGS = {str(verdict): verdict for verdict in (Verdict.TIME, Verdict.MEMORY, Verdict.EXITED)}


def without_record(
    exercise: Exercise, verdict: Verdict, diagnosis: str, message: str = "not tried"
) -> Report:
    """Make the report of an exercise that was not judged: no points, no behaviour shown."""
    findings = tuple(Finding(case.behaviour, False, message=message) for case in exercise.cases)
    return Report(exercise.id, verdict, 0.0, exercise.points, diagnosis, findings)


def missing(exercise: Exercise, answer: str | None, outputs: Sequence[Mapping[str, Any]]) -> Report:
    """Report an exercise whose function is not there after its cell ran.

    answer   text of the cell that answers it, if one was found
    outputs  what that cell showed
    """
    verdict, text = _reason(exercise, answer, outputs)
    return without_record(exercise, verdict, text)


def _reason(
    exercise: Exercise, answer: str | None, outputs: Sequence[Mapping[str, Any]]
) -> tuple[Verdict, str]:
    """Say why it is not there, from the most telling sign to the least."""
    broken = syntax_error(answer) if answer is not None else None
    if broken:
        return Verdict.EXCEPTION, broken
    errors = [output for output in outputs if output.get("output_type") == "error"]
    name = str(errors[0].get("ename", "")) if errors else ""
    if name in ENDINGS:
        return ENDINGS[name], str(errors[0].get("evalue", ""))
    if name == OUT_OF_TIME:
        return Verdict.TIME, "The cell of this exercise took too long and was stopped."
    if answer is None or exercise.id not in bound_names(answer):
        return Verdict.NOT_ANSWERED, _not_found(exercise, answer)
    if errors:
        return Verdict.EXCEPTION, _described(errors[0])
    return Verdict.NOT_ANSWERED, f"`{exercise.id}` is not there after its cell ran."


def _not_found(exercise: Exercise, answer: str | None) -> str:
    names = [f"`{name}`" for name in sorted(bound_names(answer or ""))]
    if not names:
        return f"No answer of `{exercise.id}` was found."
    return f"`{exercise.id}` is not defined; its cell defines {', '.join(names)}."


def _described(error: Mapping[str, Any]) -> str:
    value = str(error.get("evalue", "")).strip().splitlines()
    return f"{error.get('ename', 'Error')}: {value[0]}" if value else str(error.get("ename"))
