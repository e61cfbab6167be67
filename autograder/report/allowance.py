"""A limit on the size of a page, spent text by text."""

from __future__ import annotations

from html import escape
from typing import Any

from autograder.report.outputs import joined, plain

LONGEST_CHARACTER = 6  # bytes: `&quot;`


class Allowance:
    """So many bytes may still be written. What no longer fits loses its middle, or all of it."""

    def __init__(self, size: int) -> None:
        """Start with `size` bytes."""
        self.left = size

    def text(self, value: Any, longest: int) -> str:
        """Escape a text for HTML, at most so many of its characters."""
        room = min(longest, self.left // LONGEST_CHARACTER)
        written = escape(plain(cut(joined(value), room)))
        self.left -= len(written.encode())
        return written

    def picture(self, encoded: str) -> bool:
        """Whether a picture of this base64 still fits; if so, it is counted."""
        fits = len(encoded) <= self.left // 2  # a page of pictures alone would help nobody
        self.left -= len(encoded) if fits else 0
        return fits


def cut(text: str, longest: int) -> str:
    """Keep the head and the tail of a text that is too long, and say how much is missing."""
    if len(text) <= longest:
        return text
    said = f"\n… {len(text) - longest:,} more characters …\n"
    if longest < 2 * len(said):
        return text[:longest]
    rest = longest - len(said)
    return text[: rest - rest // 3] + said + text[len(text) - rest // 3 :]
