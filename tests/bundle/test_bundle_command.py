"""`course class-bundle`."""

import zipfile
from argparse import Namespace
from pathlib import Path

import pytest
from processes import CHAPTER, ROOT

from autograder.cli.class_bundle import run
from autograder.usage import UsageError


@pytest.fixture(autouse=True)
def _in_the_course(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_a_number_is_enough_and_the_zip_is_named(tmp_path, capsys):
    out = tmp_path / "a new folder" / "bundle.zip"
    assert run(Namespace(chapter="02", out=out)) == 0
    said = capsys.readouterr().out
    with zipfile.ZipFile(out) as archive:
        count = len(archive.namelist())
        assert f"{CHAPTER}/{CHAPTER}.ipynb" in archive.namelist()
    assert said.startswith(f"{out}: {count} files, ")
    assert said.endswith("It holds no answers.\n")


def test_an_unknown_chapter_is_told_which_there_are():
    with pytest.raises(UsageError, match=f"no chapter 99; the chapters are: .*{CHAPTER}"):
        run(Namespace(chapter="99", out=None))


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(UsageError, match="cannot write"):
        run(Namespace(chapter=CHAPTER, out=Path(tmp_path)))
