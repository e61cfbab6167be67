"""Write gathered answers as one Python module."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autograder.mine.slices import FOR_ALL, Answer

HEAD = '''\
"""Your own answers that passed their checks. Made by `course mine`; make it again, do not edit it.

In a notebook, `use_mine(True, ...)` puts them in the place of the course's.
"""
'''
MARK = re.compile(r"^# (?P<chapter>\w+): (?P<name>\w+), (?P<digest>[0-9a-f]{16})$", re.MULTILINE)
WIDE = "    "


@dataclass(frozen=True)
class Section:
    """An answer in its place in the module."""

    chapter: str
    answer: Answer

    def digest(self, version: str) -> str:
        """Name this text, checked by this version of the course."""
        text = f"{version}\n{self.chapter}\n{self.answer.name}\n{self.answer.text}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def module_text(
    sections: Sequence[Section], given: Iterable[tuple[str, str]], marks: Mapping[str, str]
) -> str:
    """Write the module.

    sections  in the order of the course
    given     (module, name) of the course's functions that an answer calls and that are not
              among the sections
    marks     exercise -> digest of what was checked

    Each answer stands in a function of its own, so that helpers of the same name do not meet.
    """
    for_all = {line for one in sections for line in one.answer.lines if FOR_ALL.match(line)}
    future = sorted(line for line in for_all if "__future__" in line)
    stars = sorted(for_all - {*future})
    imports = [f"from {module} import {name}" for module, name in sorted(given)]
    top = [*future, "from autograder.mine.own import own", *stars, *imports]
    parts = [
        HEAD,
        "\n".join(top),
        *(_section_text(one, marks.get(one.answer.name, "")) for one in sections),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def checked_before(text: str) -> set[str]:
    """Read the digests of the answers that a module holds: these need no second check."""
    return {mark["digest"] for mark in MARK.finditer(text)}


def _section_text(one: Section, mark: str) -> str:
    name = one.answer.name
    body = "\n".join(_indented(line) for line in one.answer.lines if not FOR_ALL.match(line))
    return (
        f"\n# {one.chapter}: {name}, {mark}\n"
        f"def _{name}():\n{body}\n{WIDE}return {name}\n\n\n{name} = own(_{name})\n"
    )


def _indented(text: str) -> str:
    """Indent a statement, but not the lines that begin inside a string other than a docstring."""
    inside, docstrings, tree = set(), set(), ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            docstrings.add(node.body[0])
    values = {one.value for one in docstrings if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr | ast.Constant) and node not in values:
            inside |= set(range(node.lineno + 1, (node.end_lineno or 0) + 1))
    lines = enumerate(text.split("\n"), start=1)
    return "\n".join(line if n in inside or not line else WIDE + line for n, line in lines)
