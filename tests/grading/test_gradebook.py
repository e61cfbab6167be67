"""nbgrader's gradebook and files, made from records."""

import csv
import os
import shutil
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
import pytest
from commands import CHAPTER
from hypothesis import given
from hypothesis import strategies as st
from judged import EXERCISES, display, executed, record, report, stream, unreadable
from nbconvert.exporters import HTMLExporter
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import CsvExportPlugin
from nbgrader.server_extensions.formgrader import handlers
from sqlalchemy import event
from traitlets.config import Config

from autograder.plugins.gradebook import BATCH, ClassGradebook
from autograder.plugins.names import safe_name
from autograder.plugins.scores import Score, regraded
from autograder.report.outputs import inert
from autograder.usage import UsageError
from autograder.verdict import Verdict

FIRST, SECOND = EXERCISES[:2]
FAULT = report(SECOND, Verdict.GRADER_ERROR, diagnosis="the machine broke")
WRONG = report(SECOND, Verdict.WRONG, 1.0, diagnosis="a hint")


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory, ours: Any) -> Path:
    """A class folder in which the chapter is an assignment, and nothing was graded."""
    folder = tmp_path_factory.mktemp("class") / "a class"
    with ClassGradebook(folder, lambda _: ours) as book:
        book.prepare(CHAPTER)
    return folder


@pytest.fixture
def folder(empty: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(empty, tmp_path / "a class"))


@pytest.fixture
def keep(folder: Path, ours: Any, student: Any) -> Callable[..., None]:
    """Keep records as `course grade` does, each time with a gradebook opened anew."""

    def do(*records: dict[str, Any], outputs: tuple[Any, ...] = (), **more: Any) -> None:
        with ClassGradebook(folder, lambda _: ours) as book:
            for one in records:
                readable = "error" not in one
                book.keep(one, executed(student, one, *outputs) if readable else None, **more)

    return do


@pytest.fixture
def book(folder: Path) -> Iterator[Any]:
    """nbgrader's own view of the gradebook."""
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as opened:
        yield opened


def grade(book: Any, exercise: str, student: str = "ann") -> Any:
    book.db.expire_all()
    return book.find_grade(f"check-{exercise}", CHAPTER, CHAPTER, student)


def comment(book: Any, exercise: str, student: str = "ann") -> Any:
    book.db.expire_all()
    return book.find_comment(exercise, CHAPTER, CHAPTER, student)


def by_hand(book: Any, exercise: str, **columns: Any) -> None:
    """Do what a person does in the formgrader."""
    one = grade(book, exercise)
    for name, value in columns.items():
        setattr(one, name, value)
    book.db.commit()


def submission(book: Any, student: str = "ann") -> Any:
    book.db.expire_all()
    return book.find_submission(CHAPTER, student)


def notebook(folder: Path, step: str, student: str = "ann") -> Any:
    return nbformat.read(folder / step / student / CHAPTER / f"{CHAPTER}.ipynb", as_version=4)


def page(folder: Path, student: str = "ann", chapter: str = CHAPTER) -> str:
    return (folder / "feedback" / student / chapter / f"{chapter}.html").read_text("utf-8")


# What is written


def test_points_of_the_record_stand_in_the_gradebook(keep: Any, book: Any) -> None:
    kept = record(**{SECOND: WRONG})
    keep(kept)
    assert submission(book).score == kept["score"]
    assert submission(book).max_score == kept["max_score"]
    assert not submission(book).needs_manual_grade
    assert [grade(book, one["id"]).auto_score for one in kept["exercises"]] == [
        one["score"] for one in kept["exercises"]
    ]


def test_notebooks_are_valid_and_the_submitted_one_shows_nothing(keep: Any, folder: Path) -> None:
    keep(record(), outputs=(stream("hello"),))
    for step in ("submitted", "autograded"):
        nbformat.validate(notebook(folder, step))
    outputs = [cell.outputs for cell in notebook(folder, "submitted").cells if "outputs" in cell]
    assert not any(outputs)
    assert "hello" in str(notebook(folder, "autograded"))


def test_the_page_is_written(keep: Any, folder: Path) -> None:
    keep(record(**{SECOND: WRONG}))
    assert "a hint" in page(folder)


def snapshot(folder: Path) -> dict[Path, tuple[bytes, int]]:
    return {
        path.relative_to(folder): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file() and path.name != "gradebook.db"
    }


def rows(book: Any) -> list[str]:
    raw = book.engine.raw_connection()
    return list(raw.driver_connection.iterdump())


def test_the_same_records_again_change_nothing(keep: Any, folder: Path, book: Any) -> None:
    records = [record(), unreadable("bea"), record("cy", **{SECOND: FAULT})]
    keep(*records)
    before, kept = snapshot(folder), rows(book)
    keep(*records)
    assert snapshot(folder) == before
    assert rows(book) == kept


