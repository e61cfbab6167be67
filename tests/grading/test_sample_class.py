"""`course grade` on the sample class: the verdict in each name, the hint of each mistake."""

import csv
import json
import sqlite3
from pathlib import Path

import nbformat
import pytest
import sample_class
from commands import CHAPTER, Graded

from autograder.catalogue import exercise
from autograder.spec import hint_of
from autograder.verdict import Verdict
from autograder.zygotes import best_tier

pytestmark = pytest.mark.slow

SAMPLES = {path.stem: path for path in sample_class.samples()}
HINTS = {name: sample_class.hint_wanted(path) for name, path in SAMPLES.items()}
MISTAKES = {name: hint for name, hint in HINTS.items() if hint}


def test_the_class_is_large_enough() -> None:
    verdicts = [name.split("__")[1] for name in SAMPLES]
    assert verdicts.count("pass") >= 4
    assert len(MISTAKES) >= 8


def test_the_batch_ends_well(graded: Graded) -> None:
    assert graded.status == 0, graded.stderr
    assert f"[{len(SAMPLES)}/{len(SAMPLES)}]" in graded.stderr
    assert "Traceback" not in graded.stdout + graded.stderr
    assert "0 grader errors" in graded.stdout


def test_records_say_in_which_sandbox_and_stand_in_order(graded: Graded) -> None:
    records = json.loads((graded.out / "results.json").read_text(encoding="utf-8"))
    assert [one["student"] for one in records] == sorted(SAMPLES)
    assert {one["sandbox"] for one in records} == {best_tier()}
    readable = [one for one in records if one["chapter"]]
    versions = {(one["chapter"], one["version"]) for one in readable}
    assert len(versions) == len({one["chapter"] for one in readable})  # one for each chapter
    assert {len(version) for _, version in versions} == {12}
    assert all(len(one["submission"]) == 64 for one in records)


@pytest.mark.parametrize("name", SAMPLES)
def test_each_gets_the_verdict_in_its_name(graded: Graded, name: str) -> None:
    record, wanted = graded.record(name), name.split("__")[1].replace("_", " ")
    verdicts = {one["verdict"] for one in record["exercises"]} - {"pass"}
    if wanted == "unreadable":
        assert "line 4 column 1" in record["error"]
        assert (record["score"], record["max_score"]) == (0, 20)
        return
    assert "error" not in record
    assert verdicts == ({wanted} - {"pass"})
    assert (record["score"] == record["max_score"]) == (wanted == "pass")


@pytest.mark.parametrize("name", MISTAKES)
def test_each_known_mistake_is_named(graded: Graded, name: str) -> None:
    spec_id, mistake = MISTAKES[name].split(".")
    spec = exercise(spec_id)
    hint = hint_of(next(one for one in spec.mistakes if one.__name__ == mistake))
    found = next(one for one in graded.record(name)["exercises"] if one["id"] == spec_id)
    assert found["diagnosis"] in (f"Likely cause: {hint}", f"Possible cause: {hint}")
    others = [one for one in graded.record(name)["exercises"] if one["id"] != spec_id]
    assert all(one["verdict"] == Verdict.PASS for one in others)


def test_notes_say_what_was_repaired(graded: Graded) -> None:
    assert "homework (1).ipynb" in graded.record("renamed__pass")["notes"][0]
    assert len(graded.record("no_checks__pass")["notes"]) == 6
    assert "its id was gone" in graded.record("no_metadata__pass")["notes"][0]


def test_a_syntax_error_is_told_with_its_line(graded: Graded) -> None:
    found = graded.record("syntax_error__exception")["exercises"][-1]
    assert "line 2 of the cell" in found["diagnosis"]


def test_the_gradebook_holds_the_same_points(graded: Graded) -> None:
    with (graded.out / "grades.csv").open() as table:
        rows = list(csv.DictReader(table))
    marks = {(row["student_id"], row["assignment"]): float(row["score"]) for row in rows}
    for name, path in SAMPLES.items():
        assert marks[name, path.parent.name] == graded.record(name)["score"]


def test_nothing_waits_for_a_person(graded: Graded) -> None:
    with sqlite3.connect(graded.out / "gradebook.db") as book:
        waiting = book.execute("select count(*) from grade where needs_manual_grade").fetchone()
    book.close()
    assert waiting == (0,)


def test_the_folder_is_an_nbgrader_course(graded: Graded) -> None:
    name = f"{CHAPTER}/{CHAPTER}"
    for path in (
        f"source/{name}.ipynb",
        f"release/{name}.ipynb",
        f"submitted/einsum__pass/{name}.ipynb",
        f"autograded/einsum__pass/{name}.ipynb",
        f"feedback/einsum__pass/{name}.html",
        "nbgrader_config.py",
        "seed.txt",
        "summary.txt",
    ):
        assert (graded.out / path).is_file(), path


def test_handed_out_and_kept_notebooks_are_valid(graded: Graded) -> None:
    for path in graded.out.glob("*/*/*/*.ipynb"):
        nbformat.validate(nbformat.read(path, as_version=4))


def test_the_seed_is_secret_and_kept(graded: Graded) -> None:
    seed = (graded.out / "seed.txt").read_text().strip()
    assert len(seed) == 32
    assert seed not in graded.stdout + graded.stderr
    assert not any(seed in Path(page).read_text() for page in graded.out.glob("feedback/*/*/*"))
