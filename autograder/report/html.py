"""A report as an HTML fragment for a notebook: escaped, without scripts, legible on any theme."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from autograder.verdict import Finding, Report

LEFT = "style='text-align:left; padding:0.2em 0.8em; vertical-align:top'"


def as_html(report: Report) -> str:
    """Write the likely cause, a table with a row for each behaviour, and what the code printed."""
    rows = "".join(_row(finding, before) for before, finding in _with_previous(report))
    head = f"<tr><th>holds?</th><th {LEFT}>behaviour</th><th {LEFT}>what was seen</th></tr>"
    table = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>" if rows else ""
    points = f"{report.score:g} of {report.max_score:g} points"
    cause = f"<p>{escape(report.diagnosis)}</p>" if report.diagnosis else ""
    out = escape(report.printed)
    printed = f"<p>Your code printed:</p><pre>{out}</pre>" if out else ""
    return f"<p><b>{escape(report.exercise)}</b>: {points}</p>{cause}{table}{printed}"


def _with_previous(report: Report) -> Iterator[tuple[str, Finding]]:
    """Yield each finding with the message of the failure before it."""
    before = ""
    for finding in report.findings:
        yield before, finding
        before = finding.message or before


def _row(finding: Finding, before: str) -> str:
    mark = "&#10003;&nbsp;yes" if finding.passed else "&#10007;&nbsp;no"
    detail = escape(finding.inputs) if finding.passed else _failed(finding, before)
    behaviour = escape(finding.behaviour)
    return f"<tr><td>{mark}</td><td {LEFT}>{behaviour}</td><td {LEFT}>{detail}</td></tr>"


def _failed(finding: Finding, before: str) -> str:
    message = "the same" if finding.message == before else finding.message
    where = f"<br><small>on {escape(finding.inputs)}</small>" if finding.inputs else ""
    return f"{escape(message)}{where}"