def test_a_batch_asks_the_database_no_more_often_than_one(folder: Path, ours: Any) -> None:
    counts = []
    with ClassGradebook(folder, lambda _: ours) as opened:
        for size, first in ((1, "a"), (BATCH - 1, "b")):
            asked: list[str] = []
            note = lambda *given, asked=asked: asked.append(given[2])  # noqa: E731
            event.listen(opened.book.engine, "before_cursor_execute", note)
            for number in range(size):
                opened.keep(record(f"{first}{number}"), None)
            opened.commit()
            event.remove(opened.book.engine, "before_cursor_execute", note)
            counts.append(len(asked))
    assert counts[1] <= counts[0] < 40


def test_what_was_kept_is_written_in_batches(folder: Path, ours: Any, book: Any) -> None:
    with ClassGradebook(folder, lambda _: ours) as opened:
        for number in range(BATCH):
            opened.keep(record(f"s{number}"), None)
        assert len(book.students) == BATCH


# Grading again


def test_a_new_record_replaces_our_points_and_keeps_a_persons(keep: Any, book: Any) -> None:
    keep(record(**{SECOND: WRONG}))
    by_hand(book, SECOND, manual_score=2.5, needs_manual_grade=False)
    by_hand(book, FIRST, extra_credit=0.5)
    comment(book, SECOND).manual_comment = "see me"
    book.db.commit()
    keep(record())
    assert grade(book, SECOND).auto_score == report(SECOND).score
    assert (grade(book, SECOND).manual_score, grade(book, SECOND).score) == (2.5, 2.5)
    assert grade(book, SECOND).needs_manual_grade, "our points changed: a person should look"
    assert grade(book, FIRST).score == report(FIRST).score + 0.5
    assert comment(book, SECOND).comment == "see me"


def test_what_a_person_gave_stands_on_the_page(keep: Any, folder: Path, book: Any) -> None:
    keep(record(**{SECOND: WRONG}))
    by_hand(book, SECOND, manual_score=2.5, needs_manual_grade=False)
    comment(book, SECOND).manual_comment = "<b>see me</b>"
    book.db.commit()
    keep(record(**{SECOND: WRONG}))
    assert "&lt;b&gt;see me" in page(folder)
    won = sum(report(name).score for name in EXERCISES if name != SECOND) + 2.5
    assert f"<b>{won:g}</b> of" in page(folder)
    assert not grade(book, SECOND).needs_manual_grade, "nothing of ours changed"


def test_a_fault_of_the_grader_asks_a_person(keep: Any, folder: Path, book: Any) -> None:
    keep(record(**{SECOND: FAULT}))
    assert grade(book, SECOND).auto_score is None
    assert grade(book, SECOND).needs_manual_grade
    assert "the machine broke" in comment(book, SECOND).comment
    assert "so far" in page(folder)


def test_a_fault_of_the_grader_takes_no_points(keep: Any, folder: Path, book: Any) -> None:
    keep(record())
    keep(record(**{SECOND: FAULT}))
    assert grade(book, SECOND).score == report(SECOND).score
    assert "so far" not in page(folder)
    keep(record(**{SECOND: WRONG}))
    assert grade(book, SECOND).score == WRONG.score
    assert not grade(book, SECOND).needs_manual_grade
    assert comment(book, SECOND).comment is None


def test_a_record_without_exercises_takes_no_points(keep: Any, book: Any) -> None:
    keep(record())
    keep(record() | {"exercises": []})
    assert submission(book).score == record()["score"]
    assert submission(book).needs_manual_grade


points = st.none() | st.floats(0, 5)
reports = st.fixed_dictionaries(
    {"verdict": st.sampled_from(list(Verdict)), "score": st.floats(0, 5)}
)


@given(st.builds(Score, points, points, points, st.booleans()), reports)
def test_no_record_touches_what_a_person_gave(before: Score, new: dict[str, Any]) -> None:
    after = regraded(before, new)
    assert (after.manual, after.extra) == (before.manual, before.extra)
    assert after.known or after.needs_a_person
    if before.manual is not None or new["verdict"] == Verdict.GRADER_ERROR:
        assert after.points == before.points
    assert regraded(after, new) == after, "the same again changes nothing"


# Files that could not be read


def test_an_unreadable_file_gets_zero_and_a_reason(keep: Any, folder: Path, book: Any) -> None:
    keep(unreadable(why="line 3 <b>"))
    assert submission(book).score == 0
    assert not submission(book).needs_manual_grade
    assert "line 3" in comment(book, FIRST).comment
    assert "line 3 &lt;b&gt;" in page(folder)
    assert "line 3 <b>" in notebook(folder, "autograded").cells[0].source
    assert not (folder / "submitted" / "ann" / CHAPTER / f"{CHAPTER}.ipynb").exists()


