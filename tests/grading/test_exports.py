"""Final marks as files for learning platforms."""

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from commands import CHAPTER
from hypothesis import given
from hypothesis import strategies as st
from judged import EXERCISES, executed, record, report, unreadable

from autograder.cli.export import export
from autograder.exports.canvas import canvas
from autograder.exports.gradescope import gradescope
from autograder.exports.mark import Export, Mark
from autograder.exports.moodle import moodle
from autograder.exports.plain import plain
from autograder.exports.roster import Roster, match, read_roster
from autograder.plugins.gradebook import ClassGradebook
from autograder.usage import UsageError
from autograder.verdict import Verdict

ANN = Mark("ann", "02_x", {"softmax": 4.0, "loss": 1.5}, 8.0)
BEA = Mark("bea", "02_x", {"softmax": 4.0, "loss": None}, 8.0)
LATE = Mark("cy", "02_x", {"softmax": 4.0, "loss": 4.0}, 8.0, penalty=1.25)
ALL = [ANN, BEA, LATE]


def rows(export: Export, encoding: str = "utf-8") -> list[dict[str, str]]:
    (data,) = export.files.values()
    return list(csv.DictReader(io.StringIO(data.decode(encoding), newline="")))


def roster(text: str, tmp_path: Path) -> Roster:
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    return read_roster(path)


# Plain


def test_plain_has_a_row_for_each_submission_and_a_column_for_each_exercise() -> None:
    other = Mark("ann", "03_y", {"mask": 2.0}, 2.0)
    found = rows(plain([other, *ALL]), "utf-8-sig")
    assert [(row["student"], row["chapter"]) for row in found] == [
        ("ann", "02_x"), ("ann", "03_y"), ("bea", "02_x"), ("cy", "02_x"),
    ]  # fmt: skip
    assert [row["total"] for row in found] == ["5.5", "2", "", "6.75"]
    assert found[0]["softmax"] == "4"
    assert found[0]["mask"] == ""
    assert found[3]["late penalty"] == "1.25"


def test_open_marks_are_left_out_and_told() -> None:
    for made in (plain(ALL), canvas(ALL, None), moodle(ALL, None), gradescope(ALL, [])):
        assert made.notes == ["bea, 02_x: left out, loss waits for your points"]


@given(st.text(min_size=1))
def test_no_name_is_a_formula(name: str) -> None:
    mark = Mark(name, "02_x", {"a": 1.0}, 1.0)
    data = plain([mark]).files["exercises.csv"].decode("utf-8-sig", "replace")
    _, row = csv.reader(io.StringIO(data, newline=""))
    assert row[0][0] not in "=+-@\t\r"
    written = name.encode("utf-8", "replace").decode()
    assert row[0] in (written, f"'{written}")


# Rosters


def test_students_are_found_by_any_name_of_theirs(tmp_path: Path) -> None:
    text = (
        "First name,Last name,ID number,Email address\n"
        "Ann,Özil,17,a.ozil@example.org\nBea,Doe,18,bea@example.org\n"
    )
    found = roster(text, tmp_path)
    for name in ("ann özil", "Özil, Ann", "17", "a.ozil", "A.OZIL@example.org", "Ann  O\u0308zil"):
        assert match([name], found).line_of == {name: 0}


def test_what_is_not_certain_is_told(tmp_path: Path) -> None:
    found = match(
        ["ann", "17", "bo", "dee"],
        roster("username,ID number\nann,17\nbo,18\nbo,19\n", tmp_path),
    )
    assert found.line_of == {}
    assert found.notes == [
        "bo is on the roster twice: left out",
        "dee is not on the roster: left out",
        "ann and 17 are one line of the roster: left out",
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_roster_is_read_as_platforms_write_it(
    tmp_path: Path, encoding: str, separator: str
) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes(f"Name{separator}Username\r\nÉve{separator}eve\r\n".encode(encoding))
    assert read_roster(path).lines == [{"Name": "Éve", "Username": "eve"}]


@pytest.mark.parametrize("text", ["", "colour,size\nred,3\n"])
def test_a_file_that_is_no_roster_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="no column that says who a student is"):
        roster(text, tmp_path)
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_roster(tmp_path / "none.csv")


# Canvas

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,02_x (991),Quiz (2),Final Score\n"
    "    Points Possible,,,,,8,10,(read only)\n"
    '"Doe, Ann",501,S1,ann,A,,7,3\n"Lee, Cy",502,S2,cy@example.org,A,,8,3\n'
)


def lines(export: Export) -> list[list[str]]:
    (data,) = export.files.values()
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


def test_canvas_gets_its_own_columns_first_then_the_points_possible() -> None:
    header, most, *students = lines(canvas(ALL, None))
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "02_x"]
    assert "Points Possible" in most[0]
    assert most[1:] == ["", "", "", "", "8"]
    assert students == [
        ["ann", "", "", "ann", "", "5.5"],
        ["bea", "", "", "bea", "", ""],
        ["cy", "", "", "cy", "", "6.75"],
    ]


def test_canvas_finds_students_and_its_assignment_by_the_roster(tmp_path: Path) -> None:
    made = canvas(ALL, roster(CANVAS, tmp_path))
    header, _, *students = lines(made)
    assert header[5:] == ["02_x (991)"]
    assert students == [
        ["Doe, Ann", "501", "S1", "ann", "A", "5.5"],
        ["Lee, Cy", "502", "S2", "cy@example.org", "A", "6.75"],
    ]
    assert "bea is not on the roster: left out" in made.notes


