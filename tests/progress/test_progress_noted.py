"""When a check notes its score, and that nothing about the file can make a check fail."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from autograder import check
from autograder.progress.journal import read_journal
from autograder.progress.place import VARIABLE, is_learning, place
from autograder.score import MIME


def softmax(x, dim=-1):
    weights = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return weights / weights.sum(dim=dim, keepdim=True)


def half_right(x, dim=-1):
    return x.exp() / x.exp().sum(dim, keepdim=True)


@pytest.fixture
def in_notebook(monkeypatch):
    """As if IPython ran this."""
    shell = SimpleNamespace(get_ipython=object)
    monkeypatch.setitem(sys.modules, "IPython", shell)


@pytest.fixture
def kept(in_notebook, monkeypatch, tmp_path) -> Path:
    """The file that is written to."""
    path = tmp_path / "state" / "progress.jsonl"
    monkeypatch.setenv(VARIABLE, str(path))
    return path


def test_the_best_score_stays(kept):
    partial = check(half_right, "softmax")
    assert read_journal(kept).best == {"softmax": float(partial)}
    assert check(softmax).standing.points == 4
    size = kept.stat().st_size
    assert check(half_right, "softmax").standing.points == 4
    assert read_journal(kept).best == {"softmax": 4.0}
    assert kept.stat().st_size == size, "a score that is not better is not written"


def test_an_answer_without_points_shows_the_chapter_and_writes_nothing(kept):
    score = check(3, "softmax")
    assert score.standing.points == 0
    assert not kept.exists()


def test_the_chapter_stands_under_the_checks_own_table(kept):
    score = check(softmax)
    bundle = score._repr_mimebundle_()
    assert bundle["text/plain"] == "4.0"
    assert bundle["text/html"].index("</table>") < bundle["text/html"].index("<details>")
    assert bundle[MIME] == score.report.as_json()
    first, *_, last = str(score).splitlines()
    assert first.startswith("softmax")
    assert last.strip() == "Next: product_moments, about 15 minutes."


def test_no_text_of_an_answer_is_kept(kept):
    check(softmax)
    assert kept.read_text().split("\n") == ["", '{"exercise": "softmax", "score": 4.0}', ""]


def unwritable(path):
    path.parent.write_text("a file where the folder should be")


def folder(path):
    path.mkdir(parents=True)


def full(path):
    path.parent.mkdir()
    path.symlink_to("/dev/full")


@pytest.mark.parametrize("spoil", [unwritable, folder, full])
def test_no_file_makes_a_check_fail(kept, spoil, capfd):
    if spoil is full and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    spoil(kept)
    score = check(softmax)
    assert (score, score.standing) == (4, None)
    assert "<details>" not in score._repr_mimebundle_()["text/html"]
    assert capfd.readouterr() == ("", "")


def test_a_damaged_file_is_added_to(kept):
    kept.parent.mkdir()
    kept.write_bytes(b"\xff\x00{")
    assert check(softmax).standing.points == 4
    assert kept.read_bytes().startswith(b"\xff\x00{")


@pytest.mark.parametrize("variable", ["COURSE_SEED", "NBGRADER_EXECUTION"])
def test_grading_neither_writes_nor_shows_progress(kept, monkeypatch, variable):
    monkeypatch.setenv(variable, "autograde")
    assert check(softmax).standing is None
    assert not kept.exists()


def test_a_script_is_no_notebook(monkeypatch, tmp_path):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "progress.jsonl"))
    assert not is_learning({})
    assert check(softmax).standing is None
    assert [*tmp_path.iterdir()] == []


def test_tests_keep_no_progress(in_notebook):
    assert os.environ[VARIABLE] == ""
    assert place() is None
    assert check(softmax).standing is None


@pytest.mark.parametrize(
    ("system", "environment", "end"),
    [
        ("linux", {}, "home/.local/state/transformer-course/progress.jsonl"),
        ("linux", {"XDG_STATE_HOME": "elsewhere"}, "elsewhere/transformer-course/progress.jsonl"),
        ("darwin", {}, "home/Library/Application Support/transformer-course/progress.jsonl"),
        ("win32", {"LOCALAPPDATA": "local"}, "local/transformer-course/progress.jsonl"),
        ("linux", {VARIABLE: "own.jsonl"}, "own.jsonl"),
    ],
)
def test_the_place_is_the_systems_own(monkeypatch, system, environment, end):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    assert place(environment) == Path(end)


def test_who_has_no_home_keeps_nothing(in_notebook, monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.delenv(VARIABLE)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    assert check(softmax).standing is None
