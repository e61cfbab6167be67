"""Submitted cells -> a notebook that can be graded, and notes on how the answers were found.

What is submitted is data: its metadata and its check cells are never used. The frame (ids, points,
check cells, set-up cells) comes from the course's own notebook; the student gives answers and
helper cells, in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.celltext import (
    assigns,
    bound_names,
    definition,
    is_stub,
    mentions_definition,
    only_stubs,
    used_names,
)
from autograder.untrusted import RawCell

CHECK = "check-"


@dataclass(frozen=True)
class Intake:
    """A normalised notebook, notes in plain words, and where each answer came from.

    notebook  nbformat 4.5; our metadata, the student's answers and helpers
    answers   exercise id -> text of the cell that holds the answer
    """

    notebook: Any
    notes: tuple[str, ...]
    answers: dict[str, str]


@dataclass
class _Frame:
    """The course's own notebook, taken apart."""

    stubs: dict[str, Any]
    checks: dict[str, Any]
    others: list[str]
    metadata: dict[str, Any]


@dataclass
class _Plan:
    """Which submitted cell answers what, while it is being worked out."""

    answers: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def normalise(cells: Sequence[RawCell], ours: Any) -> Intake:
    """Put a student's answers and helpers into the frame of the course's own notebook.

    cells  what was read from the submitted file
    ours   the chapter's notebook as the course makes it, with answers or without
    """
    frame = _frame(ours)
    plan = _Plan()
    for exercise in frame.stubs:
        _match(exercise, cells, plan)
    kept = _kept(cells, frame, plan)
    checks = _check_positions(cells, frame, plan)
    notebook = _assembled(cells, frame, plan, kept, checks)
    answers = {name: cells[at].source for name, at in plan.answers.items()}
    return Intake(notebook, tuple(plan.notes), answers)


def exercises_found(cells: Sequence[RawCell], exercises: Sequence[str]) -> int:
    """Count the exercises that a submitted notebook knows by a cell's id or by a definition."""
    names = {name.removeprefix(CHECK) for cell in cells for name in cell.names}
    texts = [cell.source for cell in cells if cell.kind == "code"]
    return sum(
        name in names or any(mentions_definition(text, name) for text in texts)
        for name in exercises
    )


def _frame(ours: Any) -> _Frame:
    frame = _Frame({}, {}, [], dict(ours.metadata))
    for cell in ours.cells:
        grading = cell.metadata.get("nbgrader", {})
        if grading.get("solution"):
            frame.stubs[grading["grade_id"]] = cell
        elif grading.get("grade"):
            frame.checks[grading["grade_id"].removeprefix(CHECK)] = cell
        elif cell.cell_type == "code":
            frame.others.append(cell.source)
    return frame


# Finding the answers


def _match(exercise: str, cells: Sequence[RawCell], plan: _Plan) -> None:
    """Find the cell that answers one exercise: by its id, then by what it defines."""
    code = [i for i, cell in enumerate(cells) if cell.kind == "code"]
    by_id = [i for i in code if exercise in cells[i].names]
    written = [i for i in code if _defines(cells[i].source, exercise)]
    written = written or [i for i in code if assigns(cells[i].source, exercise)]
    if written:
        chosen = written[-1]
        plan.notes += _how_found(exercise, chosen, by_id, written)
    elif by_id:
        chosen = by_id[-1]
    else:
        begun = [i for i in code if mentions_definition(cells[i].source, exercise)]
        if not begun:
            plan.notes.append(f"no answer of {exercise} was found")
            return
        chosen = begun[-1]
        plan.notes.append(_found_by_definition(exercise, chosen))
    plan.answers[exercise] = chosen


def _defines(source: str, name: str) -> bool:
    """Whether a cell gives the function a body of its own."""
    found = definition(source, name)
    return found is not None and not is_stub(found)


def _how_found(exercise: str, chosen: int, by_id: list[int], written: list[int]) -> list[str]:
    notes = []
    if len(written) > 1:
        where = ", ".join(str(i + 1) for i in written)
        notes.append(
            f"{exercise} is defined in cells {where}: the last one, cell {chosen + 1}, was graded"
        )
    elif chosen not in by_id:
        notes.append(_found_by_definition(exercise, chosen, moved=bool(by_id)))
    return notes


def _found_by_definition(exercise: str, chosen: int, *, moved: bool = False) -> str:
    why = "the cell made for it holds none" if moved else "its id was gone"
    return f"answer of {exercise} found by its definition in cell {chosen + 1}: {why}"


# Choosing the cells that run


