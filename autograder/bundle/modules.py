"""Which of our modules a piece of code needs, found from its text."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

OURS = ("autograder", "solutions", "book")


def imports(tree: ast.AST) -> set[str]:
    """Name what a syntax tree imports, wherever it does so; names in a module count as modules."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def needed(root: Path, names: Iterable[str]) -> dict[str, Path]:
    """Find the files of our modules among `names`, of their packages and of all they import.

    root  the folder of the course
    ->    dotted name -> file
    """
    waiting, found = set(names), dict[str, Path]()
    while waiting:
        name = waiting.pop()
        file = module_file(root, name)
        if file and name not in found:
            found[name] = file
            waiting |= imports(ast.parse(file.read_text(encoding="utf-8")))
        waiting |= {package for package in _packages(name) if module_file(root, package)} - {*found}
    return dict(sorted(found.items()))


def module_file(root: Path, name: str) -> Path | None:
    """Find the file of one of our modules or packages; None for anything else."""
    top, *rest = name.split(".")
    path = root.joinpath(top, *rest)
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if top in OURS and file.is_file()), None)


def _packages(name: str) -> Iterator[str]:
    parts = name.split(".")
    yield from (".".join(parts[:end]) for end in range(1, len(parts)))
