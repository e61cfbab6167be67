"""Records and executed notebooks as the judge makes them, for tests of what is made of them."""

import base64
import copy
import struct
import zlib
from typing import Any

from commands import CHAPTER

from autograder.catalogue import of_chapter
from autograder.result import Result
from autograder.score import Score
from autograder.verdict import Finding, Report, Verdict

EXERCISES = [one.id for one in of_chapter(CHAPTER)]


def report(
    exercise: str, verdict: Verdict = Verdict.PASS, score: float | None = None, **more: Any
) -> Report:
    """Make a report as the judge does; a pass unless another verdict is named."""
    spec = next(one for one in of_chapter(CHAPTER) if one.id == exercise)
    passed = verdict == Verdict.PASS
    points = float(spec.points) if passed else (score or 0.0)
    message = "" if passed else "0.5 is 0.25 away"
    findings = tuple(
        Finding(case.behaviour, passed, "x of shape (2, 3)", message) for case in spec.cases
    )
    return Report(exercise, verdict, points, float(spec.points), findings=findings, **more)


def record(student: str = "ann", **changed: Report) -> dict[str, Any]:
    """Make the record of a submission in which all passed but what is given by exercise."""
    reports = tuple(changed.get(name, report(name)) for name in EXERCISES)
    result = Result(CHAPTER, reports, 0.21, ("one note",), student=student, sandbox="namespaces")
    ids = {"submission": "ab" * 32, "version": "0123456789ab", "seed_id": "ba9876543210"}
    return result.as_json() | ids


def unreadable(student: str = "ann", why: str = "not JSON") -> dict[str, Any]:
    """Make the record of a file that is no notebook."""
    made = record(student, **{name: report(name, Verdict.NOT_ANSWERED) for name in EXERCISES})
    return made | {"error": why}


def executed(student_notebook: Any, graded: dict[str, Any], *outputs: Any) -> dict[str, Any]:
    """Make the notebook beside a record; the first answer shows the outputs given."""
    notebook: dict[str, Any] = copy.deepcopy(student_notebook)
    by_id = {one["id"]: one for one in graded["exercises"]}
    for cell in notebook["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        if name == EXERCISES[0]:
            cell["outputs"] = list(outputs)
        elif name.removeprefix("check-") in by_id and name.startswith("check-"):
            cell["outputs"] = [_judged(by_id[name.removeprefix("check-")])]
    return notebook


def _judged(one: dict[str, Any]) -> dict[str, Any]:
    cases = tuple(Finding(**case) for case in one["cases"])
    made = Report(one["id"], Verdict(one["verdict"]), one["score"], one["max_score"], "", cases)
    data = Score(made)._repr_mimebundle_()
    kind = {"output_type": "execute_result", "execution_count": None}
    return kind | {"data": data, "metadata": {}}


def stream(text: str, name: str = "stdout") -> dict[str, Any]:
    """Make an output of printed text."""
    return {"output_type": "stream", "name": name, "text": text}


def display(**data: str) -> dict[str, Any]:
    """Make a rich output; `text_html` stands for text/html."""
    kinds = {kind.replace("_", "/", 1): value for kind, value in data.items()}
    return {"output_type": "display_data", "data": kinds, "metadata": {}}


def png(width: int = 2, height: int = 2, side: int | None = None) -> bytes:
    """Make a grey picture; `side` is what the header claims instead of its size."""

    def chunk(name: bytes, data: bytes) -> bytes:
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    sides = (width, height) if side is None else (side, side)
    header = struct.pack(">IIBBBBB", *sides, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\0" + b"\x80" * width) * height)
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def encoded(data: bytes) -> str:
    """Write bytes as a notebook holds a picture."""
    return base64.b64encode(data).decode()
