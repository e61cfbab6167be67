"""300 toys, ten kills: each has exactly one current result, equal to that of a run in peace."""

import random
import sys
from dataclasses import replace

import drill
import pytest
import toy_batch
from databases import fresh_postgres

TOYS = 300


def command(db: str) -> list[str]:
    return [sys.executable, toy_batch.__file__, "--db", db, "--count", str(TOYS)]


def sqlite(folder, name: str) -> str:
    return f"sqlite:///{folder / name}.db"


@pytest.fixture
def calm(tmp_path, monkeypatch) -> drill.Outcome:
    monkeypatch.setenv("PYTHONPATH", str(drill.ROOT))
    db = sqlite(tmp_path, "calm")
    return drill.peaceful(command(db), db)


@pytest.mark.slow
def test_kills_lose_nothing_and_grade_nothing_twice(tmp_path, calm):
    db = sqlite(tmp_path, "rough")
    rough = drill.disturbed(command(db), db, TOYS, random.Random())
    drill.compare(calm, rough)
    assert rough.current == rough.rows == TOYS
    assert sorted(rough.killed) == ["batch"] * 5 + ["worker"] * 5
    assert drill.peaceful(command(db), db).rows == TOYS, "nothing was missing"


@pytest.mark.slow
def test_kills_lose_nothing_in_postgresql(calm):
    with fresh_postgres() as db:
        rough = drill.disturbed(command(db), db, TOYS, random.Random())
        drill.compare(calm, rough)
        assert rough.rows == TOYS


def test_a_difference_is_found():
    calm = drill.Outcome(current=2, rows=2, digest="a", runs=1)
    drill.compare(calm, replace(calm, runs=7))
    for change in ({"current": 1}, {"rows": 3}, {"digest": "b"}):
        with pytest.raises(drill.DrillError, match=f"^{next(iter(change))}: "):
            drill.compare(calm, replace(calm, **change))


def test_a_batch_that_is_done_before_the_kills_is_no_drill(tmp_path):
    command, db = [sys.executable, "-c", ""], sqlite(tmp_path, "rough")
    with pytest.raises(drill.DrillError, match="give it more to do"):
        drill.disturbed(command, db, TOYS, random.Random(0))


def test_a_batch_that_fails_by_itself_is_found(tmp_path):
    command, db = [sys.executable, "-c", "raise SystemExit(3)"], sqlite(tmp_path, "rough")
    with pytest.raises(drill.DrillError, match="status 3 by itself"):
        drill.disturbed(command, db, TOYS, random.Random(0))
