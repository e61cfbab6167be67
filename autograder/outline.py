"""Leave out of a large notebook what grading does not use, before it takes memory."""

from __future__ import annotations

import re

from autograder.unreadable import Unreadable

MOST_BRACKETS = 2_000_000  # some seconds
# Possessive (`*+`), so that no text takes more than linear time.
UNUSED = re.compile(rb'"(?:outputs|attachments|widgets)"[ \t\r\n]*+:[ \t\r\n]*+[\[{]')
STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?+\Z)'  # closed, or cut off at the end
BRACKET = re.compile(rb'(?:[^"\[\]{}]++|' + STRING + rb")*+([\[\]{}]|\Z)", re.DOTALL)


def outlined(data: bytes) -> bytes:
    """Empty every list and object that holds outputs, attachments or the state of widgets.

    data  JSON in UTF-8, whole or broken
    ->    the same with white space in their place, so that lines and columns stay what they were

    Raises Unreadable if that would take too long.
    """
    kept: list[bytes] = []
    at, left = 0, MOST_BRACKETS
    while unused := UNUSED.search(data, at):
        begun = unused.end()
        end, left = _closing_bracket(data, begun, left)
        kept += [data[at:begun], _blank(data[begun:end])]
        at = end
    kept.append(data[at:])
    return b"".join(kept)


def size_of(data: bytes) -> int:
    """Count the bytes of a text without its line ends and without what was blanked."""
    return len(data) - data.count(b"\n") - data.count(b" ")


def _closing_bracket(data: bytes, begun: int, left: int) -> tuple[int, int]:
    """Find where a list or object ends, or the data if it was cut off; count what may be read."""
    depth = 1
    for number, bracket in enumerate(BRACKET.finditer(data, begun), start=1):
        if number > left:
            raise Unreadable(
                f"its outputs hold more than {MOST_BRACKETS:,} lists: clear its outputs"
            )
        if not bracket[1]:
            break
        depth += 1 if bracket[1] in b"[{" else -1
        if depth == 0:
            return bracket.start(1), left - number
    return len(data), left


def _blank(text: bytes) -> bytes:
    last = text.rfind(b"\n")
    return b"\n" * text.count(b"\n") + b" " * (len(text) - last - 1)
