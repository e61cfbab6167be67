"""A question with options, as a chapter writes it: the same words on the page and in the notebook.

    :::{selfcheck} How many scores do 3 queries and 4 keys have?
    - [ ] 7
      That is the sum: each query meets each key.
    - [x] 12
      One for each pair.
    :::

An option is one line; the lines below it, indented by two, explain why it is right or wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

OPTION = re.compile(r"- \[(?P<mark>[ x])\] (?P<text>\S.*)")
INDENT = "  "
LETTERS = "ABCDE"
FEWEST = 2


@dataclass(frozen=True)
class Choice:
    """One option; `why` holds the lines of its explanation, in MyST."""

    letter: str
    text: str
    right: bool
    why: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """What a reader who opens the option is told first."""
        return "Right." if self.right else "No."


def read_choices(body: Sequence[str]) -> list[Choice]:
    """Read the options of a question.

    Raises ValueError if there are not two to five of them, if not exactly one is right, if one has
    no explanation, or if a line belongs to none.
    """
    lines = [line.rstrip() for line in body]
    starts = [i for i, line in enumerate(lines) if OPTION.fullmatch(line)]
    if stray := [line for line in lines[: starts[0] if starts else None] if line]:
        raise ValueError(f"this line belongs to no option: {stray[0]!r}")
    if not FEWEST <= len(starts) <= len(LETTERS):
        raise ValueError(f"a question has two to five options, not {len(starts)}")
    ends = [*starts[1:], len(lines)]
    choices = [
        _choice(letter, lines[start], lines[start + 1 : end])
        for letter, start, end in zip(LETTERS, starts, ends, strict=False)
    ]
    if sum(choice.right for choice in choices) != 1:
        raise ValueError("exactly one option is right: mark it with [x]")
    return choices


def _choice(letter: str, line: str, below: list[str]) -> Choice:
    match = OPTION.fullmatch(line)
    assert match
    if stray := [text for text in below if text and not text.startswith(INDENT)]:
        raise ValueError(f"this line is not indented by two: {stray[0]!r}")
    why = "\n".join(text.removeprefix(INDENT) for text in below).strip("\n")
    if not why:
        raise ValueError(f"this option has no explanation: {match['text']!r}")
    return Choice(letter, match["text"], match["mark"] == "x", tuple(why.split("\n")))
