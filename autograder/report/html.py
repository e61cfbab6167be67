"""A report as an HTML fragment for a notebook: escaped, without scripts, legible on any theme."""

from __future__ import annotations

from html import escape

from autograder.verdict import Finding, Report


def as_html(report: Report) -> str:
    """Write a table with one row for each behaviour, then one cause."""
    rows = "".join(_row(finding) for finding in report.findings)
    cause = f"<p>{escape(report.diagnosis)}</p>" if report.diagnosis else ""
    return (
        f"<table><caption style='text-align:left'><b>{escape(report.exercise)}</b>: "
        f"{report.score:g} of {report.max_score:g} points</caption>"
        "<thead><tr><th>holds?</th><th style='text-align:left'>behaviour</th>"
        "<th style='text-align:left'>what was seen</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>{cause}"
    )


def _row(finding: Finding) -> str:
    mark = "&#10003; yes" if finding.passed else "&#10007; no"
    detail = finding.inputs if finding.passed else _failed(finding)
    return (
        f"<tr><td>{mark}</td><td style='text-align:left'>{escape(finding.behaviour)}</td>"
        f"<td style='text-align:left'>{detail if not finding.passed else escape(detail)}</td></tr>"
    )


def _failed(finding: Finding) -> str:
    where = f"<br><small>on {escape(finding.inputs)}</small>" if finding.inputs else ""
    return f"{escape(finding.message)}{where}"
