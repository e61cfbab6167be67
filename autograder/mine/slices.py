"""Cut an answer out of a notebook, with the imports and helpers that it needs. Nothing is run."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from autograder.celltext import LONGEST_CELL, UNREADABLE, Facts, assigns, defines, facts, parsed

FOR_ALL = re.compile(r"from\s+(?:__future__\s+import|\S+\s+import\s+\*)")


@dataclass(frozen=True)
class Answer:
    """What one exercise's answer is made of.

    name   the exercise
    lines  the statements that it needs, in the notebook's order, its own definition among them
    """

    name: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The statements as one text."""
        return "\n".join(self.lines)


@dataclass(frozen=True)
class _Statement:
    text: str
    facts: Facts

    @property
    def is_import(self) -> bool:
        """Whether it binds names of other modules."""
        return self.text.startswith(("import ", "from "))

    @property
    def is_for_all(self) -> bool:
        """Whether it counts for all code below: a star import, `from __future__`."""
        return bool(FOR_ALL.match(self.text))


def answers_in(cells: Sequence[str], exercises: Collection[str]) -> list[Answer]:
    """Cut out each exercise that a notebook answers, in the order of `exercises`.

    cells      the texts of the code cells, in order
    exercises  the names of the chapter's exercises; an answer that uses another one only names it
    """
    statements = [one for cell in cells for one in _statements(cell)]
    found = []
    for name in exercises:
        at = _answers(statements, name)
        if at:
            others = {*exercises} - {name}
            needed = _needed(statements, at[-1], others)
            needed |= {i for i, one in enumerate(statements) if one.is_for_all}
            found.append(Answer(name, tuple(statements[i].text for i in sorted(needed))))
    return found


def _answers(statements: Sequence[_Statement], name: str) -> list[int]:
    """Find where an exercise is answered: defined, or else given a value, as a lambda is."""
    defined = [i for i, one in enumerate(statements) if defines(one.text, name)]
    return defined or [i for i, one in enumerate(statements) if assigns(one.text, name)]


def _needed(statements: Sequence[_Statement], at: int, others: Collection[str]) -> set[int]:
    """Find the statements that give a value to what an answer reads, and to what these read.

    Of several that bind a name, the last one above counts, or else the last of all, as when the
    function is called. What changes a value after it was made (`table[0] = 1`) belongs to it; but
    `nn.init.zeros_(w)` does not change the module `nn`.
    """
    needed, waiting, known = {at}, [at], {*others}
    while waiting:
        i = waiting.pop()
        for name in sorted(statements[i].facts.used - known - {*statements[i].facts.defined}):
            known.add(name)
            binds = [j for j, one in enumerate(statements) if _gives(one, name)]
            above = [j for j in binds if j < i]
            chosen = {(above or binds)[-1]} if binds else set()
            if not any(statements[j].is_import for j in chosen):
                chosen |= {j for j in range(len(statements)) if name in statements[j].facts.touched}
            waiting += chosen - needed
            needed |= chosen
    return needed


def _gives(one: _Statement, name: str) -> bool:
    return name in one.facts.bound and not one.facts.defined.get(name, False)


def _statements(cell: str) -> Iterator[_Statement]:
    """Divide a cell at its top level; one that Python cannot read has no statements."""
    if len(cell) > LONGEST_CELL:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\\d" in a student's string is not our business
            tree, python = parsed(cell)
    except UNREADABLE:
        return
    lines = python.splitlines()
    for node in tree.body:
        text = "\n".join(lines[_first_line(node) - 1 : node.end_lineno])
        text = text if _reads_back(text) else ast.unparse(node)  # two statements on one line
        yield _Statement(text, facts(text))


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def _reads_back(text: str) -> bool:
    try:
        return len(ast.parse(text).body) == 1
    except UNREADABLE:
        return False
