"""The fault suite: every file of tests/faults ends as its name says, and its owner is told why.

The outcomes: `graded`, the answer of softmax is found; `told`, it is found but cannot run, and a
note says what to do; `unanswered`, none is found; `unreadable`, the file is refused.
"""

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
from faults.recipes import RECIPES

from autograder.intake import Intake, normalise
from autograder.untrusted import Unreadable, file_bytes, read_notebook

FOLDER = Path(__file__).parents[1] / "faults"
MESSAGES = json.loads((FOLDER / "messages.json").read_text(encoding="utf-8"))
ADVICE = re.compile(r"hand in|save|settle|clear|write it in|open it|pack it")
TOUCHES = r"\b(make it|join it|settle it)\b"


def taken_in(path: Path, ours: Any) -> tuple[Intake, str]:
    raw = read_notebook(file_bytes(path), path.name)
    intake = normalise(raw.cells, ours)
    nbformat.validate(intake.notebook)
    return intake, "\n".join((*raw.notes, *intake.notes))


def assert_ends(path: Path, outcome: str, message: str, ours: Any) -> None:
    if outcome == "unreadable":
        with pytest.raises(Unreadable, match=re.escape(message)) as caught:
            taken_in(path, ours)
        assert ADVICE.search(str(caught.value)) or message.startswith("the system")
        return
    intake, notes = taken_in(path, ours)
    assert message in notes
    assert ("softmax" in intake.answers) is (outcome in ("graded", "told"))
    assert len(intake.checks) == 6
    if outcome == "graded":
        assert "    return " in intake.answers["softmax"]
    if outcome == "told":
        assert re.search(TOUCHES, message) or re.search(TOUCHES, notes)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_broken_file_ends_as_its_name_says(name: str, ours: Any) -> None:
    outcome = Path(name).stem.rpartition("__")[2]
    assert_ends(FOLDER / name, outcome, MESSAGES[name], ours)


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no pipes and devices")
@pytest.mark.parametrize("name", RECIPES)
def test_what_git_cannot_keep_ends_as_its_name_says(name: str, ours: Any, tmp_path: Path) -> None:
    outcome = name.rpartition("__")[2]
    path = RECIPES[name](tmp_path)
    started = time.perf_counter()
    assert_ends(path, outcome, RECIPES[name].__doc__ or "", ours)
    assert time.perf_counter() - started < 20


def test_the_suite_is_whole() -> None:
    there = {path.name for path in FOLDER.iterdir() if "__" in path.name and path.is_file()}
    assert there == set(MESSAGES)
    assert len(MESSAGES) + len(RECIPES) >= 60
    outcomes = {name.split("__")[1].split(".")[0] for name in (*MESSAGES, *RECIPES)}
    assert outcomes == {"graded", "told", "unanswered", "unreadable"}
