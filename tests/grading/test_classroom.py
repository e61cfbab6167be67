"""Submissions are found wherever students put them."""

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.classroom import Entry, entries
from autograder.layouts import named

CHAPTER = "02_scaled_dot_product"


def put(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    return path


def only(folder: Path) -> Entry:
    (entry,) = entries(folder, [CHAPTER])
    return entry


def test_the_expected_place_needs_no_note(tmp_path: Path) -> None:
    path = put(tmp_path, f"Ada L/{CHAPTER}/{CHAPTER}.ipynb")
    assert only(tmp_path) == Entry("Ada L", CHAPTER, path)


def test_another_name_is_taken_with_a_note(tmp_path: Path) -> None:
    path = put(tmp_path, f"ada/{CHAPTER}/homework (1).ipynb")
    assert only(tmp_path).path == path
    assert "homework (1).ipynb" in only(tmp_path).notes[0]


def test_the_right_name_goes_first_and_others_are_named(tmp_path: Path) -> None:
    put(tmp_path, f"ada/{CHAPTER}/a copy.ipynb")
    path = put(tmp_path, f"ada/{CHAPTER}/{CHAPTER}.ipynb")
    assert only(tmp_path).path == path
    assert only(tmp_path).notes == ("also there and not graded: a copy.ipynb",)


def test_a_notebook_in_the_students_folder_is_taken(tmp_path: Path) -> None:
    path = put(tmp_path, "ada/work.ipynb")
    assert only(tmp_path).path == path
    assert only(tmp_path).chapter == ""


def test_a_notebook_outside_any_folder_is_taken(tmp_path: Path) -> None:
    put(tmp_path, "ada.ipynb")
    assert only(tmp_path).student == "ada"


def test_a_student_without_a_notebook_still_has_an_entry(tmp_path: Path) -> None:
    put(tmp_path, "ada/answers.txt")
    (tmp_path / "ben" / CHAPTER).mkdir(parents=True)
    assert [(one.student, one.path) for one in entries(tmp_path, [CHAPTER])] == [
        ("ada", None),
        ("ben", None),
    ]


def test_what_programs_leave_behind_is_no_submission(tmp_path: Path) -> None:
    put(tmp_path, ".DS_Store")
    put(tmp_path, "grades.csv")
    put(tmp_path, f"ada/{CHAPTER}/.ipynb_checkpoints/{CHAPTER}-checkpoint.ipynb")
    assert only(tmp_path).path is None


def test_a_folder_without_a_notebook_says_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "hw.pdf").write_bytes(b"%PDF-1.7")
    (tmp_path / "__MACOSX").mkdir()
    (one,) = entries(tmp_path, [])
    assert one.notes == ("no notebook was found in the student's folder (there is hw.pdf)",)


def test_of_two_badly_named_notebooks_the_one_with_answers_is_taken(tmp_path: Path) -> None:
    folder = tmp_path / "ann"
    folder.mkdir()
    stub, answer = "raise NotImplementedError()", "return x"
    for name, body in (("Untitled", stub), ("hw2", answer), ("broken", None)):
        cell = {"cell_type": "code", "source": f"def softmax(x):\n    {body}"}
        text = json.dumps({"cells": [cell], "nbformat": 4}) if body else "{"
        (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")
    (one,) = entries(tmp_path, [])
    assert one.path == folder / "hw2.ipynb"
    assert "also there and not graded: Untitled.ipynb, broken.ipynb" in one.notes


def students(folder: Path) -> list[str]:
    return [one.student for one in entries(folder, [CHAPTER])]


# Files beside the notebook


def test_other_files_are_named_and_never_taken(tmp_path: Path) -> None:
    path = put(tmp_path, f"ada/{CHAPTER}/{CHAPTER}.ipynb")
    for name in ("torch.py", "data.csv", "timestamp.txt"):
        put(tmp_path, f"ada/{CHAPTER}/{name}")
    assert only(tmp_path).path == path
    assert only(tmp_path).notes == ("handed in beside it and not used: data.csv, torch.py",)


def test_many_files_are_counted(tmp_path: Path) -> None:
    for number in range(9):
        put(tmp_path, f"ada/{number}.pdf")
    assert (
        only(tmp_path).notes[0].endswith("(there is 0.pdf, 1.pdf, 2.pdf, 3.pdf, 4.pdf and 4 more)")
    )


@pytest.mark.parametrize("name", ["hw.zip", "hw.py", "hw.ipynb.txt", "hw.IPYNB", "hw.ipynb (1)"])
def test_what_may_hold_a_notebook_is_taken_if_there_is_none(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, f"ada/{name}")
    put(tmp_path, "ada/notes.pdf")
    assert only(tmp_path).path == path
    put(tmp_path, "ada/real.ipynb")
    if not name.endswith(".IPYNB"):
        assert only(tmp_path).path == tmp_path / "ada/real.ipynb"


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="this system has no links")
def test_links_are_never_followed(tmp_path: Path) -> None:
    put(tmp_path, "elsewhere/secret.ipynb")
    folder = tmp_path / "class"
    put(folder, "ada/notes.txt")
    (folder / "ada" / "all").symlink_to(tmp_path / "elsewhere")
    (folder / "ben").symlink_to(tmp_path / "elsewhere")
    assert [one.path for one in entries(folder, [CHAPTER])] == [None, None]
    assert "ben is a link to a folder: it was not followed" in entries(folder, [CHAPTER])[1].notes


