"""The `results.json` that Gradescope reads from an autograder, for each submission."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from autograder.exports.mark import Export, Mark, open_notes

Record = Mapping[str, Any]


def gradescope(marks: Sequence[Mark], records: Iterable[tuple[str, Record]]) -> Export:
    """Write <student>/<chapter>/results.json for each record that there is a mark of.

    records  of the judge, each with the name of the student's folder

    What a person has to look at first has no file: Gradescope cannot be told that points are open.
    """
    known = {(mark.student, mark.chapter): mark for mark in marks if not mark.open}
    files = {}
    for folder, record in records:
        mark = known.get((record["student"], record["chapter"]))
        if mark:
            path = f"gradescope/{folder}/{mark.chapter}/results.json"
            files[path] = (json.dumps(_results(mark, record), indent=2) + "\n").encode()
    return Export(files, open_notes(marks))


def _results(mark: Mark, record: Record) -> dict[str, Any]:
    tests = [_test(i, one, mark) for i, one in enumerate(record["exercises"], start=1)]
    return {
        "score": mark.score,  # the sum of the tests would leave out a penalty
        "execution_time": record["seconds"],
        "output": "\n".join(_said(mark, record)),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {name: record.get(name, "") for name in ("submission", "version", "seed_id")},
    }


def _said(mark: Mark, record: Record) -> Iterator[str]:
    if record.get("error"):
        yield f"This submission could not be read. {record['error']}"
    if mark.penalty:
        yield f"{mark.penalty:g} points were taken off for handing in late."
    yield from record["notes"]


def _test(number: int, report: Record, mark: Mark) -> dict[str, Any]:
    points = mark.points.get(report["id"])
    return {
        "name": report["id"],
        "number": str(number),
        "score": points or 0.0,
        "max_score": report["max_score"],
        "status": "passed" if report["verdict"] == "pass" else "failed",
        "output": "\n".join(_lines(report)),
        "output_format": "text",
        "visibility": "visible",
    }


def _lines(report: Record) -> Iterator[str]:
    yield str(report["verdict"])
    if report["diagnosis"]:
        yield report["diagnosis"]
    for case in report["cases"]:
        yield f"{'yes' if case['passed'] else 'no ':<3}  {case['behaviour']}"
        if case["message"] and not case["passed"]:
            yield f"     {case['message']}"
        if case.get("inputs"):
            yield f"     on {case['inputs']}"
    if report.get("printed"):
        yield "Your code printed:"
        yield report["printed"]
