"""Records are only ever added to, once for each key, by any number of processes."""

import math
import multiprocessing
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import record_race
import sqlalchemy as sa
from databases import fresh_postgres
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.records import Key, Records
from autograder.records.schema import TABLES
from autograder.usage import UsageError

BOTH = pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def url(kind, tmp_path) -> Iterator[str]:
    """The address of an empty database."""
    if kind == "sqlite":
        yield f"sqlite:///{tmp_path}/records of a class.db"
    else:
        with fresh_postgres() as address:
            yield address


@pytest.fixture
def records(url) -> Iterator[Records]:
    with Records.open(url) as opened:
        yield opened


@pytest.fixture
def in_file(tmp_path) -> Iterator[Records]:
    with Records.in_file(tmp_path / "records.db") as opened:
        yield opened


def record(verdict: str = "pass", score: float = 3.0, seconds: float = 0.1) -> dict[str, Any]:
    exercise = {"id": "softmax", "verdict": verdict, "score": score, "max_score": 4.0}
    return {"score": score, "max_score": 4.0, "seconds": seconds, "exercises": [exercise]}


def key(student: str = "ann", submission: str = "a", version: str = "v") -> Key:
    return Key(student, "02_toys", submission, version, "s")


# One final result for each key


@BOTH
def test_a_final_result_is_added_once_and_a_grader_error_gives_way(records):
    assert records.missing([key()]) == {key()}
    assert records.add(key(), record("grader error", 0.0), "first")
    assert records.missing([key()]) == {key()}
    assert records.add(key(), record("wrong"), "second")
    assert records.missing([key(), key("bo")]) == {key("bo")}
    assert not records.add(key(), record(), "third")
    assert not records.add(key(), record("grader error"), "fourth")
    assert [one.verdict for one in records.history("ann", "02_toys")] == ["grader error", "wrong"]
    (current,) = records.current()
    assert (current.key, current.verdict, current.score) == (key(), "wrong", 3.0)
    assert current.record == record("wrong")
    assert records.notebook(current.id) == "second"


@BOTH
def test_a_grader_error_that_another_process_adds_late_does_not_count(records, monkeypatch):
    records.add(key(), record("wrong"), "")
    monkeypatch.setattr("autograder.records.store._is_graded", lambda *_: False)
    assert records.add(key(), record("grader error"), "")
    assert [one.verdict for one in records.current()] == ["wrong"]


KEYS = [key(who, what) for who in ("ann", "bo") for what in "abc"]
acts = st.tuples(st.sampled_from(KEYS), st.sampled_from(["pass", "wrong", "grader error", "stand"]))


@given(acts=st.lists(acts, max_size=25), together=st.integers(1, 4))
@settings(max_examples=25)
def test_the_current_result_is_that_of_the_key_that_came_last(tmp_path_factory, acts, together):
    """Compare with a few lines of Python that keep everything in lists."""
    rows: list[tuple[Key, str]] = []
    stands: dict[str, Key] = {}
    with Records.in_file(tmp_path_factory.mktemp("model") / "records.db") as records:
        for who, what in acts:
            graded = (who, "pass") in rows or (who, "wrong") in rows
            stands[who.student] = who
            if what == "stand":
                records.stand([who])
                continue
            assert records.add(who, record(what), "") == (not graded)
            rows += [] if graded else [(who, what)]
        final = {who for who, what in rows if what != "grader error"}
        assert records.missing(KEYS) == set(KEYS) - final
        counting = [[what for who, what in rows if who == stands[student]] for student in stands]
        current = sorted(one.verdict for one in records.current())
        assert current == sorted(whats[-1] for whats in counting if whats)
        assert sum(len(records.history(who, "02_toys")) for who in ("ann", "bo")) == len(rows)


@BOTH
def test_an_earlier_file_handed_in_again_counts_again(records):
    records.add(key(submission="a"), record("pass", 4.0), "")
    records.add(key(submission="b"), record("wrong", 1.0), "")
    assert [one.score for one in records.current()] == [1.0]
    assert records.missing([key(submission="a")]) == set()
    assert records.stand([key(submission="a")]) == 1
    assert [one.score for one in records.current()] == [4.0]
    assert records.stand([key(submission="a")]) == 0
    assert len(records.history("ann", "02_toys")) == 2


@BOTH
def test_other_checks_or_another_seed_are_another_key(records):
    keys = [key(version="v"), key(version="w"), key()._replace(seed_id="t")]
    assert records.add_many((one, record(), "") for one in keys) == 3
    assert [one.key for one in records.current()] == [keys[-1]]