def test_an_unreadable_file_leaves_no_notebook_of_an_earlier_one(keep: Any, folder: Path) -> None:
    keep(record(), outputs=(stream("an earlier answer"),))
    keep(unreadable())
    assert not (folder / "submitted" / "ann" / CHAPTER / f"{CHAPTER}.ipynb").exists()
    assert "an earlier answer" not in str(notebook(folder, "autograded"))


def test_a_reason_may_hold_any_character(keep: Any, book: Any) -> None:
    keep(unreadable(why="a \x00 and \ud800"))
    assert comment(book, FIRST).comment.endswith("a \ufffd and \ufffd")


def test_what_belongs_to_no_chapter_has_a_page(keep: Any, folder: Path, book: Any) -> None:
    keep(unreadable(why="empty") | {"chapter": "", "exercises": []})
    assert "empty" in page(folder, chapter="unknown_chapter")
    assert book.students == []


# Late submissions


DUE, LATE = datetime(2026, 1, 2), datetime(2026, 1, 3, 4, 5)


@pytest.fixture
def zero_if_late(folder: Path, book: Any) -> None:
    settings = folder / "nbgrader_config.py"
    settings.write_text(
        settings.read_text() + 'c.LateSubmissionPlugin.penalty_method = "zero"\n', encoding="utf-8"
    )
    book.find_assignment(CHAPTER).duedate = DUE
    book.db.commit()


def test_the_late_policy_is_nbgraders(zero_if_late: Any, keep: Any, folder, book) -> None:
    keep(record(), handed_in=LATE)
    score = record()["score"]
    assert submission(book).timestamp == LATE
    assert submission(book).total_seconds_late > 0
    assert submission(book).late_submission_penalty == score
    assert f"{score:g} points were taken off" in page(folder)
    keep(record())
    assert submission(book).late_submission_penalty == score, "the time is known already"


def test_an_extension_is_honoured(zero_if_late: Any, keep: Any, book: Any) -> None:
    keep(record(), handed_in=LATE)
    book.grant_extension(CHAPTER, "ann", days=7)
    keep(record())
    assert submission(book).late_submission_penalty == 0


def test_settings_are_the_instructors(folder: Path, ours: Any) -> None:
    settings = folder / "nbgrader_config.py"
    settings.write_text("c = get_config()\n")
    ClassGradebook(folder, lambda _: ours).close()
    assert settings.read_text() == "c = get_config()\n"
    settings.write_text("nonsense\n")
    with pytest.raises(UsageError, match=r"nbgrader_config.py cannot be used: NameError"):
        ClassGradebook(folder, lambda _: ours)


# nbgrader's own programs


@pytest.fixture
def api(folder: Path) -> NbGraderAPI:
    return NbGraderAPI(CourseDirectory(root=str(folder)))


def test_the_formgrader_lists_what_was_graded(keep: Any, api: NbGraderAPI) -> None:
    wrong = record("cy", **{SECOND: WRONG})
    keep(record(), unreadable("bea"), wrong, handed_in=LATE)
    listed = {one["student"]: one for one in api.get_submissions(CHAPTER)}
    assert list(listed) == ["ann", "bea", "cy"]
    assert all(one["autograded"] and one["submitted"] for one in listed.values())
    assert [one["score"] for one in listed.values()] == [record()["score"], 0, wrong["score"]]
    assert api.get_autograded_students(CHAPTER) == {"ann", "bea", "cy"}
    assert len(api.get_notebook_submissions(CHAPTER, CHAPTER)) == 3
    assert api.get_assignment(CHAPTER)["num_submissions"] == 3
    assert api.get_student("cy")["score"] == wrong["score"]


HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">'


def formgraded(folder: Path, student: str = "ann") -> str:
    """Render an autograded notebook as the formgrader does."""
    settings = Config()
    settings.HTMLExporter.template_name = "formgrade"
    settings.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    names = dict.fromkeys(("base_url", "student", "submission_id", "first_name", "last_name"), "x")
    resources = names | {
        "assignment_id": CHAPTER, "notebook_id": CHAPTER, "index": 0, "total": 1,
        "notebook_path": "x",
    }  # fmt: skip
    path = folder / "autograded" / student / CHAPTER / f"{CHAPTER}.ipynb"
    html, _ = HTMLExporter(config=settings).from_filename(str(path), resources=resources)
    return str(html)


