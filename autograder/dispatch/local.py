"""Worker processes on this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection


def local_executor(jobs: int) -> ProcessPoolExecutor:
    """Make an executor of so many fresh processes, started as they are needed.

    They leave Ctrl-C to the process that started them, and end with it, even if it is killed.
    `shutdown` with `cancel_futures` ends them at once, whatever they are at.
    """
    return _Pool(jobs)


class _Pool(ProcessPoolExecutor):
    """A pool on a lifeline: a pipe of which only this process holds the end to write to.

    Python's own workers wait for ever for a parent that was killed. They are not renewed after so
    many tasks: up to Python 3.13 a pool that does so may hang (cpython issue 115634).
    """

    def __init__(self, jobs: int) -> None:
        context = get_context("spawn")
        held, self._lifeline = context.Pipe(duplex=False)
        super().__init__(jobs, mp_context=context, initializer=_enter, initargs=(held,))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if cancel_futures:
            self._lifeline.close()
        super().shutdown(wait, cancel_futures=cancel_futures)


def _enter(lifeline: Connection) -> None:
    """Begin a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    """End this process, in the middle of anything, when the other end of the pipe is gone."""
    with contextlib.suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os._exit(1)