@BOTH
def test_processes_that_open_an_empty_database_together_add_each_result_once(url):
    with ProcessPoolExecutor(4, mp_context=SPAWN) as pool:
        at = time.time() + 5
        added = list(pool.map(record_race.add_all, [url] * 4, [at] * 4))
    assert sum(added) == len(record_race.KEYS)
    with Records.open(url) as records:
        assert sorted(one.key for one in records.current()) == sorted(record_race.KEYS)


@BOTH
def test_a_kill_loses_only_what_was_not_committed(url):
    process = SPAWN.Process(target=record_race.add_some_and_die, args=(url,))
    process.start()
    process.join()
    assert process.exitcode == -9
    with Records.open(url) as records:
        assert records.missing(record_race.KEYS) == set(record_race.KEYS[10:])


@BOTH
def test_a_commit_means_that_it_is_on_disk(records, kind):
    """Only a power cut would show it, so ask the database itself."""
    question, full = {
        "sqlite": ("PRAGMA synchronous", 2),
        "postgresql": ("SHOW synchronous_commit", "on"),
    }[kind]
    with records._engine.connect() as connection:
        assert connection.exec_driver_sql(question).scalar_one() == full


# Nothing is changed or deleted


@BOTH
@pytest.mark.parametrize("table", TABLES, ids=str)
def test_rows_can_be_neither_changed_nor_deleted(url, table):
    with Records.open(url) as records:
        records.add(key(), record(), "")
        records.end_run({})
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    for change in (table.delete(), table.update().values({next(iter(table.c)): "9"})):
        with pytest.raises(sa.exc.DBAPIError, match="only ever added to"), engine.begin() as open_:
            open_.execute(change)
    engine.dispose()


# What is kept


@BOTH
def test_any_name_and_any_text_come_back_as_they_were(records):
    kept = {}
    for number, name in enumerate(["", "José", "a\x00b", "\ud800", "\\u0000", "\\\\0041", "日本"]):
        one = key(f"{number} {name}", submission=name)
        kept[one] = {**record(), "notes": [name]}
        assert records.add(one, kept[one], f"text {name}")
    assert {one.key: one.record for one in records.current()} == kept
    for one in records.current():
        assert records.notebook(one.id) == f"text {one.key.submission}"


@given(names=st.sets(st.text(), min_size=1, max_size=8), text=st.text())
@settings(max_examples=25)
def test_any_two_names_are_two(tmp_path_factory, names, text):
    with Records.in_file(tmp_path_factory.mktemp("names") / "records.db") as records:
        assert records.add_many((key(name), record(), text) for name in names) == len(names)
        assert {one.key.student for one in records.current()} == names
        assert {records.notebook(one.id) for one in records.current()} == {text}


def test_a_score_that_is_no_number_is_refused(in_file):
    with pytest.raises(ValueError, match="not JSON compliant"):
        in_file.add(key(), record(score=math.nan), "")
    assert list(in_file.current()) == []


@pytest.mark.parametrize(
    ("ends", "error", "verdict"),
    [
        (["pass", "pass"], "", "pass"),
        (["pass", "time", "wrong"], "", "time"),
        (["wrong", "grader error"], "", "grader error"),
        (["not answered"], "not JSON", "unreadable"),
        (["grader error"], "not JSON", "grader error"),
    ],
)
def test_the_verdict_of_the_whole(in_file, ends, error, verdict):
    exercises = [{"verdict": end} for end in ends]
    in_file.add(key(), {**record(), "exercises": exercises, "error": error}, "")
    (stored,) = in_file.current()
    assert stored.verdict == verdict
    assert stored.final == (verdict != "grader error")


@BOTH
def test_runs_are_kept_with_their_end_and_without_secrets(records):
    first = records.start_run({"db": "postgresql://me:pw@h/x", "seed_file": "/secret", "jobs": 2})
    records.add(key(), record(), "")
    second = records.start_run({})
    records.end_run({"graded": 0})
    killed, ended = records.runs()
    assert (killed["id"], killed["options"], killed["counts"]) == (first, '{"jobs": "2"}', None)
    assert (ended["id"], ended["counts"]) == (second, '{"graded": 0}')
    (stored,) = records.current()
    assert stored.run == first
    assert stored.environment.startswith("python 3")
    assert stored.created >= str(killed["started"])


# Digest


@BOTH
def test_the_digest_is_of_what_counts_and_not_of_times_or_order(records, tmp_path):
    one, two = (key("ann"), record(seconds=1)), (key("Éva"), record("wrong", 1.0))
    records.add(key("ann", "old"), record("wrong", 0.0), "")
    records.add_many([(*one, "notebook"), (*two, "")])
    with Records.in_file(tmp_path / "other.db") as other:
        other.add(*two, "")
        assert records.digest() != other.digest()
        other.add(key("ann"), record(seconds=2), "")
        assert records.digest() == other.digest()
        other.add(key("ann", "b"), record(), "")
        assert records.digest() != other.digest()


