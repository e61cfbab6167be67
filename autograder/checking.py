"""What a student calls: check(softmax)."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from autograder.catalogue import UnknownExercise
from autograder.catalogue import exercise as find
from autograder.forbidden import innermost, use_in
from autograder.judge import PUBLIC_SEED, judge
from autograder.perform import perform
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

    A name that is no exercise gives 0 points and the nearest names.
    """
    name = exercise or _name_of(answer)
    try:
        spec = find(name)
    except UnknownExercise as unknown:
        text = _nameless(name) or str(unknown)
        return Score(Report(name, Verdict.NOT_ANSWERED, 0.0, 0.0, text))
    refusal = _refusal(answer, spec)
    if refusal:
        return Score(refusal)
    drawn_from = seed or os.environ.get(SEED_VARIABLE, PUBLIC_SEED)
    ask = partial(perform, cast(Callable[..., Any], answer))
    return Score(judge(spec, ask, seed=drawn_from, device=device))


def _nameless(name: str) -> str:
    if name.isidentifier():
        return ""
    return "This answer has no name. Write it with `def`, or say which exercise it is for: " + (
        "check(answer, 'softmax')."
    )


def _name_of(answer: Any) -> str:
    return answer if isinstance(answer, str) else str(getattr(answer, "__name__", ""))


def _refusal(answer: Any, spec: Exercise) -> Report | None:
    """Say why an answer is not tried at all, or None."""
    for verdict, text in (
        (Verdict.WRONG, _wrong_kind(answer, spec)),
        (Verdict.FORBIDDEN, _course_answer(answer)),
        (Verdict.FORBIDDEN, _forbidden(answer, spec)),
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


def _forbidden(answer: Any, spec: Exercise) -> str:
    found = use_in(answer, (*spec.forbidden, f"{spec.solution.__module__}.{spec.id}"))
    if not found:
        return ""
    name, line = found
    where = f"Line {line} of your answer" if line else "Your answer"
    return (
        f"{where} uses {name}, which already does what you are asked to write. "
        "Write it with the operations below it: the statement says which."
    )
