"""Generated notebooks: the same each time, and the committed ones are fresh."""

import shutil
from pathlib import Path

import pytest
from commands import CHAPTER, ROOT

from autograder.cli import FAILED, OK, main
from autograder.course import Course, NotACourse, find_course
from autograder.notebooks import write_notebooks
from autograder.plugins.nbgrader import release, safe_name


@pytest.fixture
def copy(tmp_path: Path) -> Course:
    """The course's text in another folder, with a space in its name."""
    root = tmp_path / "my course"
    shutil.copytree(ROOT / "book", root / "book")
    shutil.copy(ROOT / "_config.yml", root)
    return Course(root)


def test_generating_twice_gives_identical_bytes(copy: Course) -> None:
    first = write_notebooks(copy, release)
    assert all(one.changed for one in first)
    before = [one.path.read_bytes() for one in first]
    again = write_notebooks(copy, release)
    assert not any(one.changed for one in again)
    assert [one.path.read_bytes() for one in again] == before


def test_committed_notebooks_are_fresh() -> None:
    looked_at = write_notebooks(Course(ROOT), release, only_check=True)
    assert not any(one.changed for one in looked_at), "run `course notebooks`"


def test_stale_notebooks_are_named_and_left_alone(
    copy: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(copy.book)
    assert main(["notebooks", "--check"]) == FAILED
    assert f"stale     notebooks/{CHAPTER}/{CHAPTER}.ipynb" in capsys.readouterr().out
    assert not (copy.root / "notebooks").exists()
    assert main(["notebooks"]) == OK
    assert "written" in capsys.readouterr().out
    assert main(["notebooks", "--check"]) == OK
    assert main(["notebooks"]) == OK
    chapters = len(copy.chapters())
    assert capsys.readouterr().out.count("unchanged") == 2 * chapters + chapters  # --check, too


def test_a_change_of_the_chapter_makes_them_stale(copy: Course) -> None:
    write_notebooks(copy, release)
    text = copy.text(CHAPTER)
    text.write_text(text.read_text() + "\nOne more sentence.\n")
    looked_at = write_notebooks(copy, release, only_check=True)
    assert [one.path.stem for one in looked_at if one.changed] == [CHAPTER]


def test_the_repository_is_read_from_the_settings(copy: Course) -> None:
    settings = copy.root / "_config.yml"
    settings.write_text('repository:\n  url: "https://example.org/x"  # ours\n  branch: dev\n')
    assert copy.repository() == ("https://example.org/x", "dev")
    settings.write_text("repository:\n  url: https://example.org/x\nlatex:\n  branch: no\n")
    with pytest.raises(NotACourse, match="no `branch` under `repository`"):
        copy.repository()


def test_the_course_is_found_from_anywhere_inside(copy: Course) -> None:
    assert find_course(copy.book).root == copy.root.resolve()


def test_names_of_students_become_names_that_nbgrader_takes() -> None:
    assert safe_name("Ada Lovelace") == "Ada Lovelace"
    odd = [safe_name(name) for name in ("a*", "a?", "Doe, Jane", " x", "a[1]")]
    assert len(set(odd)) == len(odd)
    assert not any(set(name) & set("*?,[]") for name in odd)