# Batches


class Written(list[int]):
    """How many results each commit held."""

    def write(self, results: list[Any]) -> int:
        self.append(len(results))
        return len(results)


@pytest.fixture
def commits(monkeypatch) -> Written:
    written = Written()
    monkeypatch.setattr(Records, "add_many", lambda _, results: written.write(results))
    return written


def test_a_batch_commits_at_its_size_and_at_its_end(in_file, commits):
    with in_file.batch(rows=3, seconds=60) as batch:
        for _ in range(7):
            batch.add(key(), record(), "")
        assert commits == [3, 3]
    assert commits == [3, 3, 1]


def test_a_batch_commits_what_has_waited_long_enough(in_file, commits):
    with in_file.batch(rows=100, seconds=0.05) as batch:
        batch.add(key(), record(), "")
        time.sleep(0.06)
        batch.add(key(), record(), "")
        assert commits == [2]


def test_a_batch_that_is_interrupted_keeps_what_it_has(in_file):
    def interrupted() -> None:
        with in_file.batch() as batch:
            batch.add(key(), record(), "")
            raise KeyboardInterrupt("stop")

    with pytest.raises(KeyboardInterrupt, match="stop"):
        interrupted()
    assert len(list(in_file.current())) == 1


# Databases that stay away


@pytest.fixture
def impatient(monkeypatch) -> None:
    monkeypatch.setattr("autograder.records.store.PAUSES", (0.01, 0.01))
    monkeypatch.setattr("autograder.records.engine.BUSY_SECONDS", 0)


def test_a_database_that_stays_locked_is_told_and_nothing_is_kept(tmp_path, impatient):
    file = tmp_path / "records.db"
    with Records.in_file(file) as records:
        records.start_run({})
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(UsageError, match=r"cannot write to .*records\.db: database is locked"):
            records.add(key(), record(), "")
        other.close()
        assert records.add(key(), record(), "")


def test_a_database_that_comes_back_is_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr("autograder.records.engine.BUSY_SECONDS", 0)
    file = tmp_path / "records.db"
    with Records.in_file(file) as records:
        records.start_run({})
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr(time, "sleep", lambda _: other.close())
        assert records.add(key(), record(), "")


@pytest.mark.parametrize("kind", ["postgresql"])
def test_a_connection_that_the_server_ends_is_made_again(records, url):
    records.add(key("ann"), record(), "")
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    engine.dispose()
    assert records.add(key("bo"), record(), "")


# Addresses


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("mysql://me:hunter2@host/x", "not mysql://"),
        ("grades.db", "no address of a database"),
        ("hunter2", "no address of a database"),
        ("sqlite://", "name a file"),
        ("sqlite:///:memory:", "name a file"),
        ("sqlite:///no/such/folder/x.db", "unable to open database file"),
        ("postgresql://me:hunter2@127.0.0.1:1/x", "port 1 failed: Connection refused"),
        ("postgresql://me@127.0.0.1:1/x?password=hunter2", "Connection refused"),
        ("postgresql+psycopg2://me:hunter2@127.0.0.1:1/x", "Connection refused"),
        ("postgresql://me:p@hunter2@127.0.0.1:1/x", "write an @ or / of a password as %40 or %2F"),
        ("postgresql://me:1/hunter2@127.0.0.1:1/x", "Connection refused"),
        ("postgresql://hunter2:port/x", "no address of a database"),
    ],
)
def test_another_address_is_refused_in_one_line_without_its_password(address, why):
    if address.startswith("postgresql"):
        pytest.importorskip("psycopg", reason="the driver of the extra 'postgres' is missing")
    with pytest.raises(UsageError, match=why) as refused:
        Records.open(address)
    assert "\n" not in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path):
    file = tmp_path / "grades.csv"
    file.write_text("student,points\n" * 100)
    with pytest.raises(UsageError, match=r"grades\.csv: file is not a database"):
        Records.in_file(file)
    assert file.read_text() == "student,points\n" * 100


def test_without_the_driver_the_package_to_install_is_named(monkeypatch):
    monkeypatch.setattr("autograder.records.address.DRIVER", "no_such_driver")
    with pytest.raises(UsageError, match=r"pip install 'transformer-course\[postgres\]'"):
        Records.open("postgresql://host/x")


@BOTH
def test_a_database_is_opened_again_with_what_it_holds(url, kind):
    with Records.open(url) as records:
        records.add(key(), record(), "")
    with Records.open(url) as records:
        assert len(list(records.current())) == 1


def test_a_file_may_have_any_name(tmp_path):
    file = Path(tmp_path, "a?b#c %41 é.db")
    with Records.in_file(file) as records:
        records.add(key(), record(), "")
    assert file.exists()
