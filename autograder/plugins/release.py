"""The instructor's notebook -> the student's, by nbgrader's own steps."""

from __future__ import annotations

import copy
from typing import Any

from nbgrader.preprocessors import ClearOutput, ClearSolutions, ComputeChecksums, LockCells

# The steps of `nbgrader generate_assignment` that change cells, in its order and with its defaults.
RELEASE_STEPS = (LockCells, ClearSolutions, ClearOutput, ComputeChecksums)


def release(instructor: Any) -> Any:
    """Make the student notebook: nbgrader's own steps on the instructor's."""
    notebook = copy.deepcopy(instructor)
    resources: dict[str, Any] = {"metadata": {}}
    for step in RELEASE_STEPS:
        notebook, resources = step().preprocess(notebook, resources)
    return notebook
