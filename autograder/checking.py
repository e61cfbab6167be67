"""What a student calls: check(softmax)."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

from autograder.borrowed import course_versions, leaned_on
from autograder.catalogue import UnknownExercise, exercises
from autograder.catalogue import exercise as find
from autograder.forbidden import innermost, reason, use_in
from autograder.judge import PUBLIC_SEED, judge, watching
from autograder.perform import perform
from autograder.progress.noting import noted
from autograder.recorded import stands_in
from autograder.score import Score
from autograder.spec import Exercise
from autograder.verdict import Report, Verdict

SEED_VARIABLE = "COURSE_SEED"


def check(
    answer: Callable[..., Any] | str,
    exercise: str | None = None,
    *,
    seed: str | None = None,
    device: str = "cpu",
) -> Score:
    """Judge an answer and show which behaviours hold.

    answer    the function or class that you wrote, for example `softmax`
    exercise  the exercise's name, where the answer is called something else
    seed      what the inputs are drawn from; without it the public seed, or the course's own
              while a submission is graded
    device    "cuda" runs the same cases on a GPU
    ->        the points: a number, which shows as a table

    A name that is no exercise gives 0 points and the nearest names. An answer that calls another
    exercise of yours, and fails only because of it, is judged with the course's version of that.
    """
    name = exercise or _name_of(answer, sys._getframe(1).f_globals)
    try:
        spec = find(name)
    except UnknownExercise as unknown:
        text = _nameless(answer, name) or str(unknown)
        return Score(Report(name, Verdict.NOT_ANSWERED, 0.0, 0.0, text))
    drawn_from = seed or os.environ.get(SEED_VARIABLE, PUBLIC_SEED)
    report = _refusal(answer, spec) or _judged(
        cast(Callable[..., Any], answer), spec, drawn_from, device
    )
    return Score(report, noted(spec, report.score))


def _judged(answer: Callable[..., Any], spec: Exercise, seed: str, device: str) -> Report:
    report = _as_it_is(answer, spec, seed, device)
    if report.verdict == Verdict.PASS:
        return report
    weak = _weak(answer, spec, seed, device)
    if not weak:
        return report
    if not all(stands_in(find(name).solution) for name in weak):
        note = f"It calls your `{weak[0]}`, which does not pass its own check: mend that first."
        return replace(report, diagnosis=note)
    with course_versions(answer, weak):
        other = _as_it_is(answer, spec, seed, device)
    if other.score <= report.score:
        return report
    names = " and ".join(f"`{name}`" for name in weak)
    note = f"Judged with the course's own {names}; with yours it gets {report.score:g} points."
    return replace(other, diagnosis=f"{note} {other.diagnosis}".strip())


def _weak(answer: Callable[..., Any], spec: Exercise, seed: str, device: str) -> list[str]:
    """Name the exercises that an answer leans on and that fail, not only through one another."""
    weak: list[str] = []
    for name, own in leaned_on(answer, spec).items():
        with course_versions(answer, weak):
            if _as_it_is(own, find(name), seed, device).verdict != Verdict.PASS:
                weak.append(name)
    return weak


def _as_it_is(answer: Callable[..., Any], spec: Exercise, seed: str, device: str) -> Report:
    """Judge an answer with whatever its names stand for now."""
    found = use_in(answer, (*spec.forbidden, f"{spec.solution.__module__}.{spec.id}"))
    if found:
        return Report(spec.id, Verdict.FORBIDDEN, 0.0, spec.points, reason(*found))
    return judge(spec, watching(spec, partial(perform, answer)), seed=seed, device=device)


def _nameless(answer: Any, name: str) -> str:
    """Say what to do where an answer's name leads nowhere."""
    made_of = type(answer).__name__
    if made_of in exercises():
        return f"Check the class itself, check({made_of}), not an object that is made of it."
    if name.isidentifier():
        return ""
    some = next(iter(exercises()))
    return (
        f"This is a {made_of} without a name. Give `check` the function or class itself, not what "
        f"it returns: check({some}). If yours is called otherwise: check(answer, '{some}')."
    )


def _name_of(answer: Any, at_hand: Mapping[str, Any]) -> str:
    """Name an answer by its definition, or, as for a lambda, by what the caller calls it."""
    if isinstance(answer, str):
        return answer
    name = str(getattr(answer, "__name__", ""))
    if name in exercises():
        return name
    return next((one for one in exercises() if one in at_hand and at_hand[one] is answer), name)


def _refusal(answer: Any, spec: Exercise) -> Report | None:
    """Say why an answer is not tried at all, whatever it leans on, or None."""
    for verdict, text in (
        (Verdict.WRONG, _wrong_kind(answer, spec)),
        (Verdict.FORBIDDEN, _course_answer(answer)),
    ):
        if text:
            return Report(spec.id, verdict, 0.0, spec.points, text)
    return None


def _wrong_kind(answer: Any, spec: Exercise) -> str:
    asked = "class" if spec.is_class else "function"
    if isinstance(answer, str):
        return f"Pass the {asked} itself, without quotes: check({answer})."
    if inspect.isclass(answer) == spec.is_class and callable(answer):
        return ""
    given = "a class" if inspect.isclass(answer) else _called(answer)
    return f"{spec.id} is to be a {asked}; what was given is {given}. Check the {asked} itself."


def _called(answer: Any) -> str:
    return "a function" if inspect.isroutine(answer) else f"a {type(answer).__name__}"


def _course_answer(answer: Any) -> str:
    if str(getattr(innermost(answer), "__module__", "")).split(".")[0] != "solutions":
        return ""
    return "This is the course's own answer, imported. Points are for one that you wrote."
