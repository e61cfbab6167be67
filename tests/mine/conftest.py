"""Notebooks of students, and a place for what is gathered from them; nothing is being graded."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ungraded import nobody_grades  # noqa: F401 - a fixture is used by being here

from autograder.catalogue import exercises
from autograder.mine import switch

Written = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Write a notebook of some code cells into the student's folder."""

    def write(name: str, *cells: str) -> Path:
        path = tmp_path / name / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        parts = [
            {"cell_type": "code", "metadata": {}, "source": one, "outputs": []} for one in cells
        ]
        path.write_text(json.dumps({"cells": parts, "nbformat": 4, "nbformat_minor": 4}))
        return path

    return write


@pytest.fixture(autouse=True)
def the_given_modules_come_back() -> Iterator[None]:
    """A test may put others in the place of the course's modules."""
    exercises()
    before = {name: sys.modules[name] for name in sys.modules if name.startswith("solutions")}
    yield
    for name in [name for name in sys.modules if name.startswith("solutions")]:
        del sys.modules[name]
    sys.modules.update(before)
    switch._given.clear()
