"""The value that a check cell shows: a number to graders, a table to people."""

from __future__ import annotations

from typing import Any

from autograder.progress.standing import Standing
from autograder.report.html import as_html
from autograder.report.standing import standing_html, standing_text
from autograder.report.text import as_text
from autograder.verdict import Report

MIME = "application/vnd.transformer-course.report+json"


class Score(float):
    """The points of one exercise.

    Its `repr` is the number, which is what nbgrader reads for partial credit. A notebook shows the
    table, and under it how far the chapter is, where that is known; `print` writes both as text;
    the record for `course check` travels beside them.
    """

    report: Report
    standing: Standing | None

    def __new__(cls, report: Report, standing: Standing | None = None) -> Score:
        """Make the number that is the report's score."""
        score = super().__new__(cls, report.score)
        score.report, score.standing = report, standing
        return score

    def __str__(self) -> str:
        """Write the table as text."""
        below = f"\n\n{standing_text(self.standing)}" if self.standing else ""
        return as_text(self.report) + below

    def __repr__(self) -> str:
        """Write the number alone."""
        return repr(float(self))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Give Jupyter the number, the table and the record."""
        del include, exclude  # Jupyter's protocol passes them; the bundle is small
        below = standing_html(self.standing) if self.standing else ""
        return {
            "text/plain": repr(self),
            "text/html": as_html(self.report) + below,
            MIME: self.report.as_json(),
        }
