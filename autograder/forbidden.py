"""Find in an answer's source what the exercise does not allow, without running it."""

from __future__ import annotations

import ast
import contextlib
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import CodeType, FunctionType, ModuleType
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
    known |= _aliases(tree, known)
    for node in ast.walk(tree):
        for path in _paths(node, known):
            if path in forbidden:
                return path, getattr(node, "lineno", 1)
    return None


def use_in(answer: Callable[..., Any], forbidden: Sequence[str]) -> tuple[str, int] | None:
    """Look through an answer and the functions of the same notebook that it calls.

    The line is 0 where the answer itself is the forbidden function.
    """
    if _origin(answer) in forbidden:
        return _origin(answer), 0
    for function in _reachable(answer):
        try:
            source = inspect.getsource(function)
        except (OSError, TypeError):
            continue
        found = forbidden_use(source, _stands_for(function), forbidden)
        if found:
            return found
    return None


def names_used(answer: Callable[..., Any]) -> set[str]:
    """Name what the code of an answer, and of its own helpers, looks up."""
    functions = [one for thing in _reachable(answer) for one in _functions(thing)]
    return {name for one in functions for code in _codes(one.__code__) for name in code.co_names}


def innermost(answer: Any) -> Any:
    """Return the function inside partials, and the class of an object that is called."""
    while isinstance(answer, partial):
        answer = answer.func
    return answer if hasattr(answer, "__name__") else type(answer)


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


def _aliases(tree: ast.AST, known: Mapping[str, str]) -> dict[str, str]:
    """Find `f = torch.nn.functional` and the like."""
    return {
        node.targets[0].id: path
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        if (path := _dotted(node.value, known))
    }


def _paths(node: ast.AST, known: Mapping[str, str]) -> Iterator[str]:
    """Yield the dotted names that an expression may stand for."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield known.get(node.id, node.id)
    elif reached := _reached(node):
        value, name = reached
        base = _dotted(value, known)
        yield _public(f"{base}.{name}") if base else f"Tensor.{name}"


def _reached(node: ast.AST) -> tuple[ast.AST, str] | None:
    """Read `x.name` and `getattr(x, "name")` alike."""
    if isinstance(node, ast.Attribute):
        return node.value, node.attr
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
        name = node.args[1]
        if node.func.id == "getattr" and isinstance(name, ast.Constant):
            return node.args[0], str(name.value)
    return None


def _dotted(node: ast.AST, known: Mapping[str, str]) -> str | None:
    """Return "torch.nn.functional" for F or nn.functional; None for anything not a module's."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value, known)
        return base and _public(f"{base}.{node.attr}")
    return None


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
    return _public(f"{module}.{getattr(inner, '__name__', type(inner).__name__)}")


# Where torch keeps a function, and the name under which people know it.
PUBLIC = {
    "torch.nn.modules.activation.": "torch.nn.",
    "torch._C._nn.": "torch.nn.functional.",
    "torch._C._VariableFunctions.": "torch.",
    "torch._C._special.special_": "torch.special.",
    "torch.ops.aten.": "torch.",
    "torch.Tensor.": "Tensor.",
}


def _public(path: str) -> str:
    for inside, outside in PUBLIC.items():
        if path.startswith(inside):
            return outside + path.removeprefix(inside)
    return path
