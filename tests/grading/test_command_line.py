"""Exit statuses, one-line complaints, and JSON."""

import argparse
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
import sample_class
from commands import CHAPTER, ROOT, course

from autograder import tiers
from autograder.catalogue import exercises
from autograder.cli import BAD_USAGE, FAILED, OK, main
from autograder.zygotes import best_tier

MERGED = ROOT / "tests" / "submissions" / CHAPTER / "not_json__unreadable.ipynb"


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr."""
    (line,) = capsys.readouterr().err.strip().splitlines()
    return line


@pytest.mark.parametrize(
    "arguments",
    [[], ["chek"], ["check"], ["grade", "x"], ["book", "--edition", "final"], ["doctor", "--fast"]],
)
def test_bad_arguments_are_one_line_and_status_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert "--help" in complaint(capsys)


def test_an_unknown_exercise_gets_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mistakes", "sofmax"]) == BAD_USAGE
    assert "`sofmax`. Nearest: softmax" in complaint(capsys)


def test_without_a_sandbox_untrusted_students_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiers, "best_tier", lambda: "none")
    monkeypatch.setattr(tiers, "why_not", lambda tier: f"no {tier} here")
    (tmp_path / "class").mkdir()
    folders = [str(tmp_path / "class"), "--out", str(tmp_path / "out")]
    assert main(["grade", *folders]) == BAD_USAGE
    line = complaint(capsys)
    assert "landlock: no landlock here" in line
    assert "would run as you" in line
    assert "--trust-students" in line
    assert line.count(". ") == 1
    assert not (tmp_path / "out").exists()


def test_a_missing_file_and_a_folder_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(tmp_path / "none.ipynb")]) == BAD_USAGE
    assert "there is no file" in complaint(capsys)
    assert main(["check", str(tmp_path)]) == BAD_USAGE
    assert "`course grade` for a class" in complaint(capsys)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["{0}/none", "--out", "{0}/out"], "there is no folder"),
        (["{0}/empty", "--out", "{0}/out"], "holds no submissions"),
        (["{0}/class", "--out", "{0}/class/out"], "among the submissions"),
        (["{0}/class", "--out", "{0}/class"], "among the submissions"),
        (["{0}/class", "--out", "{0}/other"], "holds other files"),
        (["{0}/class", "--out", "{0}/file"], "is a file"),
        (["{0}/class", "--out", "{0}/out", "--chapter", "99_end"], "there is no chapter 99_end"),
        (["{0}/class", "--out", "{0}/out", "--seed-file", "{0}/none"], "cannot read the seed file"),
        (["{0}/class", "--out", "{0}/out", "--seed-file", "{0}/file"], "is empty"),
        (["{0}/class", "--out", "{0}/o[1]"], "nbgrader cannot work in"),
    ],
)
def test_a_class_that_cannot_be_graded_is_refused(
    arguments: list[str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("empty", "class/ada", "other"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("file", "other/thesis.txt"):
        (tmp_path / file).touch()
    given = [argument.format(tmp_path) for argument in arguments]
    assert main(["grade", *given, "--trust-students"]) == BAD_USAGE
    assert reason in complaint(capsys)


@pytest.mark.slow
def test_a_file_that_is_no_notebook_still_gives_a_record(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", str(MERGED), "--json"]) == FAILED
    record = json.loads(capsys.readouterr().out)
    assert "line 4 column 1" in record["error"]
    assert (record["chapter"], record["score"], record["max_score"]) == (CHAPTER, 0, 20)
    assert main(["check", str(MERGED)]) == FAILED
    assert "merge conflict" in capsys.readouterr().out


def test_a_notebook_of_another_course_is_told_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.ipynb"
    path.write_text('{"cells": [], "nbformat": 4}')
    assert main(["check", str(path)]) == FAILED
    assert "none of the course's exercises" in capsys.readouterr().out


def test_exercises_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exercises", "--json"]) == OK
    listed = json.loads(capsys.readouterr().out)
    assert [one["id"] for one in listed] == list(exercises())
    assert set(listed[0]) >= {"id", "chapter", "points", "cases", "mistakes"}
    assert main(["exercises"]) == OK
    assert "softmax: " in capsys.readouterr().out


def test_mistakes_are_caught_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mistakes", "attention_cost", "--json"]) == OK
    fared = json.loads(capsys.readouterr().out)
    assert all(one["caught"] and one["named"] for one in fared if one["kind"] == "mistake")
    assert not any(one["caught"] for one in fared if one["kind"] == "alternative")
    assert main(["mistakes", "attention_cost"]) == OK
    assert "named; fails four different sizes" in capsys.readouterr().out


def test_the_doctor_names_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert main(["doctor"]) == OK
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "missing: playwright install chromium" in lines["chromium"]
    assert "missing" in lines["git"]
    assert "missing" not in lines["alembic"]  # it lies beside Python, not on PATH
    assert best_tier() in lines["sandbox"]


def test_a_missing_package_is_named_with_its_extra(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name}", name="nbgrader.api")

    monkeypatch.setattr("autograder.cli.import_module", without)
    assert main(["notebooks"]) == FAILED
    assert 'pip install "transformer-course[grade]"' in complaint(capsys)


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [(KeyboardInterrupt(), 130, "stopped"), (OSError("disk full"), 1, "OSError: disk full")],
)
def test_no_traceback_of_ours(
    error: BaseException,
    status: int,
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Command:
        @staticmethod
        def run(_: argparse.Namespace) -> int:
            raise error

    monkeypatch.setattr("autograder.cli.import_module", lambda _: Command)
    assert main(["doctor"]) == status
    assert words in complaint(capsys)


def test_listing_exercises_needs_torch_and_numpy_only() -> None:
    heavy = ["nbformat", "nbclient", "nbgrader", "jupytext", "jupyter_book", "matplotlib", "yaml"]
    program = (
        "import sys; from autograder.cli import main; main(['exercises']); "
        f"print(sorted(set({heavy}) & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stderr.strip() == "[]"


@pytest.mark.slow
def test_check_gives_exactly_the_record(tmp_path: Path) -> None:
    sample = ROOT / "tests" / "submissions" / CHAPTER / "multiply_adds__wrong.py"
    path = sample_class.hand_in(sample, tmp_path / "with a space")
    seed = tmp_path / "seed"
    seed.write_text("winter term")
    done = course("check", path, "--json", "--seed-file", seed, cwd=tmp_path)
    assert done.returncode == OK, done.stderr
    assert done.stderr == ""
    record = json.loads(done.stdout)
    assert list(record) == [
        "chapter", "score", "max_score", "seconds", "sandbox", "exercises", "notes",
        "submission", "version", "seed_id",
    ]  # fmt: skip
    assert (record["chapter"], record["score"], record["max_score"]) == (CHAPTER, 18, 20)
    assert record["sandbox"] == best_tier()
    assert record["submission"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert "winter term" not in done.stdout
    for one in record["exercises"]:
        named = {"id", "verdict", "score", "max_score", "diagnosis", "cases"}
        assert set(one) == {*named, "printed"}
        assert all({"behaviour", "passed", "message"} <= set(case) for case in one["cases"])
    assert "Likely cause: You count a multiplication" in record["exercises"][-1]["diagnosis"]
