"""`course progress`."""

import json

from autograder.catalogue import exercises
from autograder.cli import BAD_USAGE, OK, main
from autograder.progress.journal import write_entry
from autograder.progress.place import VARIABLE


def test_before_the_first_check_it_says_where_points_will_go(kept, capsys):
    assert main(["progress"]) == OK
    out = capsys.readouterr().out
    first = next(iter(exercises()))
    assert f"Next: {first}, about" in out
    assert f"Nothing is kept yet. A check in a notebook writes its points to {kept}" in out


def test_points_minutes_and_what_is_next(kept, capsys):
    everything = exercises()
    for one in everything.values():
        if one.chapter == "01_why_attention":
            write_entry(kept, one.id, one.points)
    assert main(["progress"]) == OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("01_why_attention")
    assert lines[0].endswith("done")
    assert "It is in 02_scaled_dot_product." in lines[-3]
    assert lines[-1] == f"From {kept}; delete it to start afresh."


def test_the_record(kept, capsys):
    write_entry(kept, "softmax", 2.5)
    assert main(["progress", "--json"]) == OK
    record = json.loads(capsys.readouterr().out)
    assert [*record] == [
        "file", "damaged", "points", "max_points", "minutes_left", "next", "chapters",
    ]  # fmt: skip
    assert (record["file"], record["points"]) == (str(kept), 2.5)
    assert [row["id"] for one in record["chapters"] for row in one["exercises"]] == [*exercises()]
    second = record["chapters"][1]
    assert (second["chapter"], second["points"]) == ("02_scaled_dot_product", 2.5)


def test_a_damaged_line_is_named_and_the_rest_counts(kept, capsys):
    write_entry(kept, "softmax", 4)
    kept.write_text(kept.read_text() + "{half")
    assert main(["progress"]) == OK
    told = capsys.readouterr()
    assert " 4 of 4" in told.out
    assert "line 3 of" in told.err
    assert "Delete it there, or the file" in told.err
    assert main(["progress", "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["damaged"] == [3]


def test_a_file_that_cannot_be_read_is_bad_usage(kept, capsys):
    kept.mkdir()
    assert main(["progress"]) == BAD_USAGE
    assert f"cannot read {kept}" in capsys.readouterr().err


def test_where_nothing_is_kept_it_says_so(monkeypatch, capsys):
    monkeypatch.setenv(VARIABLE, "")
    assert main(["progress"]) == BAD_USAGE
    assert f"{VARIABLE} is set to nothing" in capsys.readouterr().err
