"""Worker processes: killed, orphaned, interrupted."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import toy_work
from drill import expect_gone, lives

from autograder.dispatch.local import local_executor
from autograder.dispatch.run import Failed, run

ROOT = Path(__file__).parents[2]


def test_a_worker_that_is_killed_costs_only_the_job_that_did_it():
    honest = ["slow a", "slow b", "slow c", "d", "e"]
    jobs = ["slow a", "die", "raise", *honest[1:]]
    outcomes = dict(run(jobs, toy_work.obey, lambda: local_executor(2), window=4))
    assert outcomes["raise"] == Failed("ValueError: raise")
    assert isinstance(outcomes["die"], Failed)
    assert "BrokenProcessPool" in outcomes["die"].reason
    assert [outcomes[job] for job in honest] == [job.upper() for job in honest]


@dataclass
class Lingering:
    """A batch whose two workers are in the middle of a job, and where its stderr goes."""

    batch: subprocess.Popen[bytes]
    workers: list[int]
    errors: Path


@pytest.fixture
def lingering(tmp_path) -> Iterator[Lingering]:
    errors = tmp_path / "stderr"
    with errors.open("wb") as stream:
        batch = subprocess.Popen(
            [sys.executable, toy_work.__file__, str(tmp_path)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stderr=stream,
            start_new_session=True,
        )
    end = time.monotonic() + 60
    while len(found := list(tmp_path.glob("*.worker"))) < 2:
        assert time.monotonic() < end, "the workers do not start"
        time.sleep(0.05)
    yield Lingering(batch, [int(file.stem) for file in found], errors)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(batch.pid, signal.SIGKILL)
    batch.wait()


def test_workers_end_when_the_batch_is_killed(lingering):
    assert all(lives(worker) for worker in lingering.workers)
    lingering.batch.kill()
    lingering.batch.wait()
    expect_gone(lingering.workers)
    assert not any(lives(worker) for worker in lingering.workers)


def test_ctrl_c_ends_the_batch_and_its_workers_at_once(lingering):
    os.killpg(lingering.batch.pid, signal.SIGINT)  # as a terminal does: to all of them
    assert lingering.batch.wait(timeout=10) != 0
    errors = lingering.errors.read_text()
    assert errors.count("KeyboardInterrupt") == errors.count("Traceback") == 1
    expect_gone(lingering.workers)


def test_a_process_that_outlives_its_batch_is_found(monkeypatch):
    monkeypatch.setattr("drill.SECONDS_TO_DIE", 0.1)
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        with pytest.raises(AssertionError, match="outlive the batch"):
            expect_gone([sleeper.pid])
        sleeper.kill()
