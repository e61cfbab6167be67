"""A machine on which nothing is being graded, and a file of its own for each test.

nbgrader leaves its mark in the environment where a notebook that it runs fails.
"""

from pathlib import Path

import pytest

from autograder.progress.place import VARIABLE


@pytest.fixture(autouse=True)
def _nobody_grades(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NBGRADER_EXECUTION", "COURSE_SEED"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file of the student's progress, which is not there yet."""
    path = tmp_path / "progress.jsonl"
    monkeypatch.setenv(VARIABLE, str(path))
    return path
