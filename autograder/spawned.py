"""Sessions where a process cannot be forked (macOS, Windows): a new one each, with no sandbox.

It is for students who check their own notebook: a session that hangs, exits or eats memory ends
alone, but nothing keeps it from the files and the network.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, NoReturn, Self

from autograder.faults import FaultKind, SessionEnded
from autograder.runner.alone import READY, serve_alone

START_SECONDS = 120.0
DYING_SECONDS = 1.0


class ZygoteError(Exception):
    """The sandbox itself failed, through no fault of an answer: a new one may work."""


class Spawned:
    """Starts sessions as `autograder.zygotes.Zygote` does, each in a new process."""

    tier = "none"

    def __init__(self) -> None:
        """Start nothing yet."""
        self._open: SpawnedSession | None = None

    def session(self, options: Mapping[str, Any]) -> SpawnedSession:
        """Start a process that serves under `options`; its imports take seconds."""
        self.close()
        self._open = SpawnedSession(options)
        return self._open

    def close(self) -> None:
        """End the session."""
        if self._open is not None:
            self._open.end()
            self._open = None

    def __enter__(self) -> Self:
        """Be closed at the end of a block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()


class SpawnedSession:
    """One process that runs student code, seen from the judge."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        """Start the process."""
        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(
            target=serve_alone, args=(theirs, dict(options)), daemon=True
        )
        self._process.start()
        theirs.close()
        self._ended: SessionEnded | None = None
        self._may_be_starting = True

    def exchange(self, message: bytes, seconds: float, largest: int) -> bytes:
        """Send one frame and wait for one of at most `largest` bytes, for at most `seconds`.

        The time counts from when the process has started. Raises SessionEnded, once it is killed,
        if no such frame comes; ZygoteError if it never started.
        """
        if self._ended is not None:
            raise self._ended
        self._await_start()
        with self._ending_after(seconds) as late:
            try:
                self._line.send_bytes(message)
                return self._line.recv_bytes(largest)
            except (EOFError, OSError) as error:
                self._stop(error, late.is_set(), seconds)

    def _await_start(self) -> None:
        """Wait for the imports, which are not the student's time."""
        if not self._may_be_starting:
            return
        self._may_be_starting = False
        with self._ending_after(START_SECONDS):
            try:
                self._line.recv_bytes(len(READY))
            except (EOFError, OSError) as error:
                self.end()
                raise ZygoteError("the process for student code did not start") from error

    @contextlib.contextmanager
    def _ending_after(self, seconds: float) -> Iterator[threading.Event]:
        """Kill the process after a time; what waits for it then sees the line end."""
        late = threading.Event()

        def kill() -> None:
            late.set()
            self._kill()

        clock = threading.Timer(seconds, kill)
        clock.start()
        try:
            yield late
        finally:
            clock.cancel()
            clock.join()

    def _stop(self, error: Exception, late: bool, seconds: float) -> NoReturn:
        self._process.join(DYING_SECONDS)
        code = self._process.exitcode
        self.end()
        if late:
            ended = SessionEnded(FaultKind.TIME, f"still running after {seconds:g} seconds")
        elif code is None:
            ended = SessionEnded(FaultKind.OUTPUT, f"the code sent what is no answer ({error})")
        elif code == -getattr(signal, "SIGKILL", 0):
            text = "the system ended it, most likely because memory ran out"
            ended = SessionEnded(FaultKind.MEMORY, text)
        else:
            ended = SessionEnded(FaultKind.EXITED, f"the code ended Python (status {code})")
        self._ended = ended
        raise ended from None

    def end(self) -> None:
        """Kill it, if it runs. May be called again."""
        if self._line.closed:
            return
        self._ended = SessionEnded(FaultKind.EXITED, "the session was ended")
        self._kill()
        self._process.join()
        self._process.close()
        self._line.close()

    def _kill(self) -> None:
        """Kill the process, and what it started where processes have groups."""
        if hasattr(os, "killpg") and self._process.pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
