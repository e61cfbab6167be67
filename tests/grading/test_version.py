"""The version of an assignment changes with whatever a score may depend on, and with no more."""

import re
import shutil
from pathlib import Path

import pytest
from commands import CHAPTER, ROOT

from autograder import version
from autograder.version import assignment_version

NOTEBOOK = '{"cells": []}'
EXERCISES = f"autograder/exercises/chapter_{CHAPTER[:2]}"


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The packages in another folder, from which the version is taken."""
    for package in ("autograder", "solutions"):
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    monkeypatch.setattr(version, "PACKAGE", tmp_path / "autograder")
    references = sorted((tmp_path / "solutions").glob("*.py"))
    monkeypatch.setattr(version, "reference_files", lambda: references)
    return tmp_path


def now(notebook: str = NOTEBOOK) -> str:
    return assignment_version(CHAPTER, notebook)


def test_it_is_twelve_digits_and_the_same_in_any_folder(request: pytest.FixtureRequest) -> None:
    here = now()
    assert re.fullmatch("[0-9a-f]{12}", here)
    assert now() == here
    request.getfixturevalue("copy")
    assert now() == here


def test_another_notebook_or_torch_is_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    here = now()
    assert now('{"cells": [1]}') != here
    monkeypatch.setattr(version.metadata, "version", lambda _: "1.0")
    assert now() != here


@pytest.mark.parametrize(
    "file",
    [
        "autograder/judge.py",
        "autograder/compare.py",
        "autograder/intake.py",
        "autograder/runner/session.py",
        f"{EXERCISES}/softmax.py",
        f"{EXERCISES}/__init__.py",
        "solutions/softmax.py",
        "solutions/device.py",
    ],
)
def test_what_a_score_depends_on_changes_it(copy: Path, file: str) -> None:
    here = now()
    with (copy / file).open("a") as source:
        source.write("# one more line\n")
    assert now() != here


@pytest.mark.parametrize(
    "file",
    [
        "autograder/cli/grade.py",
        "autograder/plugins/gradebook.py",
        "autograder/report/html.py",
        "autograder/records/store.py",
        "autograder/exercises/chapter_99/other.py",
    ],
)
def test_what_no_score_depends_on_does_not(copy: Path, file: str) -> None:
    here = now()
    (copy / file).parent.mkdir(exist_ok=True)
    with (copy / file).open("a") as source:
        source.write("# one more line\n")
    assert now() == here