def _kept(cells: Sequence[RawCell], frame: _Frame, plan: _Plan) -> set[int]:
    """Keep answers, the student's own cells, prose, and the course's cells that those need."""
    course = {text.strip() for text in frame.others}
    answers = set(plan.answers.values())
    kept, unedited = set(answers), []
    for i, cell in enumerate(cells):
        if i in answers or _is_check(cell, frame):
            continue
        if cell.kind == "code" and cell.source.strip() in course:
            unedited.append(i)
        elif cell.source.strip() and not _leftover_stub(cell, frame):
            kept.add(i)
    return kept | _needed(cells, kept, unedited)


def _needed(cells: Sequence[RawCell], kept: set[int], unedited: list[int]) -> set[int]:
    """Choose the course's own cells that give a value to a name which a kept cell reads.

    The others draw and measure; they would cost time and cannot change an answer.
    """
    wanted = {name for i in kept if cells[i].kind == "code" for name in used_names(cells[i].source)}
    needed: set[int] = set()
    for i in reversed(unedited):
        if bound_names(cells[i].source) & wanted:
            needed.add(i)
            wanted |= used_names(cells[i].source)
    return needed


def _is_check(cell: RawCell, frame: _Frame) -> bool:
    return _checked(cell, frame) is not None


def _checked(cell: RawCell, frame: _Frame) -> str | None:
    """Name the exercise whose check cell this is, or was."""
    for exercise, check in frame.checks.items():
        if CHECK + exercise in cell.names or cell.source.strip() == check.source.strip():
            return exercise
    return None


def _leftover_stub(cell: RawCell, frame: _Frame) -> bool:
    """Whether a cell that is no answer would put an exercise's stub over one."""
    if cell.kind != "code" or not only_stubs(cell.source):
        return False
    return any(definition(cell.source, exercise) for exercise in frame.stubs)


# Putting the notebook together


def _check_positions(cells: Sequence[RawCell], frame: _Frame, plan: _Plan) -> dict[int, list[str]]:
    """Say after which submitted cell each check runs: where the student left it, if that is later
    than the answer; else right after the answer; at the end if there is no answer.
    """
    after: dict[int, list[str]] = {}
    for exercise in frame.checks:
        found = [i for i, cell in enumerate(cells) if _checked(cell, frame) == exercise]
        if not found:
            plan.notes.append(f"the check cell of {exercise} was missing and was put back")
        elif len(found) > 1:
            times = f"is there {len(found)} times: one is run"
            plan.notes.append(f"the check cell of {exercise} {times}")
        answer = plan.answers.get(exercise, len(cells))
        later = [i for i in found if i > answer]
        after.setdefault(later[0] if later else answer, []).append(exercise)
    return after


def _assembled(
    cells: Sequence[RawCell],
    frame: _Frame,
    plan: _Plan,
    kept: set[int],
    checks: dict[int, list[str]],
) -> Any:
    out = _missing_setup(cells, frame, plan, kept)
    exercise_at = {at: name for name, at in reversed(plan.answers.items())}
    for i, cell in enumerate(cells):
        if i in exercise_at:
            out.append(_answer_cell(cell, frame.stubs[exercise_at[i]]))
        elif i in kept:
            make = new_code_cell if cell.kind == "code" else new_markdown_cell
            out.append(make(cell.source))
        out += [_check_cell(frame.checks[name]) for name in checks.get(i, [])]
    out += [_check_cell(frame.checks[name]) for name in checks.get(len(cells), [])]
    notebook = new_notebook(cells=out, metadata=frame.metadata)
    notebook.nbformat_minor = 5
    for number, one in enumerate(notebook.cells, start=1):
        one["id"] = one.metadata.get("nbgrader", {}).get("grade_id") or f"cell-{number}"
    nbformat.validate(notebook)
    return notebook


def _missing_setup(
    cells: Sequence[RawCell], frame: _Frame, plan: _Plan, kept: set[int]
) -> list[Any]:
    """Put back the course's own cells that the answers need and that were deleted or emptied."""
    running = [cells[i].source for i in sorted(kept) if cells[i].kind == "code"]
    bound = {name for source in running for name in bound_names(source)}
    wanted = {name for source in running for name in used_names(source)} - bound
    back: list[str] = []
    for source in reversed(frame.others):
        given = bound_names(source) & wanted
        if given:
            back.insert(0, source)
            wanted = (wanted - given) | (used_names(source) - bound_names(source) - bound)
            names = ", ".join(sorted(given))
            plan.notes.append(f"the course's cell that gives {names} was put back")
    return [new_code_cell(source) for source in back]


def _answer_cell(cell: RawCell, stub: Any) -> Any:
    return new_code_cell(cell.source, metadata=stub.metadata)


def _check_cell(check: Any) -> Any:
    return new_code_cell(check.source, metadata=check.metadata)
