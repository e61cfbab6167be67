"""Find in an answer's source what the exercise does not allow, without running it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any


def forbidden_use(
    source: str, names: Mapping[str, str], forbidden: Sequence[str]
) -> tuple[str, int] | None:
    """Return (dotted name, line) of the first forbidden use, or None.

    source     one or more definitions
    names      what a name at hand stands for: {"F": "torch.nn.functional"}
    forbidden  dotted names; "Tensor.softmax" forbids the method on any object
    """
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:
        return None  # it cannot run either; the error of running it says more
    known = {**names, **_imports(tree)}
    for node in ast.walk(tree):
        for path in _paths(node, known):
            if path in forbidden:
                return path, getattr(node, "lineno", 1)
    return None


def use_in(answer: Callable[..., Any], forbidden: Sequence[str]) -> tuple[str, int] | None:
    """Look through an answer and the functions of the same notebook that it calls."""
    for function in _reachable(answer):
        try:
            source = inspect.getsource(function)
        except (OSError, TypeError):
            continue
        found = forbidden_use(source, _stands_for(function), forbidden)
        if found:
            return found
    return None


def _imports(tree: ast.AST) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.split(".")[0]
                found[bound] = alias.name if alias.asname else bound
        elif isinstance(node, ast.ImportFrom):
            found.update({a.asname or a.name: f"{node.module}.{a.name}" for a in node.names})
    return found


def _paths(node: ast.AST, known: Mapping[str, str]) -> Iterator[str]:
    """Yield the dotted names that an expression may stand for."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield known.get(node.id, node.id)
    elif isinstance(node, ast.Attribute):
        base = _dotted(node.value, known)
        yield f"{base}.{node.attr}" if base else f"Tensor.{node.attr}"


def _dotted(node: ast.AST, known: Mapping[str, str]) -> str | None:
    """Return "torch.nn.functional" for F or nn.functional; None for anything not a module's."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value, known)
        return base and f"{base}.{node.attr}"
    return None


def _reachable(answer: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Yield the answer and the functions and classes of its own module that it names."""
    waiting, seen = [answer], set()
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        for function in _functions(current):
            for name in function.__code__.co_names:
                other = function.__globals__.get(name)
                if callable(other) and getattr(other, "__module__", "") == answer.__module__:
                    waiting.append(other)


def _functions(thing: Any) -> list[FunctionType]:
    if inspect.isfunction(thing):
        return [thing]
    return [f for f in vars(thing).values() if inspect.isfunction(f)] if inspect.isclass(thing) else []


def _stands_for(thing: Any) -> dict[str, str]:
    """Say what the names at hand in a function stand for: modules, and what comes from torch."""
    functions = _functions(thing)
    if not functions:
        return {}
    found = {}
    for name, value in functions[0].__globals__.items():
        if isinstance(value, ModuleType):
            found[name] = value.__name__
        elif callable(value):
            found[name] = _origin(value)
    return found


def _origin(value: Any) -> str:
    module = getattr(value, "__module__", None) or "torch"
    name = getattr(value, "__name__", type(value).__name__)
    public = {"torch._C._nn": "torch.nn.functional", "torch.nn.modules.activation": "torch.nn"}
    return f"{public.get(module, module)}.{name}"
