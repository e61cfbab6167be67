"""Cut the stub and the answer of an exercise out of the reference library's text."""

from __future__ import annotations

import inspect

from autograder.spec import Exercise

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def answer(exercise: Exercise) -> str:
    """Return the definition as it stands in `solutions`, with nbgrader's markers."""
    return inspect.getsource(exercise.solution).rstrip()


def signature(exercise: Exercise) -> str:
    """Return the definition without its answer: signature and docstring."""
    lines = answer(exercise).splitlines()
    kept, inside = [], False
    for line in lines:
        inside = inside or line.strip() == BEGIN
        if not inside:
            kept.append(line)
        if line.strip() == END:
            inside = False
    return "\n".join(kept).rstrip()


def clean_answer(exercise: Exercise) -> str:
    """Return the definition with its answer and without markers, for a reader."""
    lines = answer(exercise).splitlines()
    return "\n".join(line for line in lines if line.strip() not in (BEGIN, END))


def answer_lines(exercise: Exercise) -> list[str]:
    """List the lines between the markers, stripped: what no edition for students may hold."""
    lines = [line.strip() for line in answer(exercise).splitlines()]
    ranges = zip(
        [i for i, line in enumerate(lines) if line == BEGIN],
        [i for i, line in enumerate(lines) if line == END],
        strict=True,
    )
    return [line for start, end in ranges for line in lines[start + 1 : end] if line]
