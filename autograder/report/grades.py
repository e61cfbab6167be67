"""The results of a class as text."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.result import Result
from autograder.verdict import Verdict


def progress_line(number: int, total: int, result: Result) -> str:
    """Write the line shown when a submission is done."""
    ending = f"{_points(result)}, {result.verdict}, {result.seconds:.1f} s"
    return f"[{number}/{total}] {_name(result)}: {ending}"


def class_text(results: Sequence[Result]) -> str:
    """Write a table with one block for each student, then what an instructor should look at."""
    width = max((len(_name(result)) for result in results), default=0)
    lines = [line for result in results for line in _block(result, width)]
    return "\n".join([*lines, "", *_for_the_instructor(results)])


def _block(result: Result, width: int) -> list[str]:
    lines = [f"{_name(result):<{width}}  {_points(result):>12}  {_verdicts(result)}"]
    indent = " " * 4
    if result.error:
        lines.append(f"{indent}cannot be read: {result.error}")
    return [*lines, *(f"{indent}note: {note}" for note in result.notes)]


def _verdicts(result: Result) -> str:
    """Name the exercises that did not pass, by their verdict."""
    if result.error:
        return "unreadable"
    failed = [report for report in result.reports if report.verdict != Verdict.PASS]
    kinds = dict.fromkeys(str(report.verdict) for report in failed)
    parts = [
        f"{kind}: {', '.join(one.exercise for one in failed if one.verdict == kind)}"
        for kind in kinds
    ]
    return "; ".join(parts) or "pass"


def _for_the_instructor(results: Sequence[Result]) -> list[str]:
    ours = [
        f"    {_name(result)}: {report.exercise}: {report.diagnosis}"
        for result in results
        for report in result.reports
        if report.verdict == Verdict.GRADER_ERROR
    ]
    unread = [f"    {_name(result)}: {result.error}" for result in results if result.error]
    lines = []
    if ours:
        lines += ["Faults of the grader, to be looked at by you:", *ours]
    if unread:
        lines += ["Submissions without a readable notebook:", *unread]
    count = "1 submission" if len(results) == 1 else f"{len(results)} submissions"
    return [*lines, f"{count} graded, {len(unread)} of them unreadable, {len(ours)} grader errors."]


def _name(result: Result) -> str:
    return result.student or result.chapter


def _points(result: Result) -> str:
    return f"{result.score:g} of {result.max_score:g}"
