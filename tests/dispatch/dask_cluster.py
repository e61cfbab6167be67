"""A Dask cluster of real processes on this machine."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def answers(port: int) -> bool:
    with socket.socket() as calling:
        return calling.connect_ex(("127.0.0.1", port)) == 0


class Cluster:
    """A scheduler on a fixed port, and workers of one thread that nobody starts again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = str(free_port())
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.start_scheduler()

    def start_scheduler(self) -> None:
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", self.port)

        end = time.monotonic() + 60
        while not answers(int(self.port)):
            assert time.monotonic() < end, "the scheduler does not start"
            time.sleep(0.1)

    def kill_scheduler(self) -> None:
        self.scheduler.kill()
        self.scheduler.wait()

    def start(self, kind: str, *options: str) -> subprocess.Popen[bytes]:
        paths = os.pathsep.join([str(HERE), str(HERE.parents[1])])
        with (self.folder / "dask.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard", *options],
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": paths},
                stdout=log,
                stderr=log,
            )
        self.processes.append(process)
        return process

    def worker(self, threads: int = 1) -> subprocess.Popen[bytes]:
        options = ("--nthreads", str(threads), "--no-nanny", "--local-directory", str(self.folder))
        return self.start("worker", self.address, *options)

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    started = Cluster(folder)
    try:
        yield started
    finally:
        started.close()
