"""Do the folders of a class go together? No torch: it is asked before anything is loaded."""

from __future__ import annotations

from pathlib import Path

from autograder.usage import UsageError

OURS = "nbgrader_config.py"  # the file that tells a folder of results from any other


def look_at_folders(submitted: Path, out: Path) -> None:
    """Refuse folders that do not go together. Raises UsageError."""
    if not submitted.exists():
        raise UsageError(f"there is no folder {submitted}")
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; --out names a folder")
    inner, outer = out.resolve(), submitted.resolve()
    if inner == outer or outer in inner.parents:
        raise UsageError(f"--out {out} lies among the submissions; choose a folder outside")
    if out.is_dir() and any(out.iterdir()) and not (out / OURS).exists():
        raise UsageError(f"--out {out} holds other files; choose an empty or a new folder")