@pytest.mark.filterwarnings("ignore")  # of the formgrader's own template
def test_the_formgrader_shows_the_judges_table_and_runs_nothing(keep: Any, folder: Path) -> None:
    page_of = display(text_html=HOSTILE, image_svg_xml=HOSTILE, text_plain="a picture")
    keep(record(**{SECOND: WRONG}), unreadable("bea", HOSTILE), outputs=(page_of,))
    html = formgraded(folder)
    assert "<th>holds?</th>" in html
    assert f'id="check-{FIRST}"' in html, "the field for points"
    assert f'id="{FIRST}-comment"' in html, "the field for a comment"
    assert HOSTILE not in html
    assert HOSTILE not in formgraded(folder, "bea")
    assert f'id="check-{FIRST}"' in formgraded(folder, "bea")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "text", [HOSTILE, "[x](javascript:alert(1))", "$\\href{javascript:alert(1)}{x}$", "<!-- x"]
)
def test_markdown_of_a_student_is_shown_as_typed(text: str) -> None:
    cell = {"cell_type": "markdown", "metadata": {}, "source": f"a\n\n{text}\n"}
    made = nbformat.from_dict({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (done,) = inert(made)["cells"]
    assert all(line.startswith("    ") for line in done["source"].splitlines() if line)
    assert inert(made, {cell["source"]})["cells"] == [cell]


def test_grades_csv_is_what_nbgrader_would_export(keep: Any, folder, book, ours, student) -> None:
    keep(record(), record("cy", **{SECOND: FAULT}), unreadable("bea"), handed_in=LATE)
    book.add_student("didn't hand in", first_name="D", email="d@example.org")
    with ClassGradebook(folder, lambda _: ours) as opened:
        path = opened.export()
    CsvExportPlugin(to=str(folder / "theirs.csv")).export(book)
    texts = [one.read_text("utf-8") for one in (path, folder / "theirs.csv")]
    read = [sorted(csv.reader(text.splitlines())) for text in texts]
    assert read[0] == read[1]
    assert len(read[0]) == 5


# Names, folders, other versions


@pytest.mark.parametrize("name", ["..", ".", "", "../../x", "a\nb", "x" * 300, "\ud800", "é*?"])
def test_no_name_leaves_the_folder(keep: Any, folder: Path, book: Any, name: str) -> None:
    keep(record(name))
    kept = safe_name(name)
    assert (folder / "autograded" / kept / CHAPTER / f"{CHAPTER}.ipynb").is_file()
    assert [one.id for one in book.students] == [kept]


@given(st.text(), st.text())
def test_safe_names_are_safe_and_tell_students_apart(one: str, other: str) -> None:
    kept = safe_name(one)
    assert kept.encode()
    assert len(kept.encode()) <= 107
    assert not set(kept) & set("[]*?{}+,\"'\\/:<>|\n\0")
    assert kept not in (".", "..")
    assert safe_name(kept) == kept or kept != one
    assert (safe_name(other) == kept) == (one == other)


def test_a_folder_that_nbgrader_takes_for_a_pattern_is_refused(tmp_path: Path, ours: Any) -> None:
    with pytest.raises(UsageError, match=r"one of \[ \] \* \?"):
        ClassGradebook(tmp_path / "a[1]", lambda _: ours)


def test_marks_of_another_version_are_not_overwritten(keep: Any, folder: Path, ours: Any) -> None:
    keep(record())
    fewer = nbformat.from_dict({**ours, "cells": [c for c in ours.cells if FIRST not in c.source]})
    with (
        ClassGradebook(folder, lambda _: fewer) as opened,
        pytest.raises(UsageError, match="holds marks for another version"),
    ):
        opened.prepare(CHAPTER)


def test_a_database_that_cannot_be_reached_is_named(tmp_path: Path, ours: Any) -> None:
    url = "postgresql://me:secret@127.0.0.1:1/class"
    with pytest.raises(UsageError, match=r"PostgreSQL database class on 127\.0\.0\.1") as told:
        ClassGradebook(tmp_path, lambda _: ours, url)
    assert "secret" not in str(told.value)


def test_a_gradebook_on_a_server_may_share_its_database(
    tmp_path: Path, ours: Any, student: Any
) -> None:
    url = os.environ.get("COURSE_TEST_DB")
    if not url:
        pytest.skip("COURSE_TEST_DB names no PostgreSQL database")
    names = [f"{prefix}{os.getpid()}" for prefix in ("ann", "bea")]
    for _ in range(2):
        with ClassGradebook(tmp_path, lambda _: ours, url) as opened:
            for name in names:
                opened.keep(record(name), executed(student, record(name)))
    with ClassGradebook(tmp_path, lambda _: ours, url) as opened:
        found = [opened.book.find_submission(CHAPTER, name).score for name in names]
        assert found == [record()["score"]] * 2
        assert opened.book.engine.dialect.name == "postgresql"