def test_odd_names_can_be_written_anywhere(tmp_path: Path) -> None:
    for name in ("Zoe\u0308 O'Neil", "two\nlines", "🐉", "x" * 200, " "):
        put(tmp_path, f"{name}/hw.ipynb")
    if sys.platform == "linux":
        put(tmp_path, os.fsdecode(b"half \xe9/hw.ipynb"))
    found = entries(tmp_path, [CHAPTER])
    assert "Zoë O'Neil" in students(tmp_path)
    assert all(one.path and one.path.exists() for one in found)
    for one in found:
        for text in (one.student, *one.notes):
            assert text.isprintable()
            assert text.encode()


# Downloads of learning platforms


def test_moodle_in_folders(tmp_path: Path) -> None:
    path = put(tmp_path, "Jo Doe_123456_assignsubmission_file_/hw.ipynb")
    put(tmp_path, "Jo Doe_123456_assignsubmission_onlinetext_/onlinetext.html")
    put(tmp_path, "Al Roe_77_assignsubmission_onlinetext_/onlinetext.html")
    assert students(tmp_path) == ["Al Roe_77", "Jo Doe_123456"]
    none, one = entries(tmp_path, [CHAPTER])
    assert one.path == path
    assert none.path is None


def test_moodle_without_folders(tmp_path: Path) -> None:
    path = put(tmp_path, "Jo Doe_123456_assignsubmission_file_my_hw 2.ipynb")
    put(tmp_path, "Jo Doe_123456_assignsubmission_file_plot.png")
    assert only(tmp_path).student == "Jo Doe_123456"
    assert only(tmp_path).path == path
    taken, beside = only(tmp_path).notes
    assert taken == "taken from a download of Moodle: handed in as my_hw 2.ipynb"
    assert "plot.png" in beside


def test_canvas_takes_the_newest_version(tmp_path: Path) -> None:
    put(tmp_path, "doejo_12345_9_homework.ipynb")
    path = put(tmp_path, "doejo_12345_10_homework-1.ipynb")
    put(tmp_path, "doejo_99_8_homework.ipynb")  # another of the same name
    assert students(tmp_path) == ["doejo_12345", "doejo_99"]
    assert entries(tmp_path, [CHAPTER])[0].path == path
    assert "handed in 2 times: the newest was graded" in entries(tmp_path, [CHAPTER])[0].notes


def test_canvas_marks_late_work(tmp_path: Path) -> None:
    put(tmp_path, "doejo_LATE_12345_67890_homework.ipynb")
    put(tmp_path, "roe_12_13_text.html")
    late, none = entries(tmp_path, [CHAPTER])
    assert (late.student, none.student) == ("doejo_12345", "roe_12")
    assert "Canvas marks it as late" in late.notes
    assert none.notes[0] == "no notebook was found in what is there (there is roe_12_13_text.html)"


METADATA = """---
submission_1:
  :submitters:
  - :name: Jo Doe
    :sid: '100'
    :email: jo@example.org
  :created_at: 2026-01-31
submission_2:
  :submitters:
  - :name: Al Roe
    :sid:
    :email: al@example.org
  - :name: Bo Poe
    :sid: 102
"""


@pytest.mark.parametrize("wrap", ["", "assignment_9100_export/"])
def test_gradescope_with_metadata(tmp_path: Path, wrap: str) -> None:
    for number in (1, 2):
        put(tmp_path, f"{wrap}submission_{number}/hw.ipynb")
    (tmp_path / wrap / "submission_metadata.yml").write_text(METADATA, encoding="utf-8")
    assert students(tmp_path) == ["Al Roe_al@example.org", "Bo Poe_102", "Jo Doe_100"]
    paths = [one.path for one in entries(tmp_path, [CHAPTER])]
    assert paths[0] == paths[1] == tmp_path / wrap / "submission_2/hw.ipynb"


def test_gradescope_without_metadata(tmp_path: Path) -> None:
    put(tmp_path, "submission_1/hw.ipynb")
    assert students(tmp_path) == ["submission_1"]


def test_the_exchange_of_nbgrader(tmp_path: Path) -> None:
    put(tmp_path, f"ada+{CHAPTER}+2026-01-30 12:00:00.5 UTC+abc=/{CHAPTER}.ipynb")
    path = put(tmp_path, f"ada+{CHAPTER}+2026-01-31 12:00:00.5 UTC+abc=/{CHAPTER}.ipynb")
    assert only(tmp_path).student == "ada"
    assert only(tmp_path).path == path


@pytest.mark.parametrize(
    ("inside", "who"),
    [
        ([f"all/ada/{CHAPTER}/x.ipynb"], ["ada"]),
        (["all/ada/x.ipynb", "all/ben/x.ipynb"], ["ada", "ben"]),
        (["all/doejo_1_2_x.ipynb"], ["doejo_1"]),
        ([f"ada/{CHAPTER}/x.ipynb"], ["ada"]),
        (["ada/term/x.ipynb"], ["ada"]),
        (["ada/x.ipynb"], ["ada"]),
    ],
)
def test_a_folder_around_the_class_is_stepped_over(
    tmp_path: Path, inside: list[str], who: list[str]
) -> None:
    for name in inside:
        put(tmp_path, name)
    assert students(tmp_path) == who


@given(st.text(max_size=60) | st.from_regex(r"[a-z_]{1,9}(_LATE)?(_\d+){1,3}_[a-z.]+"))
def test_no_name_breaks_the_table(name: str) -> None:
    found = named(name)
    assert found is None or found.student
