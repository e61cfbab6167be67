"""A Dask cluster of two workers on this machine; one of them, and the scheduler, killed midway."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import drill
import pytest
import toy_batch
import toy_class
from dask_cluster import Cluster, cluster
from databases import fresh_postgres

from autograder.dispatch.cluster import dask_executor
from autograder.records import Records
from autograder.usage import UsageError

pytest.importorskip("distributed", reason="the extra 'cluster' is missing")
pytestmark = pytest.mark.slow
TOYS = 200


@pytest.fixture
def impatient(monkeypatch) -> None:
    monkeypatch.setattr("autograder.dispatch.cluster.CONNECT_SECONDS", 1)


@pytest.fixture
def dask(tmp_path) -> Iterator[Cluster]:
    with cluster(tmp_path) as started:
        yield started


@pytest.fixture
def expected(tmp_path) -> str:
    """Grade all toys in this process."""
    with Records.in_file(tmp_path / "expected.db") as records:
        records.add_many((key, *toy_class.grade(key)) for key in toy_class.keys(TOYS))
        return records.digest()


def batch(dask: Cluster, db: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, toy_batch.__file__, "--db", db, "--count", str(TOYS)]
    environment = {**os.environ, "PYTHONPATH": str(drill.ROOT)}
    return subprocess.Popen([*command, "--scheduler", dask.address], env=environment)


def wait_for(db: str, count: int) -> None:
    end = time.monotonic() + 120
    while drill.look(db).current < count:
        assert time.monotonic() < end, "the batch does not get on"
        time.sleep(0.1)


def with_one_worker_killed(dask: Cluster, db: str) -> drill.Outcome:
    workers = [dask.worker(), dask.worker()]
    started = batch(dask, db)
    wait_for(db, TOYS // 4)
    workers[0].kill()
    assert started.wait(120) == 0
    return drill.look(db)


def test_one_worker_killed_midway_changes_nothing(tmp_path, dask, expected):
    outcome = with_one_worker_killed(dask, f"sqlite:///{tmp_path}/records.db")
    assert (outcome.current, outcome.rows, outcome.digest) == (TOYS, TOYS, expected)


def test_one_worker_killed_midway_changes_nothing_in_postgresql(dask, expected):
    with fresh_postgres() as db:
        outcome = with_one_worker_killed(dask, db)
    assert (outcome.current, outcome.rows, outcome.digest) == (TOYS, TOYS, expected)


def test_a_scheduler_that_is_started_again_gets_what_was_not_done(tmp_path, dask, expected):
    db = f"sqlite:///{tmp_path}/records.db"
    dask.worker()
    started = batch(dask, db)
    wait_for(db, TOYS // 4)
    dask.kill_scheduler()
    dask.start_scheduler()
    dask.worker()
    assert started.wait(120) == 0
    outcome = drill.look(db)
    assert (outcome.current, outcome.rows, outcome.digest) == (TOYS, TOYS, expected)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("tcp://127.0.0.1:1", "Connection refused"),
        ("nonsense", "missing port"),
        ("", "missing port"),
        ("http://a:1", "unknown address scheme"),
    ],
)
def test_an_address_without_scheduler_is_told(address, why, impatient):
    with pytest.raises(UsageError, match=f"no Dask scheduler answers at '{address}': .*{why}"):
        dask_executor(address)


def test_a_cluster_without_workers_is_told(dask, impatient):
    with pytest.raises(UsageError, match="has no workers; start some: dask worker"):
        dask_executor(dask.address)


def test_a_worker_of_several_threads_is_refused(dask):
    dask.worker(threads=2)
    with pytest.raises(UsageError, match="runs several threads"):
        dask_executor(dask.address)
