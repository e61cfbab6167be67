"""The switch of a notebook: run with the student's own functions, or with the course's."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from autograder.catalogue import exercises
from autograder.mine.own import NotLoaded, load
from autograder.progress.place import GRADING

NAME = "mine.py"
PACKAGE = "solutions"
THEIRS, YOURS = "the course's", "yours"

_given: dict[str, ModuleType] = {}  # the course's modules, while others are in their place


def use_mine(on: bool, *names: str) -> None:
    """Choose whose functions a notebook imports from `solutions`, and say it for each of them.

    on     True: the answers that `course mine` gathered, each in the place of the course's;
           False: the course's
    names  what the notebook needs; what these call is listed, too

    Call it before the first import from `solutions`. Checks use the course's functions either way,
    and while a notebook is graded this does nothing.
    """
    if any(os.environ.get(name) for name in GRADING):
        print("While a notebook is graded, it runs with the course's functions.")
        return
    exercises()  # what checks compare with is made of the course's functions, now
    _put_back()
    if not on:
        print("The functions of earlier chapters are the course's.")
        return
    path = _find(Path.cwd())
    if path is None:
        print(f"There is no {NAME} here or above: run `course mine` first. {_ALL_THEIRS}")
        return
    listed = _behind(names)
    _set_aside()
    print(_table(listed, _taken(path), path))


_ALL_THEIRS = "Until then, the functions of earlier chapters are the course's."


def _find(start: Path) -> Path | None:
    """Find the gathered module beside a notebook, or in the folders above."""
    return next((p / NAME for p in (start, *start.parents[:3]) if (p / NAME).is_file()), None)


# The course's modules: the given ones, which checks go on using, and copies for the notebook


def _put_back() -> None:
    for name in _modules():
        if _given:
            del sys.modules[name]
    sys.modules.update(_given)
    _given.clear()


def _set_aside() -> None:
    for name in _modules():
        _given[name] = sys.modules.pop(name)
    _load_all()


def _load_all() -> None:
    package = importlib.import_module(PACKAGE)
    for found in pkgutil.iter_modules(package.__path__, f"{PACKAGE}."):
        importlib.import_module(found.name)


def _modules() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] == PACKAGE]


# Taking over


def _taken(path: Path) -> dict[str, Any]:
    """Load the gathered module; each of its answers takes its place as soon as it is made."""
    taken: dict[str, Any] = {}

    def take(name: str, answer: Any) -> None:
        taken[name] = answer
        if not isinstance(answer, NotLoaded):
            _put(_theirs(name), answer)

    load(path, take)
    return taken


def _put(theirs: Any, answer: Any) -> None:
    for name in _modules():
        held = vars(sys.modules[name])
        for key in [key for key, value in held.items() if value is theirs and theirs is not None]:
            held[key] = answer


def _theirs(name: str) -> Any:
    """Find the function or class of this name where the course defines it."""
    for module in _modules():
        found = vars(sys.modules[module]).get(name)
        if getattr(found, "__module__", None) == module:
            return found
    return None


# What is said


def _behind(names: Collection[str]) -> list[tuple[str, str]]:
    """List (module, name) of what some functions of the course call, and of themselves."""
    _load_all()
    waiting, found = [one for one in map(_theirs, names) if one is not None], dict[Any, None]()
    while waiting:
        one = waiting.pop()
        if one not in found:
            found[one] = None
            waiting += [*_called(one)]
    return sorted((one.__module__.removeprefix(f"{PACKAGE}."), one.__name__) for one in found)


def _called(one: Any) -> Iterator[Any]:
    """Yield the functions and classes of the course that the code of one of them names."""
    if isinstance(one, type):
        held = [part for part in vars(one).values() if isinstance(part, FunctionType)]
    else:
        held = [one]
    for function in held:
        for name in _names(function.__code__):
            value = function.__globals__.get(name)
            ours = str(getattr(value, "__module__", "")).startswith(f"{PACKAGE}.")
            if ours and isinstance(value, FunctionType | type):
                yield value


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _table(listed: Collection[tuple[str, str]], taken: dict[str, Any], path: Path) -> str:
    rows = [(module, name, _whose(taken.get(name))) for module, name in listed]
    wide = [max([len(row[i]) for row in rows], default=0) for i in range(2)]
    lines = [f"  {m:<{wide[0]}}  {n:<{wide[1]}}  {whose}" for m, n, whose in rows]
    own = sum(whose == YOURS for *_, whose in rows)
    return "\n".join([f"{own} of {len(rows)} functions are yours, from {path}:", *lines])


def _whose(answer: Any) -> str:
    if answer is None:
        return THEIRS
    return f"{THEIRS}: {answer.why}" if isinstance(answer, NotLoaded) else YOURS
