"""Run a function under a line tracer and compare its shape comments with its tensors.

A line that ends in `# (..., L, M)` assigns a tensor of that shape. Within one call a letter means
one size, beginning with the shapes in the docstring, and `...` means the same axes everywhere.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable
from types import FrameType
from typing import Any

from torch import Tensor

COMMENT = re.compile(r"#\s*(\([^)]*\))\s*$")
ARGUMENT = re.compile(r"^(\w+)\s+(\([^)]*\))")
RESULT = re.compile(r"^->\s+(\([^)]*\))")

Sizes = dict[str, Any]


class WrongShapeError(AssertionError):
    """A comment or docstring says another shape than the tensor has."""


def unify(letters: str, shape: tuple[int, ...], bound: Sizes, where: str) -> None:
    """Bind the letters of "(..., L, M)" to the sizes of a tensor, or fail with both."""
    names = [name.strip() for name in letters.strip("()").split(",") if name.strip()]
    sizes: list[Any] = list(shape)
    if "..." in names:
        at, extra = names.index("..."), len(sizes) - (len(names) - 1)
        if extra < 0:
            raise WrongShapeError(f"{where}: {letters} has more axes than {shape}")
        sizes[at : at + extra] = [tuple(sizes[at : at + extra])]
    if len(names) != len(sizes):
        raise WrongShapeError(f"{where}: {letters} against {shape}")
    for name, size in zip(names, sizes, strict=True):
        if bound.setdefault(name, size) != size:
            raise WrongShapeError(f"{where}: {letters} against {shape}, {name} is {bound[name]}")


def comments(function: Callable[..., Any]) -> dict[int, tuple[str, str]]:
    """Map each line with a shape comment to (name assigned or "return", letters)."""
    lines, first = inspect.getsourcelines(function)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    found = {}
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Assign, ast.Return)):
            continue
        comment = COMMENT.search(lines[node.end_lineno - 1])  # type: ignore[operator]
        if comment:
            is_name = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            name = node.targets[0].id if is_name else "return"  # type: ignore[union-attr]
            found[first + node.lineno - 1] = (name, comment[1])
    return found


def documented(function: Callable[..., Any]) -> tuple[dict[str, str], str]:
    """Read the shapes of the arguments and of the result from the docstring."""
    lines = (inspect.getdoc(function) or "").splitlines()
    arguments = dict(match.groups() for line in lines if (match := ARGUMENT.match(line)))
    result = next((match[1] for line in lines if (match := RESULT.match(line))), "")
    return arguments, result


def traced(function: Callable[..., Any], *args: Any) -> tuple[Any, int]:
    """Call a function; give its result and how many shapes were compared.

    Raises WrongShapeError where a comment or the docstring does not fit.
    """
    bound: Sizes = {}
    waiting = comments(function)
    compared = 0
    arguments, result_letters = documented(function)
    for name, value in inspect.signature(function).bind(*args).arguments.items():
        if name in arguments and isinstance(value, Tensor):
            unify(arguments[name], tuple(value.shape), bound, name)
            compared += 1
    last: list[int] = []
    reached: set[int] = set()  # a line of a loop counts once

    def local(frame: FrameType, event: str, value: Any) -> Any:
        if last and last[0] in waiting:
            name, letters = waiting[last[0]]
            tensor = value if name == "return" and event == "return" else frame.f_locals.get(name)
            if isinstance(tensor, Tensor):
                unify(letters, tuple(tensor.shape), bound, f"{function.__name__}, {name}")
                reached.add(last[0])
        last[:] = [frame.f_lineno] if event == "line" else []
        return local

    def trace(frame: FrameType, event: str, value: Any) -> Any:
        return local if frame.f_code is function.__code__ else None  # type: ignore[attr-defined]

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        result = function(*args)
    finally:
        sys.settrace(before)
    if result_letters and isinstance(result, Tensor):
        unify(result_letters, tuple(result.shape), bound, f"{function.__name__}, result")
        compared += 1
    return result, compared + len(reached)
