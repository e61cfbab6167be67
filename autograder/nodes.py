"""Notebooks as dicts with attributes: to import the package nbformat takes a second."""

from __future__ import annotations

import json
from typing import Any


class Node(dict[str, Any]):
    """A dict whose entries are attributes, too."""

    def __getattr__(self, name: str) -> Any:
        """Look an entry up."""
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an entry."""
        self[name] = value


def read_nodes(text: str) -> Node:
    """Read one of our own notebooks, which is valid, with the lines of each cell joined."""
    notebook: Node = json.loads(text, object_hook=Node)
    for cell in notebook.cells:
        if isinstance(cell.source, list):
            cell.source = "".join(cell.source)
    return notebook
