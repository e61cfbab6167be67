"""A report as plain text, for terminals and logs."""

from __future__ import annotations

import textwrap

from autograder.verdict import Finding, Report

WIDTH = 78


def as_text(report: Report) -> str:
    """Write one line for each behaviour, then one cause."""
    points = f"{report.score:g} of {report.max_score:g} points"
    lines = [f"{report.exercise:<{WIDTH - len(points)}}{points}"]
    for finding in report.findings:
        lines += _finding_lines(finding)
    if report.diagnosis:
        lines += _wrapped(report.diagnosis, 7)
    return "\n".join(lines)


def _finding_lines(finding: Finding) -> list[str]:
    mark = "yes" if finding.passed else "no "
    detail = finding.message or finding.inputs
    first = f"  {mark}  {finding.behaviour}"
    if len(first) + len(detail) + 2 <= WIDTH:
        return [f"{first:<{WIDTH - len(detail)}}{detail}"]
    where = finding.inputs and f"on {finding.inputs}"
    more = [detail] if finding.passed else [finding.message, where]
    return [first, *(line for text in more for line in _wrapped(text, 11))]


def _wrapped(text: str, spaces: int) -> list[str]:
    indent = " " * spaces
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)
