"""Which cells of a notebook one answer needs, so that it can be asked alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.celltext import Facts, facts
from autograder.intake import CHECK


def needed_cells(cells: Sequence[Any], exercise: str) -> list[int]:
    """List the code cells that must run before one exercise is checked.

    cells     cells of a normalised notebook
    exercise  id of the exercise
    ->        places of: the answer, above its check what gives or changes anything that it uses,
              directly or through others, and what sets things up for all; empty without an answer

    Found from the text alone: what a cell does by way of a function's inside is not seen.
    """
    known = _above_check(cells, exercise)
    answer = _answer(cells, known, exercise)
    if answer is None:
        return []
    start = {answer} | {i for i, one in known.items() if one.sets_up}
    return _closed(known, start, {i: one.bound | one.touched for i, one in known.items()})


def bare_cells(cells: Sequence[Any], exercise: str) -> list[int]:
    """List of the needed cells those that give names, not those that change what others gave.

    For an answer that something in its own notebook spoils, as `torch.exp = None` would.
    """
    known = _above_check(cells, exercise)
    answer = _answer(cells, known, exercise)
    if answer is None:
        return []
    own = {i: one.bound for i, one in known.items() if not one.touched and not one.sets_up}
    return _closed(known, {answer}, own)


def _closed(
    known: Mapping[int, Facts], start: set[int], gives: Mapping[int, frozenset[str]]
) -> list[int]:
    """Add the cells that give what is used, until nothing is missing."""
    needed = start
    while True:
        used = {name for i in needed for name in known[i].used}
        more = {i for i, names in gives.items() if names & used} - needed
        if not more:
            return sorted(needed)
        needed = needed | more


def _above_check(cells: Sequence[Any], exercise: str) -> dict[int, Facts]:
    """Look at the code cells above the check of an exercise, the checks of others left out."""
    found: dict[int, Facts] = {}
    for i, cell in enumerate(cells):
        name = _graded_as(cell)
        if name == CHECK + exercise:
            break
        if cell["cell_type"] == "code" and not name.startswith(CHECK):
            found[i] = facts(cell["source"])
    return found


def _answer(cells: Sequence[Any], known: dict[int, Facts], exercise: str) -> int | None:
    """Find the answer: the cell with its id, or of several answers in one, the last to give it."""
    by_id = [i for i in known if _graded_as(cells[i]) == exercise]
    giving = [i for i, one in known.items() if exercise in one.bound]
    return next(reversed(by_id or giving), None)


def _graded_as(cell: Any) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))
