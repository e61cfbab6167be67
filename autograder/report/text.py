"""A report as plain text, for terminals and logs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from autograder.verdict import Finding, Report

WIDTH = 78


def as_text(report: Report) -> str:
    """Write a line for each behaviour; the likely cause stands under the first that fails."""
    points = f"{report.score:g} of {report.max_score:g} points"
    lines = [f"{report.exercise:<{WIDTH - len(points)}}{points}"]
    lines += _finding_lines(report)
    if report.printed:
        lines += ["  Your code printed:", *(f"    {line}" for line in report.printed.splitlines())]
    return "\n".join(lines)


def _finding_lines(report: Report) -> Iterator[str]:
    cause, seen = report.diagnosis, ""
    for finding in report.findings:
        yield from _passed(finding) if finding.passed else _failed(finding, seen)
        if not finding.passed:
            seen = finding.message
            yield from _wrapped(cause, 7)
            cause = ""
    yield from _wrapped(cause, 7)


def _passed(finding: Finding) -> list[str]:
    first = f"  yes  {finding.behaviour}"
    if len(first) + len(finding.inputs) + 2 <= WIDTH:
        return [f"{first:<{WIDTH - len(finding.inputs)}}{finding.inputs}"]
    return [first, *_wrapped(finding.inputs, 11)]


def _failed(finding: Finding, before: str) -> list[str]:
    """Say what came out and on which inputs; what was said just before is not repeated."""
    message = "the same" if finding.message == before else finding.message
    where = f"on {finding.inputs}" if finding.inputs else ""
    return [f"  no   {finding.behaviour}", *_wrapped(message, 11), *_wrapped(where, 11)]


def _wrapped(text: str, spaces: int) -> list[str]:
    indent = " " * spaces
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,  # a line of code is quoted as it is
        break_on_hyphens=False,
    )
