"""What the text of a notebook cell defines and uses, found without running it."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

# Each kind of character can be matched by one part only: no text takes more than linear time.
MAGIC_LINE = re.compile(r"^(?P<indent>[ \t]*)(?:[%!?].*|[\w.]+\?{1,2}[ \t]*)$", re.MULTILINE)
MAGIC_VALUE = re.compile(r"^(?P<name>[ \t]*\w[\w, ]*=[ \t]*)[%!].*$", re.MULTILINE)
PYTHON_CELL_MAGICS = ("time", "timeit", "capture", "prun")
HARMLESS_MAGICS = re.compile(r"^[ \t]*(?:%%?(?:time|timeit|capture|prun|who|whos)\b|\?|[\w.]+\?)")
LONGEST_CELL = 200_000  # characters; to parse a text takes some hundred times its size
BUILTINS = frozenset(dir(builtins))
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(frozen=True)
class Facts:
    """What is known of a cell.

    defined     function or class at the top level -> whether it is a stub
    bound       names that get a value at the top level
    used        names that come from outside the cell's own functions
    touched     names of things that the cell changes: `x.a = 1`, `x[0] = 1`, `x.clear()`
    only_stubs  whether there is nothing but stubs
    sets_up     whether any other cell may need it: a star import, a magic such as %autoreload
    """

    defined: Mapping[str, bool] = field(default_factory=dict)
    bound: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
    touched: frozenset[str] = frozenset()
    only_stubs: bool = False
    sets_up: bool = False


def facts(source: str) -> Facts:
    """Find out what a cell defines and needs; a cell that is not Python does neither."""
    if len(source) > LONGEST_CELL:
        return Facts(sets_up=True)
    return _facts(source)


@lru_cache(maxsize=256)  # some notebooks: their texts stay in memory
def _facts(source: str) -> Facts:
    sets_up = any(_is_magic_for_all(line[0]) for line in MAGIC_LINE.finditer(source))
    try:
        with _quiet():
            tree, python = parsed(source)
            used = _used(tree, python)
    except UNREADABLE:
        return Facts(sets_up=sets_up or source.lstrip().startswith("%%"))
    inside = list(_top_level(tree))
    definitions = [node for node in inside if isinstance(node, Definition)]
    return Facts(
        defined={node.name: is_stub(node) for node in definitions},
        bound=frozenset(name for node in inside for name in _bound_by(node)),
        used=used,
        touched=frozenset(name for node in inside for name in _touched_by(node)),
        only_stubs=all(isinstance(node, Definition) and is_stub(node) for node in tree.body),
        sets_up=sets_up or "get_ipython" in used or any(_is_star(node) for node in inside),
    )


def defines(source: str, name: str) -> bool:
    """Whether a cell gives a function or class a body of its own."""
    return facts(source).defined.get(name) is False


def mentions_definition(source: str, name: str) -> bool:
    """Whether a cell, Python or not, has a line that begins to define the name."""
    start = rf"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+{re.escape(name)}\b"
    return re.search(start, source, re.MULTILINE) is not None


def assigns(source: str, name: str) -> bool:
    """Whether a cell gives the name a value in another way, as `softmax = lambda x: ...` does."""
    known = facts(source)
    return name in known.bound and name not in known.defined


def written(source: str) -> int:
    """Count the definitions of a cell that have a body."""
    return sum(not stub for stub in facts(source).defined.values())


def bound_names(source: str) -> frozenset[str]:
    """List the names that a cell gives a value at its top level."""
    return facts(source).bound


def used_names(source: str) -> frozenset[str]:
    """List the names that a cell needs from outside its own functions."""
    return facts(source).used


def syntax_error(source: str) -> str | None:
    """Say in which line of a cell Python stops reading, or None if it reads it all."""
    if len(source) > LONGEST_CELL:
        return None
    try:
        with _quiet():
            parsed(source)
    except SyntaxError as error:
        lines = source.splitlines()
        at = error.lineno or 1
        shown = lines[at - 1].strip() if at <= len(lines) else ""
        where = f"line {at} of the cell" + (f", `{shown}`" if shown else "")
        return f"{type(error).__name__} in {where}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"Python cannot read the cell: {error}"
    return None


def begins_indented(source: str) -> bool:
    """Whether the first line of code is indented: the rest of something from another cell."""
    lines = (line for line in source.split("\n") if line.strip() and line.strip()[0] != "#")
    first = next(lines, "")
    return first[:1] in (" ", "\t")


def without_magics(source: str) -> str:
    """Replace IPython's own lines by `pass`, so that every other line keeps its number."""
    first, _, rest = source.lstrip("\n").partition("\n")
    if first.startswith("%%"):
        if first[2:].split(" ")[0] not in PYTHON_CELL_MAGICS:
            return ""
        source = f"pass\n{rest}"
    source = MAGIC_VALUE.sub(lambda m: f"{m['name']}None", source)
    return MAGIC_LINE.sub(lambda m: f"{m['indent']}pass", source)


def is_stub(node: Definition) -> bool:
    """Whether a definition has no body of its own: docstring, pass, ..., NotImplementedError."""
    return all(_says_nothing(statement) for statement in node.body)


def _is_magic_for_all(line: str) -> bool:
    return HARMLESS_MAGICS.match(line) is None


def parsed(source: str) -> tuple[ast.Module, str]:
    """Parse a cell; return the tree and the text that Python could read.

    A line that starts with % may be the rest of a formula, so the text is tried as it is first.
    """
    try:
        return ast.parse(source), source
    except SyntaxError:
        python = without_magics(source)
        return ast.parse(python), python


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" in a student's string is not our business
        yield


def _used(tree: ast.Module, python: str) -> frozenset[str]:
    read = {name for node in _top_level(tree) for name in _added_to(node)}
    for table in _scopes(symtable.symtable(python, "cell", "exec")):
        for symbol in table.get_symbols():
            outside = table.get_type() == "module" or symbol.is_global()
            if symbol.is_referenced() and outside:
                read.add(symbol.get_name())
    return frozenset(read - BUILTINS)


def _scopes(module: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    waiting = [module]
    while waiting:
        table = waiting.pop()
        yield table
        waiting += table.get_children()


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_TARGETS = (ast.Tuple, ast.List, ast.Starred)  # a, (b, *c) = ...


def _top_level(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk a module without entering functions and classes: what a cell binds when it runs."""
    waiting = list(ast.iter_child_nodes(tree))[::-1]
    while waiting:  # a loop: a thousand `elif` are nested deeper than Python calls may be
        node = waiting.pop()
        yield node
        closed = isinstance(node, (*_SCOPES, ast.expr)) and not isinstance(node, _TARGETS)
        if not closed:
            waiting += list(ast.iter_child_nodes(node))[::-1]


def _bound_by(node: ast.AST) -> list[str]:
    if isinstance(node, Definition):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    return []


def _touched_by(node: ast.AST) -> list[str]:
    """Name what a statement changes without giving it a new value."""
    changed: ast.AST = node
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        changed = node.value.func
    elif not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
        return []
    inside = changed
    while isinstance(inside, (ast.Attribute, ast.Subscript)):
        inside = inside.value
    return [inside.id] if isinstance(inside, ast.Name) and inside is not changed else []


def _is_star(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)


def _added_to(node: ast.AST) -> list[str]:
    """Name what `x += 1` reads, which Python's table of symbols leaves out."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def _says_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Pass):
        return True
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return True
    if isinstance(statement, ast.Raise) and statement.exc is not None:
        raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
    return False
