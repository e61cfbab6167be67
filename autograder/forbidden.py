"""Find in an answer, a live function or class, what the exercise does not allow."""

from __future__ import annotations

import ast
import contextlib
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

from autograder.dotted import first_use, members, public


def use_in(answer: Callable[..., Any], forbidden: Sequence[str]) -> tuple[str, int] | None:
    """Look through an answer and the functions of the same notebook that it calls.

    Returns (dotted name, line of the definition), or None. The line is 0 where the answer itself
    is the forbidden function.
    """
    if _origin(answer) in forbidden:
        return _origin(answer), 0
    things = list(_reachable(answer))
    trees = [(tree, thing) for thing in things if (tree := _parsed(thing))]
    own = members(tree for tree, _ in trees)
    own |= {name for thing in things if inspect.isclass(thing) for name in vars(thing)}
    uses = (first_use(tree, _stands_for(thing), forbidden, own) for tree, thing in trees)
    return next((use for use in uses if use), None)


def reason(name: str, line: int = 0) -> str:
    """Tell a student what is forbidden in the answer, and in which line if that is known."""
    where = f"Line {line} of your answer" if line else "Your answer"
    return (
        f"{where} uses {name}, which already does what you are asked to write. "
        "Build it from simpler operations."
    )


def names_used(answer: Callable[..., Any]) -> set[str]:
    """Name what the code of an answer, and of its own helpers, looks up."""
    functions = [one for thing in _reachable(answer) for one in _functions(thing)]
    return {name for one in functions for code in _codes(one.__code__) for name in code.co_names}


def innermost(answer: Any) -> Any:
    """Return the function inside partials, and the class of an object that is called."""
    while isinstance(answer, partial):
        answer = answer.func
    return answer if hasattr(answer, "__name__") else type(answer)


def _parsed(thing: Any) -> ast.AST | None:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(thing)))
    except (OSError, TypeError, SyntaxError):
        return None  # a notebook has the source of functions, not of classes


def _reachable(answer: Any) -> Iterator[Any]:
    """Yield the answer and the functions and classes of its own module that it names."""
    start = innermost(answer)
    waiting, seen = [start], set[int]()
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting += _mentioned(current, getattr(start, "__module__", ""))


def _mentioned(thing: Any, module: str) -> list[Any]:
    """List what the code of a function or class names, if it is defined in `module`."""
    found = [vars(thing)["__wrapped__"]] if "__wrapped__" in getattr(thing, "__dict__", {}) else []
    found += _functions(thing)  # a notebook has the source of methods, not of classes
    for function in _functions(thing):
        at_hand = {**function.__globals__, **_closure(function)}
        for code in _codes(function.__code__):
            found += [at_hand.get(name) for name in (*code.co_names, *code.co_freevars)]
    inner = [innermost(one) for one in found if callable(one)]
    return [one for one in inner if getattr(one, "__module__", "") == module]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _closure(function: FunctionType) -> dict[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # a name that has no value yet
            found[name] = cell.cell_contents
    return found


def _functions(thing: Any) -> list[FunctionType]:
    if inspect.isfunction(thing):
        return [thing]
    if not inspect.isclass(thing):
        return []
    unbound = [getattr(member, "__func__", member) for member in vars(thing).values()]
    return [member for member in unbound if inspect.isfunction(member)]


def _stands_for(thing: Any) -> dict[str, str]:
    """Say what the names at hand in a function stand for: modules, and what comes from torch."""
    functions = _functions(thing)
    if not functions:
        return {}
    found = {}
    for name, value in {**functions[0].__globals__, **_closure(functions[0])}.items():
        if isinstance(value, ModuleType):
            found[name] = value.__name__
        elif callable(value):
            found[name] = _origin(value)
    return found


def _origin(value: Any) -> str:
    inner = innermost(value)
    module = getattr(inner, "__module__", None) or "torch"
    return public(f"{module}.{getattr(inner, '__name__', type(inner).__name__)}")
