"""Submitted cells -> a notebook that can be graded, and notes on how the answers were found.

What is submitted is data: its metadata and its check cells are never used. The frame (ids, points,
check cells, set-up cells) comes from the course's own notebook; the student gives answers and
helper cells, in their order.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.celltext import (
    LONGEST_CELL,
    bound_names,
    facts,
    mentions_definition,
    used_names,
)
from autograder.matching import match
from autograder.nodes import Node
from autograder.untrusted import CONFLICT, RawCell

CHECK = "check-"


@dataclass(frozen=True)
class Intake:
    """A normalised notebook, notes in plain words, and where each answer came from.

    notebook  nbformat 4.5; our metadata, the student's answers and helpers
    answers   exercise id -> text of the cell that holds the answer
    checks    exercise id -> which cell of the notebook is its check, in the order in which they run
    """

    notebook: Any
    notes: tuple[str, ...]
    answers: dict[str, str]
    checks: Mapping[str, int]


@dataclass
class _Frame:
    """The course's own notebook, taken apart."""

    stubs: dict[str, Any]
    checks: dict[str, Any]
    others: list[str]
    metadata: dict[str, Any]


@dataclass
class _Plan:
    """Which submitted cell answers what, which is a check, and what there is to tell."""

    answers: dict[str, int]
    checked: list[str | None]
    notes: list[str]


def normalise(cells: Sequence[RawCell], ours: Any) -> Intake:
    """Put a student's answers and helpers into the frame of the course's own notebook.

    cells  what was read from the submitted file
    ours   the chapter's notebook as the course makes it, with answers or without
    """
    frame = _frame(ours)
    answers, notes = match(frame.stubs, cells)
    plan = _Plan(answers, _checked(cells, frame), notes)
    kept = _kept(cells, frame, plan)
    after = _check_positions(cells, frame, plan)
    out = [*_missing_setup(cells, frame, plan, kept), *_assembled(cells, frame, plan, kept, after)]
    plan.notes += _oddities(cells, kept)
    texts = {name: cells[at].source for name, at in plan.answers.items()}
    return Intake(_notebook(out, frame), tuple(plan.notes), texts, _places(out))


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


# Choosing the cells that run


def _kept(cells: Sequence[RawCell], frame: _Frame, plan: _Plan) -> set[int]:
    """Keep answers, the student's own cells, prose, and the course's cells that those need."""
    course = {text.strip() for text in frame.others}
    answers = set(plan.answers.values())
    kept, unedited = set(answers), []
    for i, cell in enumerate(cells):
        if i in answers or plan.checked[i]:
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


def _leftover_stub(cell: RawCell, frame: _Frame) -> bool:
    """Whether a cell that is no answer would put an exercise's stub over one."""
    if cell.kind != "code":
        return False
    known = facts(cell.source)
    return known.only_stubs and any(exercise in known.defined for exercise in frame.stubs)


# Placing the checks


def _checked(cells: Sequence[RawCell], frame: _Frame) -> list[str | None]:
    """Name for each cell the exercise whose check it is, or was."""
    by_id = {CHECK + exercise: exercise for exercise in frame.checks}
    by_text = {check.source.strip(): exercise for exercise, check in frame.checks.items()}
    found: list[str | None] = []
    for cell in cells:
        claimed = (by_id[name] for name in cell.names if name in by_id)
        found.append(next(claimed, by_text.get(cell.source.strip())))
    return found


def _check_positions(cells: Sequence[RawCell], frame: _Frame, plan: _Plan) -> dict[int, list[str]]:
    """Say after which submitted cell each check runs: where the student left it, if the answer
    and its helpers are above; else right below those; at the end if there is no answer.
    """
    after: dict[int, list[str]] = {}
    for exercise, check in frame.checks.items():
        found = [i for i, name in enumerate(plan.checked) if name == exercise]
        plan.notes += _how_checked(exercise, [cells[i] for i in found], check)
        ready = len(cells)
        if exercise in plan.answers:
            answer = plan.answers[exercise]
            ready = _helped(answer, cells, plan.checked)
            if ready > answer and not [i for i in found if i > ready]:
                what = f"cell {ready + 1}, which holds something that it uses"
                plan.notes.append(f"{exercise} was checked after {what}")
        later = [i for i in found if i > ready]
        after.setdefault(later[0] if later else ready, []).append(exercise)
    return after


