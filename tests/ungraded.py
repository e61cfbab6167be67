"""Nothing is being graded in the folders whose conftest imports this.

nbgrader leaves its mark in the environment where a notebook that it runs fails.
"""

import pytest

from autograder.progress.place import GRADING


@pytest.fixture(autouse=True)
def nobody_grades(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the marks away."""
    for name in GRADING:
        monkeypatch.delenv(name, raising=False)
