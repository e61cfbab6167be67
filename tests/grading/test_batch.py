"""Grading a class: records first, nothing twice, and a gradebook that follows from the records."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from commands import CHAPTER
from judged import executed, record

from autograder import batch
from autograder.batch import Class
from autograder.classwork import Work
from autograder.jobs import Done, Job, Settings
from autograder.plugins.gradebook import ClassGradebook
from autograder.records import Records

STUDENTS = ("ann", "ben", "cem")
SETTINGS = Settings("a seed", "namespaces", {}, {CHAPTER: "0123456789ab"})
ONE: Callable[[], Executor] = partial(ThreadPoolExecutor, 1)
HANDED = datetime(2026, 11, 29, 12, 30)


class Book:
    """A gradebook that keeps what it is given, until it is full."""

    def __init__(self, room: int = 1000) -> None:
        self.kept: dict[str, tuple[dict[str, Any], Any, datetime | None]] = {}
        self.room = room
        self.commits = 0

    def keep(
        self,
        record: dict[str, Any],
        notebook: Mapping[str, Any] | None,
        handed_in: datetime | None = None,
    ) -> None:
        if len(self.kept) == self.room:
            raise OSError("the disk is full")
        self.kept[record["student"]] = (record, notebook, handed_in)

    def known_as(self, student: str) -> str:
        return student.replace(",", "_")

    def commit(self) -> None:
        self.commits += 1


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch, student: Any) -> list[str]:
    """Whose work was graded so far, by a judge that gives all points."""
    names: list[str] = []

    def work(settings: Settings, job: Job) -> Done:
        names.append(job.student)
        made = record(job.student) | {
            "submission": job.digest,
            "version": settings.versions[job.chapter],
            "seed_id": settings.seed_id,
        }
        return Done(made, json.dumps(executed(student, made)))

    monkeypatch.setattr(batch, "work", work)
    return names


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    with Records.in_file(tmp_path / "records.db") as opened:
        yield opened


@pytest.fixture
def work(tmp_path: Path) -> Work:
    jobs = []
    for name in STUDENTS:
        path = tmp_path / f"{name}.ipynb"
        path.write_text(name)
        digest = hashlib.sha256(name.encode()).hexdigest()
        jobs.append(Job(name, CHAPTER, str(path), digest=digest, handed=HANDED))
    return Work(tuple(jobs), SETTINGS)


def run(group: Class) -> tuple[int, list[str]]:
    """Do as `course grade` does; say how many were there, and who was graded."""
    return group.take_up(), [result.student for result in group.grade(ONE, 2)]


def current(group: Class) -> list[str]:
    return [result.student for result in group.results()]


def test_each_result_is_on_record_and_in_the_gradebook(work, records, graded) -> None:
    book = Book()
    there, done = run(Class(work, records, book))
    assert (there, sorted(done)) == (0, [*STUDENTS])
    assert current(Class(work, records, book)) == [*STUDENTS]
    for stored in records.current():
        kept, notebook, handed = book.kept[stored.key.student]
        assert (kept, handed) == (stored.record, HANDED)
        assert notebook == json.loads(records.notebook(stored.id))
    assert book.commits


def test_a_name_that_the_gradebook_changes_is_told(work, records, graded) -> None:
    renamed = replace(work.jobs[0], student="O'Brien, Ann")
    group = Class(Work((renamed,), work.settings), records, Book())
    (job,) = group.keys.values()
    assert job.notes[-1] == "called O'Brien_ Ann in grades.csv and feedback/"


def test_results_stand_in_the_students_order_whoever_was_first(work, records, graded) -> None:
    backwards = Work(work.jobs[::-1], work.settings)
    assert run(Class(backwards, records, Book()))[1] == [*STUDENTS[::-1]]
    assert current(Class(backwards, records, Book())) == [*STUDENTS]


def test_grading_again_grades_nothing_and_changes_nothing(work, records, graded) -> None:
    run(Class(work, records, Book()))
    before, rows = records.digest(), [records.history(name, CHAPTER) for name in STUDENTS]
    book = Book()
    assert run(Class(work, records, book)) == (len(STUDENTS), [])
    assert sorted(graded) == [*STUDENTS]
    assert records.digest() == before
    assert [records.history(name, CHAPTER) for name in STUDENTS] == rows
    assert sorted(book.kept) == [*STUDENTS], "an earlier run may have been killed before this"


def test_a_gradebook_that_fails_costs_no_grading(work, records, graded) -> None:
    with pytest.raises(OSError, match="the disk is full"):
        run(Class(work, records, Book(room=1)))
    recorded = [stored.key.student for stored in records.current()]
    assert len(recorded) == 2, "the record was there before the gradebook failed"
    graded.clear()
    book = Book()
    there, done = run(Class(work, records, book))
    assert there == 2
    assert sorted([*recorded, *done]) == sorted(book.kept) == [*STUDENTS]
    assert sorted(graded) == sorted(done)


@pytest.mark.parametrize(
    "changed",
    [replace(SETTINGS, seed="another seed"), replace(SETTINGS, versions={CHAPTER: "ba9876543210"})],
    ids=["seed", "version"],
)
def test_a_new_seed_or_version_grades_anew_and_keeps_the_old(
    work, records, graded, changed: Settings
) -> None:
    run(Class(work, records, Book()))
    anew = Class(Work(work.jobs, changed), records, Book())
    assert run(anew)[1] == [*STUDENTS]
    assert len(graded) == 2 * len(STUDENTS)
    for name in STUDENTS:
        old, new = records.history(name, CHAPTER)
        assert old.key != new.key
        assert new.key == next(key for key in anew.keys if key.student == name)
    assert current(anew) == [*STUDENTS]
    back = Class(work, records, Book())
    assert run(back) == (len(STUDENTS), []), "the first seed again: its results stand again"
    assert current(back) == [*STUDENTS]
    assert current(anew) == []


def test_other_bytes_are_graded_and_the_rest_is_not(work, records, graded) -> None:
    run(Class(work, records, Book()))
    graded.clear()
    path = Path(work.jobs[1].path)
    path.write_text("something new")
    changed = replace(work.jobs[1], digest=hashlib.sha256(path.read_bytes()).hexdigest())
    later = Work((work.jobs[0], changed, work.jobs[2]), SETTINGS)
    there, done = run(Class(later, records, Book()))
    assert (there, done, graded) == (2, ["ben"], ["ben"])
    assert len(records.history("ben", CHAPTER)) == 2


def test_work_that_fails_each_time_is_a_grader_error_and_is_graded_again(
    work, records, graded, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = batch.work

    def fails(settings: Settings, job: Job) -> Done:
        if job.student == "ben":
            raise OSError("the machine broke")
        return honest(settings, job)

    monkeypatch.setattr(batch, "work", fails)
    group = Class(work, records, Book())
    assert sorted(run(group)[1]) == [*STUDENTS]
    (ben,) = [result for result in group.results() if result.student == "ben"]
    assert {one.verdict for one in ben.reports} == {"grader error"}
    assert "the machine broke" in ben.reports[0].diagnosis
    monkeypatch.setattr(batch, "work", honest)
    assert run(Class(work, records, Book())) == (2, ["ben"])


@pytest.mark.slow
def test_gradebook_files_and_pages_follow_from_the_records_byte_by_byte(
    work, records, graded, tmp_path: Path, ours: Any
) -> None:
    def taken_up(out: Path, *, grade: bool) -> dict[str, bytes]:
        with ClassGradebook(out, lambda _: ours) as book:
            there, done = run(Class(work, records, book))
            assert (there, len(done)) == ((0, len(STUDENTS)) if grade else (len(STUDENTS), 0))
            book.export()
        files = [path for path in out.rglob("*") if path.is_file() and path.suffix != ".log"]
        return {path.relative_to(out).as_posix(): path.read_bytes() for path in files}

    first = taken_up(tmp_path / "out", grade=True)
    assert taken_up(tmp_path / "out", grade=False) == first, "the database, too"
    elsewhere = taken_up(tmp_path / "other", grade=False)
    database = {"gradebook.db"}  # holds random ids and the folder's name
    assert first.keys() == elsewhere.keys()
    assert {n for n in first if first[n] != elsewhere[n]} <= database
