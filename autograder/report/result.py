"""One submission's result as text."""

from __future__ import annotations

from autograder.report.text import WIDTH, as_text
from autograder.result import Result


def result_text(result: Result) -> str:
    """Write the table of every exercise, the notes, and the sum."""
    total = f"{result.score:g} of {result.max_score:g} points"
    head = f"{result.chapter or 'unknown chapter':<{WIDTH - len(total)}}{total}"
    if result.error:
        return f"{head}\n\nThis file could not be graded. {result.error}"
    tables = [as_text(report) for report in result.reports]
    notes = [f"note: {note}" for note in result.notes]
    return "\n\n".join([*tables, *(["\n".join(notes)] if notes else []), head])
