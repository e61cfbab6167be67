"""Which submitted cell answers which exercise, and in words how it was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from autograder.celltext import (
    assigns,
    begins_indented,
    defines,
    mentions_definition,
    syntax_error,
)
from autograder.untrusted import RawCell


def match(exercises: Iterable[str], cells: Sequence[RawCell]) -> tuple[dict[str, int], list[str]]:
    """Find the cell that answers each exercise: by its id, then by what it defines.

    ->  exercise -> place among the cells, and notes
    """
    answers: dict[str, int] = {}
    notes: list[str] = []
    for exercise in exercises:
        chosen, told = _match(exercise, cells)
        notes += told
        if chosen is not None:
            answers[exercise] = chosen
    return answers, notes + _shared(answers)


def _match(exercise: str, cells: Sequence[RawCell]) -> tuple[int | None, list[str]]:
    code = [i for i, cell in enumerate(cells) if cell.kind == "code"]
    by_id = [i for i in code if exercise in cells[i].names]
    written = [i for i in code if defines(cells[i].source, exercise)]
    written = written or [i for i in code if assigns(cells[i].source, exercise)]
    if written:
        return written[-1], _how_found(exercise, by_id, written)
    if by_id:
        return by_id[-1], _cut_in_two(exercise, by_id[-1], cells)
    begun = [i for i in code if mentions_definition(cells[i].source, exercise)]
    if begun:
        found = _found_by_definition(exercise, begun[-1])
        return begun[-1], [found, *_cut_in_two(exercise, begun[-1], cells)]
    return None, [_not_found(exercise, cells)]


def _how_found(exercise: str, by_id: list[int], written: list[int]) -> list[str]:
    chosen = written[-1]
    if len(written) > 1:
        where = ", ".join(str(i + 1) for i in written)
        last = f"the last one, cell {chosen + 1}, was graded"
        return [f"{exercise} is defined in cells {where}: {last}"]
    if chosen not in by_id:
        return [_found_by_definition(exercise, chosen, moved=bool(by_id))]
    return []


def _found_by_definition(exercise: str, chosen: int, *, moved: bool = False) -> str:
    why = "the cell made for it holds none" if moved else "its id was gone"
    return f"answer of {exercise} found by its definition in cell {chosen + 1}: {why}"


def _not_found(exercise: str, cells: Sequence[RawCell]) -> str:
    for i, cell in enumerate(cells):
        if cell.kind != "code" and mentions_definition(cell.source, exercise):
            where = f"cell {i + 1} holds it but is a text cell: make it a code cell"
            return f"no answer of {exercise} was found: {where}"
    return f"no answer of {exercise} was found"


def _cut_in_two(exercise: str, at: int, cells: Sequence[RawCell]) -> list[str]:
    """Say that the body of a function was split off into the next code cell."""
    below = ((i, cells[i]) for i in range(at + 1, len(cells)))
    code = ((i, cell) for i, cell in below if cell.kind == "code" and cell.source.strip())
    i, rest = next(code, (at, cells[at]))
    if i == at or not begins_indented(rest.source) or not syntax_error(rest.source):
        return []
    where = f"cell {i + 1} begins with indented lines"
    return [f"{exercise} was cut in two: {where}; join it to cell {at + 1}"]


def _shared(answers: dict[str, int]) -> list[str]:
    """Say which cells hold several answers."""
    notes = []
    for at in sorted(set(answers.values())):
        names = [name for name, place in answers.items() if place == at]
        if len(names) > 1:
            notes.append(f"cell {at + 1} holds several answers: {', '.join(names)}")
    return notes
