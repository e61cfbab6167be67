"""Work for worker processes: what a job's name says, in a module that is quick to load."""

import os
import signal
import sys
import time
from pathlib import Path

from autograder.dispatch.local import local_executor
from autograder.dispatch.run import run


def obey(job: str) -> str:
    """Do what the job says: die, be slow, raise, linger, or give its name back."""
    what, _, where = job.partition(" ")
    if what == "die":
        time.sleep(0.05)  # so that a neighbour is under way
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "slow":
        time.sleep(0.3)
    if what == "raise":
        raise ValueError(job)
    if what == "linger":
        Path(where, f"{os.getpid()}.worker").touch()
        time.sleep(600)
    return job.upper()


def parallel_lingering(folder: str) -> None:
    """Start two workers that never finish; the name of a worker's file is its process id."""
    list(run([f"linger {folder}"] * 2, obey, lambda: local_executor(2), window=2))


if __name__ == "__main__":
    parallel_lingering(sys.argv[1])
