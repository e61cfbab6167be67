"""The sample class, graded once for all tests of a run."""

import json
import os
from typing import Any

import pytest
import sample_class
from commands import CHAPTER, ROOT, TRUST, Graded, course
from filelock import FileLock

from autograder.course import find_course
from autograder.notebooks import instructor


@pytest.fixture(scope="session")
def ours() -> Any:
    """The instructor notebook of the chapter."""
    return instructor(find_course(ROOT), CHAPTER)


@pytest.fixture(scope="session")
def student() -> Any:
    """The student notebook of the chapter."""
    return sample_class.student_notebook(CHAPTER)


@pytest.fixture(scope="session")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """The sample class after `course grade`; one run for all xdist workers."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, log = shared / "a graded class", shared / "graded.json"
    with FileLock(str(shared / "graded.lock")):
        if not log.exists():
            for path in sample_class.samples():
                sample_class.hand_in(path, folder / "submitted")
            done = course("grade", folder / "submitted", "--out", folder / "out", *TRUST)
            log.write_text(json.dumps([done.returncode, done.stdout, done.stderr]))
    return Graded(folder / "out", *json.loads(log.read_text()))
