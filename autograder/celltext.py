"""What the text of a notebook cell defines and uses, found without running it."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

MAGIC_LINE = re.compile(r"^(?P<indent>[ \t]*)(?:[%!?].*|[\w.]+\?{1,2}[ \t]*)$", re.MULTILINE)
MAGIC_VALUE = re.compile(r"^(?P<name>[ \t]*[\w, ]+=[ \t]*)[%!].*$", re.MULTILINE)
PYTHON_CELL_MAGICS = ("time", "timeit", "capture", "prun")


@lru_cache(maxsize=1024)
def parse(source: str) -> ast.Module | None:
    """Parse a cell, its lines with % and ! left out; None if it is not Python."""
    try:
        return _parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def without_magics(source: str) -> str:
    """Replace IPython's own lines by `pass`, so that every other line keeps its number."""
    first, _, rest = source.lstrip("\n").partition("\n")
    if first.startswith("%%"):
        if first[2:].split(" ")[0] not in PYTHON_CELL_MAGICS:
            return ""
        source = f"pass\n{rest}"
    source = MAGIC_VALUE.sub(lambda m: f"{m['name']}None", source)
    return MAGIC_LINE.sub(lambda m: f"{m['indent']}pass", source)


def syntax_error(source: str) -> str | None:
    """Say in which line of a cell Python stops reading, or None if it reads it all."""
    try:
        _parsed(source)
    except SyntaxError as error:
        lines = source.splitlines()
        at = error.lineno or 1
        shown = lines[at - 1].strip() if at <= len(lines) else ""
        where = f"line {at} of the cell" + (f", `{shown}`" if shown else "")
        return f"{type(error).__name__} in {where}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"Python cannot read the cell: {error}"
    return None


def definition(source: str, name: str) -> Definition | None:
    """Find the last definition of a function or class at the top level of a cell."""
    tree = parse(source)
    definitions = (node for node in _top_level(tree) if isinstance(node, Definition))
    named = [node for node in definitions if node.name == name]
    return named[-1] if named else None


def mentions_definition(source: str, name: str) -> bool:
    """Whether a cell, Python or not, has a line that begins to define the name."""
    start = rf"^\s*(?:async\s+def|def|class)\s+{re.escape(name)}\b"
    return re.search(start, source, re.MULTILINE) is not None


def assigns(source: str, name: str) -> bool:
    """Whether a cell gives the name a value in another way, as `softmax = lambda x: ...` does."""
    return name in bound_names(source) and definition(source, name) is None


def is_stub(node: Definition) -> bool:
    """Whether a definition has no body of its own: docstring, pass, ..., NotImplementedError."""
    return all(_says_nothing(statement) for statement in node.body)


def written(source: str) -> int:
    """Count the definitions of a cell that have a body."""
    definitions = [node for node in _top_level(parse(source)) if isinstance(node, Definition)]
    return sum(not is_stub(node) for node in definitions)


def only_stubs(source: str) -> bool:
    """Whether a cell holds definitions without bodies and nothing else."""
    tree = parse(source)
    return tree is not None and all(
        isinstance(node, Definition) and is_stub(node) for node in tree.body
    )


def bound_names(source: str) -> set[str]:
    """List the names that a cell gives a value at its top level."""
    tree = parse(source)
    return {name for node in _top_level(tree) for name in _bound_by(node)}


def used_names(source: str) -> set[str]:
    """List the names that a cell needs from outside its own functions."""
    if parse(source) is None:
        return set()  # it cannot run, so it needs nothing
    tables = list(_scopes(symtable.symtable(without_magics(source), "cell", "exec")))
    read = {
        symbol.get_name()
        for table in tables
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global())
    }
    return read - set(dir(builtins))


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _scopes(child)


def _parsed(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" in a student's string is not our business
        return ast.parse(without_magics(source))


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_TARGETS = (ast.Tuple, ast.List, ast.Starred)  # a, (b, *c) = ...


def _top_level(tree: ast.AST | None) -> Iterator[ast.AST]:
    """Walk a module without entering functions and classes: what a cell binds when it runs."""
    for node in ast.iter_child_nodes(tree) if tree else ():
        yield node
        closed = isinstance(node, (*_SCOPES, ast.expr)) and not isinstance(node, _TARGETS)
        if not closed:
            yield from _top_level(node)


def _bound_by(node: ast.AST) -> list[str]:
    if isinstance(node, Definition):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
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
