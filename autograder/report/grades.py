"""The results of a class as text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

from autograder.result import Result
from autograder.verdict import Verdict


class Marks(Protocol):
    """A gradebook, once everything is in it."""

    def export(self) -> Path:
        """Write the table of marks and return its path."""


def done_line(result: Result) -> str:
    """Write the line shown when a submission is done."""
    ending = f"{_points(result)} points, {result.verdict}, {result.seconds:.1f} s"
    return f"{_name(result)}: {ending}"


def write_class(out: Path, results: Callable[[], Iterable[Result]], gradebook: Marks) -> str:
    """Write results.json, summary.txt and grades.csv; return what to print.

    results  gives the class's results, from the first on, each time that it is called
    """
    _write_records(out / "results.json", results())
    width = max((len(_name(result)) for result in results()), default=0)
    summary = "\n".join(_class_lines(results(), width))
    (out / "summary.txt").write_text(f"{summary}\n", encoding="utf-8", newline="\n")
    table = gradebook.export()
    where = f"Records: {out / 'results.json'}\nMarks: {table}\nFeedback: {out / 'feedback'}"
    return f"{summary}\n\n{where}"


def _write_records(path: Path, results: Iterable[Result]) -> None:
    """Write a JSON list, one record after the other: a large class does not fit in memory."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        before = "[\n"
        for result in results:
            file.write(before + json.dumps(result.as_json(), ensure_ascii=False, allow_nan=False))
            before = ",\n"
        file.write("\n]\n" if before != "[\n" else "[]\n")


def _class_lines(results: Iterable[Result], width: int) -> Iterator[str]:
    """Yield a block for each student, then what an instructor should look at."""
    ours: list[str] = []
    unread: list[str] = []
    total = 0
    for result in results:
        total += 1
        yield from _block(result, width)
        ours += _faults(result)
        unread += [f"    {_name(result)}: {result.error}"] if result.error else []
    yield ""
    yield from _for_the_instructor(total, ours, unread)


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


def _faults(result: Result) -> list[str]:
    return [
        f"    {_name(result)}: {report.exercise}: {report.diagnosis}"
        for report in result.reports
        if report.verdict == Verdict.GRADER_ERROR
    ]


def _for_the_instructor(total: int, ours: list[str], unread: list[str]) -> Iterator[str]:
    if ours:
        yield from ("Faults of the grader, to be looked at by you:", *ours)
    if unread:
        yield from ("Submissions without a readable notebook:", *unread)
    count = "1 submission" if total == 1 else f"{total} submissions"
    yield f"{count} graded, {len(unread)} of them unreadable, {len(ours)} grader errors."


def _name(result: Result) -> str:
    return result.student or result.chapter


def _points(result: Result) -> str:
    return f"{result.score:g} of {result.max_score:g}"
