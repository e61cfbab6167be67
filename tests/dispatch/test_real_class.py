"""The real work, not a toy: `course grade` on a cluster and PostgreSQL, killed and gone on with."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sample_class
from dask_cluster import Cluster
from databases import fresh_postgres

from autograder.records import Records

pytestmark = pytest.mark.slow

MAIN = "import sys; from autograder.cli import main; sys.exit(main())"
NAMES = ("einsum__pass", "wrong_softmax__wrong", "no_scale__wrong", "not_json__unreadable")
TIMES = 4


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each of some samples under several names."""
    folder = tmp_path_factory.mktemp("class")
    (folder / "seed").write_text("cluster")
    for path in sample_class.samples():
        for number in range(TIMES if path.stem in NAMES else 0):
            made = sample_class.hand_in(path, folder / "made")
            target = folder / "submitted" / f"{path.stem}-{number}" / made.parent.name / made.name
            target.parent.mkdir(parents=True)
            made.rename(target)
    return folder


def batch(folder: Path, out: Path, *options: str) -> subprocess.Popen[bytes]:
    """Start `course grade` on the class."""
    command = ["grade", folder / "submitted", "--out", out, "--seed-file", folder / "seed"]
    told = [*map(str, command), "--trust-students", *options]
    with (folder / "batch.log").open("ab") as log:
        return subprocess.Popen([sys.executable, "-c", MAIN, *told], stdout=log, stderr=log)


def ended(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait for a batch to end well."""
    status = process.wait(timeout=300)
    assert status == 0, (folder / "batch.log").read_text()


@pytest.fixture(scope="module")
def undisturbed(submitted: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Grade the class with two local workers, and sum the results up."""
    out = tmp_path_factory.mktemp("calm") / "out"
    ended(batch(submitted, out, "--jobs", "2"), submitted)
    with Records.in_file(out / "records.db") as records:
        assert sum(1 for _ in records.current()) == TIMES * len(NAMES)
        return records.digest()


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path)
    yield cluster
    cluster.close()


def test_a_cluster_with_postgresql_that_loses_a_worker(
    submitted: Path, undisturbed: str, dask: Cluster, tmp_path: Path
) -> None:
    with fresh_postgres() as db:
        first, _ = dask.worker(), dask.worker()
        running = batch(submitted, tmp_path / "out", "--scheduler", dask.address, "--db", db)
        with Records.open(db) as records:
            while running.poll() is None and not list(records.current()):
                time.sleep(0.05)
            first.kill()
            ended(running, submitted)
            assert sum(1 for _ in records.current()) == TIMES * len(NAMES)
            assert records.digest() == undisturbed
            everything = [records.history(*one.key[:2]) for one in records.current()]
            assert {len(rows) for rows in everything} == {1}
    assert (tmp_path / "out" / "grades.csv").read_text().count("\n") == 1 + TIMES * len(NAMES)


def test_a_batch_that_is_killed_goes_on(submitted: Path, undisturbed: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = batch(submitted, out, "--jobs", "2")
    while first.poll() is None and not _count(out):
        time.sleep(0.05)
    os.kill(first.pid, 9)
    first.wait()
    there = _count(out)
    ended(batch(submitted, out, "--jobs", "2"), submitted)
    with Records.in_file(out / "records.db") as records:
        assert 0 < there <= TIMES * len(NAMES)
        assert records.digest() == undisturbed
    pages = [*out.glob("feedback/*/*/*.html")]
    assert len(pages) == TIMES * len(NAMES)


def _count(out: Path) -> int:
    if not (out / "records.db").exists():
        return 0
    with Records.in_file(out / "records.db") as records:
        return sum(1 for _ in records.current())
