"""Submissions are found wherever students put them."""

import json
from pathlib import Path

from autograder.classroom import Entry, entries

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
    (tmp_path / "ann" / "hw.py").write_text("x = 1", encoding="utf-8")
    (tmp_path / "__MACOSX").mkdir()
    (one,) = entries(tmp_path, [])
    assert one.notes == ("no notebook was found in the student's folder (there is hw.py)",)


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