def test_canvas_keeps_ids_that_look_like_formulas_and_says_so(tmp_path: Path) -> None:
    text = "Student,ID,SIS User ID,SIS Login ID,Section\n=Ann,1,,+ann,A\n"
    made = canvas([Mark("+ann", "02_x", {"a": 1.0}, 1.0)], roster(text, tmp_path))
    assert lines(made)[2][:4] == ["'=Ann", "1", "", "+ann"]
    assert any("'+ann' begins like a formula" in note for note in made.notes)


# Moodle

WORKSHEET = (
    "Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,"
    "Last modified (grade),Feedback comments\n"
    'Participant 7,Ann Doe,17,ann@example.org,Submitted,,{most},"Monday, 3 March 2025, 9:00 AM",\n'
    "Participant 8,Dee Poe,18,dee@example.org,No submission,3.00,{most},-,hello\n"
)


def test_a_moodle_worksheet_is_filled_in_and_else_left_alone(tmp_path: Path) -> None:
    sheet = roster(WORKSHEET.format(most="8.00"), tmp_path)
    made = moodle([ANN], sheet)
    assert list(made.files) == ["moodle-worksheet.csv"]
    expected = [dict(line) for line in sheet.lines]
    expected[0]["Grade"] = "5.5"
    assert rows(made) == expected
    assert made.notes == []


def test_another_maximum_in_moodle_is_told(tmp_path: Path) -> None:
    made = moodle([ANN], roster(WORKSHEET.format(most="100.00"), tmp_path))
    assert made.notes == ["Moodle's maximum grade is 100.00, ours is 8: set it to that"]


def test_a_worksheet_is_of_one_assignment(tmp_path: Path) -> None:
    other = Mark("ann", "03_y", {"a": 1.0}, 1.0)
    with pytest.raises(UsageError, match=r"add --chapter 02_x\|03_y"):
        moodle([ANN, other], roster(WORKSHEET.format(most="8"), tmp_path))


def test_moodle_grades_are_imported_by_the_names_of_its_participants(tmp_path: Path) -> None:
    people = "First name,Last name,ID number,Email address,Groups\nAnn,Doe,17,ann@example.org,g\n"
    assert rows(moodle(ALL, None))[0] == {"username": "ann", "02_x": "5.5"}
    assert rows(moodle([ANN], roster(people, tmp_path))) == [
        {
            "First name": "Ann",
            "Last name": "Doe",
            "ID number": "17",
            "Email address": "ann@example.org",
            "02_x": "5.5",
        }
    ]


# Gradescope


def test_gradescope_gets_what_its_autograders_write() -> None:
    kept = record("ann", **{EXERCISES[1]: report(EXERCISES[1], Verdict.WRONG, 1.0)})
    points = {one["id"]: one["score"] for one in kept["exercises"]}
    mark = Mark("ann", CHAPTER, points, kept["max_score"], penalty=2.0)
    made = gradescope([mark], [("ann", kept), ("bea", record("bea"))])
    ((path, data),) = made.files.items()
    assert path == f"gradescope/ann/{CHAPTER}/results.json"
    found = json.loads(data)
    assert found["score"] == kept["score"] - 2
    assert [one["name"] for one in found["tests"]] == EXERCISES
    assert {one["status"] for one in found["tests"]} == {"passed", "failed"}
    assert sum(one["score"] for one in found["tests"]) == kept["score"]
    assert found["stdout_visibility"] == "hidden"
    assert "2 points were taken off" in found["output"]
    assert "0.5 is 0.25 away" in found["tests"][1]["output"]


# The command


@pytest.fixture(scope="module")
def graded_class(tmp_path_factory: pytest.TempPathFactory, ours: Any, student: Any) -> Path:
    folder = tmp_path_factory.mktemp("export") / "class"
    fault = report(EXERCISES[1], Verdict.GRADER_ERROR, diagnosis="it broke")
    records = [record("=ann, the *"), unreadable("bea"), record("cy", **{EXERCISES[1]: fault})]
    with ClassGradebook(folder, lambda _: ours) as book:
        for one in records:
            book.keep(one, None if "error" in one else executed(student, one))
        book.commit()
        one = book.book.find_grade(f"check-{EXERCISES[0]}", CHAPTER, CHAPTER, "bea")
        one.manual_score = 1.0
        book.book.db.commit()
    (folder / "results.json").write_text(json.dumps(records), encoding="utf-8")
    return folder


@pytest.mark.parametrize("to", ["canvas", "moodle", "csv", "gradescope"])
def test_the_command_writes_files_and_tells_what_is_missing(graded_class: Path, to: str) -> None:
    made = export(graded_class, to)
    assert any(f"cy, {CHAPTER}: left out" in note for note in made.notes)
    for name, data in made.files.items():
        assert (graded_class / "exports" / name).read_bytes() == data


def test_marks_are_final_and_students_called_as_they_are(graded_class: Path) -> None:
    found = {row["student"]: row for row in rows(export(graded_class, "csv"), "utf-8-sig")}
    assert list(found) == ["'=ann, the *", "bea", "cy"]
    assert found["bea"]["total"] == "1", "a person's points, though the file was unreadable"
    assert found["cy"]["total"] == ""


def test_a_folder_without_a_gradebook_is_named(tmp_path: Path, graded_class: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no gradebook\.db"):
        export(tmp_path, "csv")
    assert not (tmp_path / "gradebook.db").exists()
    with pytest.raises(UsageError, match="holds no marks of 09_z"):
        export(graded_class, "csv", chapter="09_z")


def test_without_records_names_are_those_of_the_gradebook(
    graded_class: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(graded_class, tmp_path / "class"))
    (copy / "results.json").unlink()
    names = [row["student"] for row in rows(export(copy, "csv"), "utf-8-sig")]
    assert len(names) == 3
    assert "bea" in names
    with pytest.raises(UsageError, match=r"results\.json is missing"):
        export(copy, "gradescope")
