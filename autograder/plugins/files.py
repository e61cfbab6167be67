"""The files of an nbgrader course: where they lie, and writing them so that none is half there."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def place(folder: Path, step: str, student: str, chapter: str, suffix: str = ".ipynb") -> Path:
    """Give the path <step>/<student>/<chapter>/<chapter>.ipynb."""
    return folder / step / student / chapter / f"{chapter}{suffix}"


def notebook_bytes(notebook: Mapping[str, Any]) -> bytes:
    """Write a notebook as JSON. The same notebook always gives the same bytes."""
    text = json.dumps(notebook, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", errors="replace") + b"\n"


def write_whole(path: Path, data: bytes) -> bool:
    """Put a file in its place in one step, unless it holds these bytes; say whether it did not."""
    try:
        if path.read_bytes() == data:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.part")
    beside.write_bytes(data)
    os.replace(beside, path)
    return True
