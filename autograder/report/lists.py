"""Lists of exercises and of known mistakes, as text."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from autograder.editions.box import facts
from autograder.listing import Fared
from autograder.spec import Exercise


def exercises_text(exercises: Iterable[Exercise]) -> str:
    """Write each chapter's exercises, with the number of cases, mistakes and alternatives."""
    lines: list[str] = []
    for chapter, members in groupby(exercises, key=lambda one: one.chapter):
        lines.append(chapter)
        lines += [line for one in members for line in _exercise(one)]
    return "\n".join(lines)


def fared_line(one: Fared) -> str:
    """Write what became of one known mistake or alternative."""
    points = f"{one.score:g} of {one.max_score:g}"
    if one.kind == "alternative":
        ending = "full marks" if not one.caught else f"NOT accepted: {_failed(one)}"
    elif not one.caught:
        ending = "NOT caught"
    else:
        ending = f"{'named' if one.named else 'NOT named'}; fails {_failed(one)}"
    return f"  {one.kind:<11}  {one.name:<24}  {points:>9}  {ending}"


def _exercise(exercise: Exercise) -> list[str]:
    counts = (
        f"{len(exercise.cases)} cases, {len(exercise.mistakes)} known mistakes, "
        f"{len(exercise.alternatives)} alternatives"
    )
    return [f"  {exercise.id}: {exercise.title}", f"      {facts(exercise)}", f"      {counts}"]


def _failed(one: Fared) -> str:
    return "; ".join(one.behaviours)
