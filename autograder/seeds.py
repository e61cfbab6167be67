"""The secret that a class's inputs are drawn from."""

from __future__ import annotations

import secrets
from pathlib import Path

from autograder.usage import UsageError


def read_seed(file: Path) -> str:
    """Read a seed: the text of the file, any text. Raises UsageError."""
    try:
        seed = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the seed file {file}: {error}") from error
    if not seed:
        raise UsageError(f"the seed file {file} is empty; write any text into it")
    return seed


def class_seed(file: Path | None, out: Path) -> str:
    """Take the seed of the file, else that of an earlier run in `out`, else a fresh one."""
    earlier = out / "seed.txt"
    if file or earlier.is_file():
        return read_seed(file or earlier)
    return secrets.token_hex(16)
