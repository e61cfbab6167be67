"""How far a chapter is, to be shown under a check: as text, and as HTML for a notebook."""

from __future__ import annotations

from html import escape

from autograder.progress.standing import Reached, Standing
from autograder.report.html import LEFT
from autograder.report.text import WIDTH


def standing_text(standing: Standing) -> str:
    """Write a line for the chapter, one for each exercise, and what is next."""
    head = f"{_chapter(standing)} so far"
    points = f"{standing.points:g} of {standing.max_points} points"
    rows = [_row(row) for row in standing.rows]
    return "\n".join([f"{head:<{WIDTH - len(points)}}{points}", *rows, f"  {next_words(standing)}"])


def standing_html(standing: Standing) -> str:
    """Write one line that unfolds into a table of the chapter's exercises."""
    points = f"{standing.points:g} of {standing.max_points} points so far"
    head = f"{escape(_chapter(standing))}: {points}. {escape(next_words(standing))}"
    rows = "".join(_html_row(row) for row in standing.rows)
    table = f"<table><tbody>{rows}</tbody></table>"
    return f"<details><summary>{head}</summary>{table}</details>"


def next_words(standing: Standing) -> str:
    """Say which exercise is next."""
    one = standing.next
    if one is None:
        return "All exercises are done."
    return f"Next: {one.id}, about {one.minutes} minutes."


def _chapter(standing: Standing) -> str:
    return standing.rows[0].exercise.chapter


def _row(row: Reached) -> str:
    points = f"{row.points:g} of {row.exercise.points}"
    return f"  {row.exercise.id:<{WIDTH - len(points) - 2}}{points}"


def _html_row(row: Reached) -> str:
    mark = "&#10003;" if row.is_done else ""
    name, points = escape(row.exercise.id), f"{row.points:g} of {row.exercise.points}"
    return f"<tr><td>{mark}</td><td {LEFT}>{name}</td><td {LEFT}>{points}</td></tr>"
