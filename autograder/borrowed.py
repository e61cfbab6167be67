"""In a notebook: let an answer lean, for a while, on the course's version of what it calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from autograder.forbidden import innermost, names_used
from autograder.spec import Exercise
from autograder.standins import earlier


@contextmanager
def course_versions(answer: Callable[..., Any], spec: Exercise) -> Iterator[list[str]]:
    """Replace, for a while, the earlier exercises that an answer calls by the course's own.

    Yields the names that were replaced; only functions of the answer's own module are.
    """
    start = innermost(answer)
    at_hand = getattr(start, "__globals__", None) or _globals_of_methods(start)
    others = {one.id: one for one in earlier(spec.id)}
    used = names_used(answer) & others.keys() & at_hand.keys()
    mine = {name: at_hand[name] for name in sorted(used) if _is_own(at_hand[name], start)}
    at_hand.update({name: others[name].solution for name in mine})
    try:
        yield list(mine)
    finally:
        at_hand.update(mine)


def _is_own(thing: Any, start: Any) -> bool:
    return getattr(innermost(thing), "__module__", None) == getattr(start, "__module__", None)


def _globals_of_methods(thing: Any) -> dict[str, Any]:
    for member in vars(thing).values() if isinstance(thing, type) else ():
        if hasattr(member, "__globals__"):
            found: dict[str, Any] = member.__globals__
            return found
    return {}
