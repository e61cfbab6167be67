"""Kill a batch and its workers at random, go on, and compare with a run that was left in peace.

    python tests/dispatch/drill.py -- course grade SUBMITTED --out {out} --db {db}

{out} is a fresh folder and {db} a fresh database, one for each of the two runs. A batch is killed
and started again with the same command; a worker is killed and the batch must go on.
"""

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.records import Records

ROOT = Path(__file__).resolve().parents[2]
KILLS = 10
SECONDS_TO_DIE = 10
WORKER = b"spawn_main"


class DrillError(AssertionError):
    """What must not happen did."""


@dataclass
class Outcome:
    """What the records hold after a run."""

    current: int
    rows: int
    digest: str
    runs: int
    killed: list[str] = field(default_factory=list)


def look(db: str, killed: Sequence[str] = ()) -> Outcome:
    with Records.open(db) as records:
        current = list(records.current())
        rows = sum(len(records.history(*one.key[:2])) for one in current)
        return Outcome(len(current), rows, records.digest(), len(records.runs()), list(killed))


def peaceful(command: Sequence[str], db: str) -> Outcome:
    subprocess.run(command, check=True)
    return look(db)


class Disturbed:
    """A batch that is started again whenever it was killed."""

    def __init__(self, command: Sequence[str], chance: random.Random) -> None:
        self.command = command
        self.chance = chance
        self.batch = subprocess.Popen(command)
        self.killed: list[str] = []

    def kill_worker(self) -> None:
        """Kill a worker, unless the batch is done before it has one."""
        while not self.ended():
            workers = [child for child in children(self.batch.pid) if is_worker(child)]
            with contextlib.suppress(IndexError, ProcessLookupError):
                os.kill(self.chance.choice(workers), signal.SIGKILL)
                self.killed.append("worker")
                return
            time.sleep(0.01)

    def kill_batch(self) -> None:
        """Kill the batch and start it again; all that it had started must end."""
        if self.ended():
            return
        family = descendants(self.batch.pid)
        self.batch.kill()
        self.batch.wait()
        self.killed.append("batch")
        expect_gone(family)
        self.batch = subprocess.Popen(self.command)

    def ended(self) -> bool:
        return self.batch.poll() is not None

    def finish(self) -> None:
        if self.batch.wait():
            raise DrillError(f"the batch ended with status {self.batch.returncode} by itself")


def disturbed(command: Sequence[str], db: str, total: int, chance: random.Random) -> Outcome:
    goals = sorted(chance.uniform(0, 0.9 * total) for _ in range(KILLS))
    run = Disturbed(command, chance)
    kills = chance.sample([run.kill_batch, run.kill_worker], k=KILLS, counts=[KILLS // 2] * 2)
    try:
        with Records.open(db) as records:
            for goal, kill in zip(goals, kills, strict=True):
                while not run.ended() and sum(1 for _ in records.current()) < goal:
                    time.sleep(0.02)
                time.sleep(chance.uniform(0, 0.3))
                kill()
        run.finish()
    finally:
        run.batch.kill()
    if len(run.killed) < KILLS:
        raise DrillError(f"the batch was done after {len(run.killed)} kills: give it more to do")
    return look(db, run.killed)


def compare(calm: Outcome, rough: Outcome) -> None:
    """Raise unless each submission has one current result, equal to that of the calm run."""
    for what in ("current", "rows", "digest"):
        if getattr(calm, what) != getattr(rough, what):
            raise DrillError(f"{what}: {getattr(rough, what)}, not {getattr(calm, what)}")


# Processes


def children(process: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        found += [int(child) for child in task.read_text().split()]
    return found


def descendants(process: int) -> list[int]:
    below = children(process)
    return below + [deeper for child in below for deeper in descendants(child)]


def is_worker(process: int) -> bool:
    try:
        return WORKER in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def lives(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def expect_gone(processes: Sequence[int]) -> None:
    end = time.monotonic() + SECONDS_TO_DIE
    while any(lives(process) for process in processes):
        if time.monotonic() > end:
            raise DrillError(f"processes {processes} outlive the batch that started them")
        time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcomes = []
        for name in ("calm", "rough"):
            out = Path(folder, name)
            out.mkdir()
            db = f"sqlite:///{out}.db"
            command = [part.format(out=out, db=db) for part in arguments.command]
            start = time.monotonic()
            if name == "calm":
                outcomes.append(peaceful(command, db))
            else:
                chance = random.Random(arguments.seed)
                outcomes.append(disturbed(command, db, outcomes[0].current, chance))
            print(f"{name}: {time.monotonic() - start:.1f} s, {outcomes[-1]}", file=sys.stderr)
    compare(*outcomes)
    print("equal")


if __name__ == "__main__":
    main()