def _how_checked(exercise: str, found: list[RawCell], check: Any) -> list[str]:
    if not found:
        return [f"the check cell of {exercise} was missing and was put back"]
    notes = []
    if len(found) > 1:
        notes.append(f"the check cell of {exercise} is there {len(found)} times: one is run")
    if any(cell.source.strip() not in ("", check.source.strip()) for cell in found):
        advice = "write your own code in a cell of its own"
        notes.append(f"the check cell of {exercise} was edited: ours is run instead; {advice}")
    return notes


def _helped(answer: int, cells: Sequence[RawCell], checked: Sequence[str | None]) -> int:
    """Find the last cell that an answer needs: helpers may stand below it."""
    above = cells[: answer + 1]
    given = {name for cell in above if cell.kind == "code" for name in bound_names(cell.source)}
    wanted = used_names(cells[answer].source) - given
    ready = answer
    for i in range(answer + 1, len(cells)):
        helps = cells[i].kind == "code" and not checked[i] and bound_names(cells[i].source) & wanted
        if helps:
            ready = i
            wanted -= bound_names(cells[i].source)
    return ready


# Putting the notebook together


def _assembled(
    cells: Sequence[RawCell],
    frame: _Frame,
    plan: _Plan,
    kept: set[int],
    after: Mapping[int, list[str]],
) -> list[Node]:
    out = []
    exercise_at = {at: name for name, at in reversed(plan.answers.items())}
    for i in range(len(cells) + 1):
        if i in exercise_at:
            out.append(_copied(frame.stubs[exercise_at[i]], cells[i].source))
        elif i in kept:
            out.append(_plain_cell(cells[i].kind, cells[i].source))
        checks = [frame.checks[name] for name in after.get(i, [])]
        out += [_copied(check, check.source) for check in checks]
    return out


def _missing_setup(
    cells: Sequence[RawCell], frame: _Frame, plan: _Plan, kept: set[int]
) -> list[Node]:
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
    return [_plain_cell("code", source) for source in back]


def _copied(ours: Any, source: str) -> Node:
    """Make a code cell with the metadata of one of the course's."""
    cell = _plain_cell("code", source)
    cell["metadata"] = copy.deepcopy(ours.metadata)
    return cell


def _plain_cell(kind: str, source: str) -> Node:
    # nbformat's own functions check every cell against a schema, which takes half of the time.
    cell = Node(cell_type=kind, metadata=Node(), source=source)
    if kind == "code":
        cell.update(outputs=[], execution_count=None)
    return cell


def _notebook(cells: list[Node], frame: _Frame) -> Node:
    for number, one in enumerate(cells, start=1):
        one["id"] = one.metadata.get("nbgrader", {}).get("grade_id") or f"cell-{number}"
    metadata = Node(copy.deepcopy(frame.metadata))
    return Node(nbformat=4, nbformat_minor=5, metadata=metadata, cells=cells)


def _places(cells: Sequence[Node]) -> dict[str, int]:
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id", "") for cell in cells]
    return {one.removeprefix(CHECK): i for i, one in enumerate(ids) if one.startswith(CHECK)}


def _oddities(cells: Sequence[RawCell], kept: set[int]) -> list[str]:
    """Say what in the cells that run is no Python that a person would write."""
    notes = []
    for i in sorted(i for i in kept if cells[i].kind == "code"):
        source = cells[i].source
        conflict = CONFLICT.search(source)
        if conflict and conflict[0][0] != "=":
            where = f"`{conflict[0][:40]}` in line {source.count(chr(10), 0, conflict.start()) + 1}"
            what = f"cell {i + 1} holds a merge conflict, {where}"
            notes.append(f"{what}: settle it and hand in again")
        if len(source) > LONGEST_CELL:
            what = f"cell {i + 1} is longer than {LONGEST_CELL:,} characters"
            notes.append(f"{what}: what it defines was not looked for")
    return notes
