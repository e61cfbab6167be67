"""What code an answer reaches in the text of a notebook, and what of it is forbidden.

Nothing is run. Any text may come: it takes a bounded time and raises nothing.
"""

from __future__ import annotations

import ast
import builtins
import symtable
import warnings
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from autograder.celltext import UNREADABLE, parsed
from autograder.dotted import DEFINITIONS, bound, code_in_text, dotted, first_use, imported, members

# Bounds of what is read. Longer code is left unread: nobody writes it by hand.
LONGEST_CELL = 20_000
LONGEST_NOTEBOOK = 200_000
MOST_PIECES = 300
MOST_AT_ONCE = 8  # values that one statement gives a name, as the branches of an if do

HERE = "__main__"


@dataclass(frozen=True, eq=False)
class Binding:
    """One place where the top level of a notebook gives a name its value.

    node  the definition, the expression of the value, or the import
    path  what it stands for, for example "torch.nn.functional" or "__main__.helper"; "" if unknown
    at    in which statement of the notebook it is, counted from 0
    """

    node: ast.AST
    path: str
    at: int

    @cached_property
    def reads(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names that it looks up at the top level: at once, and when it is called."""
        return _names_read(self.node)


@dataclass(frozen=True)
class Piece:
    """A part of the notebook that an answer reaches.

    known  what the names that it reads stand for
    reads  the names of the notebook's top level that it reads
    """

    node: ast.AST
    path: str
    known: dict[str, str]
    reads: frozenset[str]


def forbidden_in(
    cells: Sequence[str], exercise_id: str, forbidden: Sequence[str], apart: Collection[str] = ()
) -> tuple[str, int] | None:
    """Return (dotted name, line in its cell) of a forbidden use that an answer reaches, or None.

    cells      the texts of the code cells that run before the answer is checked, in order
    forbidden  dotted names; "Tensor.softmax" forbids the method on any object
    apart      names of the notebook that are not followed, say those of other exercises

    Looks at the last definition of the answer and at all of the notebook that it uses. What it
    cannot decide, such as getattr(torch, a + b), it lets pass: what is called shows when it runs.
    """
    pieces = reached(cells, exercise_id, apart)
    own = members([piece.node for piece in pieces])
    for piece in pieces:
        if piece.path in forbidden:
            return piece.path, getattr(piece.node, "lineno", 1)
        known = {name: path for name, path in piece.known.items() if name not in apart}
        found = first_use(piece.node, known, forbidden, own)
        if found:
            return found
    return None


def reached(cells: Sequence[str], name: str, apart: Collection[str] = ()) -> list[Piece]:
    """List the last definition of a name and all that it uses of the notebook, directly or not.

    cells  the texts of the code cells that run before the name is used, in order
    apart  names that are not followed
    """
    notebook = _read(cells)
    waiting, seen = notebook.in_force(name), set[Binding]()
    found: list[Piece] = []
    while waiting and len(found) < MOST_PIECES:
        binding = waiting.pop(0)
        if binding in seen:
            continue
        seen.add(binding)
        uses = notebook.used_by(binding)
        known = {n: one.path for n, all_ in uses.items() for one in all_[:1] if one.path}
        known |= notebook.from_stars(binding)
        found.append(Piece(binding.node, binding.path, known, frozenset().union(*binding.reads)))
        waiting += [one for n, all_ in uses.items() if n not in apart for one in all_]
    return found


@dataclass
class _Notebook:
    """What the top level binds, in the order in which the cells run."""

    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    def in_force(self, name: str, before: int | None = None) -> list[Binding]:
        """Return what a name stands for at the end, or when a statement is run."""
        all_ = self.bindings.get(name, [])
        end = bisect_left(all_, before, key=lambda one: one.at) if before is not None else len(all_)
        last = all_[: end or len(all_)][-MOST_AT_ONCE:]
        return [one for one in last if one.at == last[-1].at]

    def used_by(self, binding: Binding) -> dict[str, list[Binding]]:
        """Return what the names stand for that the code of a binding reads."""
        at_once, later = binding.reads
        found = {name: self.in_force(name) for name in sorted(later)}
        for name in sorted(at_once):
            found[name] = self.in_force(name, binding.at) + found.get(name, [])
        return {name: all_ for name, all_ in found.items() if all_}

    def from_stars(self, binding: Binding) -> dict[str, str]:
        """Guess that unknown names come from the last `from module import *`."""
        if not self.stars:
            return {}
        names = frozenset().union(*binding.reads) - self.bindings.keys() - set(dir(builtins))
        return {name: f"{self.stars[-1]}.{name}" for name in names}


def _read(cells: Sequence[str]) -> _Notebook:
    notebook, known, left = _Notebook(), dict[str, str](), LONGEST_NOTEBOOK
    at = 0
    for cell in cells:
        left -= min(len(cell), LONGEST_CELL)
        readable = len(cell) <= LONGEST_CELL and left >= 0
        for statement in _statements(cell) if readable else ():
            at += 1
            for node in _run_at_once(statement):
                if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                    notebook.stars.append(str(node.module))
                for name, path, value in _bindings(node, known, notebook.stars):
                    known[name] = path
                    notebook.bindings.setdefault(name, []).append(Binding(value, path, at))
    return notebook


def _statements(cell: str) -> list[ast.stmt]:
    """Parse a cell; one that Python cannot read has no statements."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\\d" in a student's string is not our business
            return parsed(cell)[0].body
    except UNREADABLE:
        return []


def _bindings(
    node: ast.AST, known: dict[str, str], stars: list[str]
) -> Iterator[tuple[str, str, ast.AST]]:
    """Yield (name, what it stands for, node) of what one statement binds."""
    if isinstance(node, DEFINITIONS):
        yield node.name, f"{HERE}.{node.name}", node
    for name, path in imported(node).items():
        yield name, path, node
    for name, value in bound(node):
        if stars and isinstance(value, ast.Name) and value.id not in known:
            yield name, f"{stars[-1]}.{value.id}", value
        else:
            yield name, dotted(value, known) or "", value


def _run_at_once(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield what runs of a statement when its cell does, in order: no bodies of functions."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, DEFINITIONS):
            inner = (ast.stmt, ast.excepthandler, ast.match_case, ast.withitem)
            children = [one for one in ast.iter_child_nodes(node) if isinstance(one, inner)]
            waiting += reversed(children)


def _names_read(node: ast.AST) -> tuple[frozenset[str], frozenset[str]]:
    """List the names that code looks up outside itself: at once, and in its functions."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return frozenset(), frozenset()
    texts = [code for one in ast.walk(node) if (code := code_in_text(one))]
    in_texts = frozenset(n.id for code in texts for n in ast.walk(code) if isinstance(n, ast.Name))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = symtable.symtable(ast.unparse(node), "cell", "exec")
    except UNREADABLE:
        return frozenset(), in_texts
    at_once = frozenset(one.get_name() for one in table.get_symbols() if one.is_referenced())
    later = {
        one.get_name()
        for inner in _scopes(table)
        for one in inner.get_symbols()
        if one.is_referenced() and one.is_global()
    }
    return at_once, in_texts | later


def _scopes(table: symtable.SymbolTable) -> list[symtable.SymbolTable]:
    """List the scopes inside a scope, however deep."""
    found, waiting = list[symtable.SymbolTable](), table.get_children()
    while waiting:
        inner = waiting.pop()
        found.append(inner)
        waiting += inner.get_children()
    return found
