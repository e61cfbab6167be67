"""In a notebook: let an answer lean, for a while, on the course's version of what it calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from autograder.catalogue import exercises
from autograder.forbidden import innermost, names_used
from autograder.spec import Exercise
from autograder.standins import earlier


def leaned_on(answer: Callable[..., Any], spec: Exercise) -> dict[str, Callable[..., Any]]:
    """Give the earlier exercises that an answer calls, by name, in the course's order.

    Only functions of the answer's own module count, and those that they call.
    """
    start, at_hand = innermost(answer), _at_hand(answer)
    used = names_used(answer) & at_hand.keys()
    names = [one.id for one in earlier(spec.id) if one.id in used]
    return {name: at_hand[name] for name in names if _is_own(at_hand[name], start)}


@contextmanager
def course_versions(answer: Callable[..., Any], names: Collection[str]) -> Iterator[None]:
    """Replace, for a while, some of the exercises that an answer calls by the course's own."""
    at_hand = _at_hand(answer)
    mine = {name: at_hand[name] for name in names}
    at_hand.update({name: exercises()[name].solution for name in names})
    try:
        yield
    finally:
        at_hand.update(mine)


def _at_hand(answer: Callable[..., Any]) -> dict[str, Any]:
    start = innermost(answer)
    found: dict[str, Any] = getattr(start, "__globals__", None) or _globals_of_methods(start)
    return found


def _is_own(thing: Any, start: Any) -> bool:
    return getattr(innermost(thing), "__module__", None) == getattr(start, "__module__", None)


def _globals_of_methods(thing: Any) -> dict[str, Any]:
    for member in vars(thing).values() if isinstance(thing, type) else ():
        if hasattr(member, "__globals__"):
            found: dict[str, Any] = member.__globals__
            return found
    return {}
