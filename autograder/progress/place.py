"""Where progress is kept, and when it is.

It lies with the user's settings, not beside a notebook: the chapters of one person then count
together, whether the notebooks are the course's or unzipped from bundles, and nothing of it is
handed in or committed by mistake.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "COURSE_PROGRESS"  # the path of another file; empty: nothing is kept
NAME = Path("transformer-course", "progress.jsonl")
GRADING = ("COURSE_SEED", "NBGRADER_EXECUTION")  # set while a notebook is graded or validated


def place(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Give the path of the file, which need not exist; None if nothing is to be kept.

    Raises RuntimeError if the user has no home.
    """
    if VARIABLE in environment:
        named = environment[VARIABLE]
        return Path(named) if named else None
    return _state_folder(environment) / NAME


def is_learning(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a check is a student's own: in a notebook or an IPython shell, and not graded."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and not any(environment.get(name) for name in GRADING)


def _state_folder(environment: Mapping[str, str]) -> Path:
    """Give the folder that a system has for what a program remembers."""
    if sys.platform == "win32":
        named, inner = environment.get("LOCALAPPDATA"), ("AppData", "Local")
    elif sys.platform == "darwin":
        named, inner = None, ("Library", "Application Support")
    else:
        named, inner = environment.get("XDG_STATE_HOME"), (".local", "state")
    return Path(named) if named else Path.home().joinpath(*inner)
