"""A machine on which nothing is being graded, and a file of its own for each test."""

from pathlib import Path

import pytest
from ungraded import nobody_grades  # noqa: F401 - a fixture is used by being here

from autograder.progress.place import VARIABLE


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file of the student's progress, which is not there yet."""
    path = tmp_path / "progress.jsonl"
    monkeypatch.setenv(VARIABLE, str(path))
    return path
