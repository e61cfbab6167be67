"""Can a cell, or a function in it, change what other cells rely on? Found from its text.

Where nothing can, an answer that is wrong is wrong by itself and need not be asked again alone. In
doubt a cell is not tame: that costs time, never points.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

LONGEST = 20_000  # characters
MODULES = (
    {"__future__", "autograder", "book", "collections", "dataclasses", "einops", "fractions"}
    | {"functools", "itertools", "math", "matplotlib", "numpy", "operator", "random", "solutions"}
    | {"statistics", "string", "time", "torch", "typing"}
)
NAMES = (
    {"breakpoint", "compile", "delattr", "eval", "exec", "get_ipython", "getattr", "globals"}
    | {"input", "locals", "open", "setattr", "vars"}
)  # fmt: skip
METHODS = frozenset({"__init__", "__call__", "__repr__", "__str__", "__len__", "__iter__"})
SETTERS = ("set_", "seterr", "use_", "enable", "disable", "register", "load", "import", "save")
DRAWING = ("set_x", "set_y", "set_title", "set_label", "set_aspect", "set_axis", "set_color")


@lru_cache(maxsize=1024)
def is_tame(source: str) -> bool:
    """Whether a cell does nothing but define, compute and draw, as far as its text shows."""
    if len(source) > LONGEST:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)  # a cell with magics is no Python
        return all(_is_harmless(node) for node in ast.walk(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _is_harmless(node: ast.AST) -> bool:
    check = CHECKS.get(type(node))
    return check is None or check(node)


def _import(node: ast.Import) -> bool:
    return all(alias.name.partition(".")[0] in MODULES for alias in node.names)


def _import_from(node: ast.ImportFrom) -> bool:
    known = (node.module or "").partition(".")[0] in MODULES and not node.level
    return known and all(alias.name != "*" and not _is_private(alias.name) for alias in node.names)


def _name(node: ast.Name) -> bool:
    return node.id not in NAMES and not node.id.startswith("__")


def _attribute(node: ast.Attribute) -> bool:
    """Reading is harmless, unless it is of what is private or sets something for everybody."""
    if not isinstance(node.ctx, ast.Load):
        return isinstance(node.value, ast.Name) and node.value.id == "self"
    sets = node.attr.startswith(SETTERS) and not node.attr.startswith(DRAWING)
    return not _is_private(node.attr) and not sets


def _subscript(node: ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Load) or isinstance(node.value, ast.Name)


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return not _is_private(node.name) or not node.name.startswith("__")


def _is_private(name: str) -> bool:
    return name.startswith("_") and name not in METHODS


def _never(node: ast.AST) -> bool:
    del node  # whatever it is about
    return False


CHECKS: dict[type[ast.AST], Callable[[Any], bool]] = {
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.Global: _never,
    ast.Delete: _never,
}
