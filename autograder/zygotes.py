"""The judge's hold on the processes that run student code, and which sandbox this machine has.

A `Zygote` is warm and forks sessions in milliseconds; a `Session` is asked one thing at a time and
ends when the judge says so, or breaks a rule, or runs out of time. None of what a session does can
make the judge wait for longer than it said.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from autograder.exchange import TooLargeError, receive_frame, refuse_unasked, send_frame
from autograder.faults import FaultKind, SessionEnded
from autograder.runner import control, scratch
from autograder.spawned import Spawned, ZygoteError

__all__ = [
    "TIERS",
    "Session",
    "SessionEnded",
    "Spawned",
    "Zygote",
    "ZygoteError",
    "best_tier",
    "open_zygote",
    "why_not",
]

TIERS = ("namespaces", "landlock", "none")
MACHINES = ("x86_64", "aarch64")

BOOT = "from autograder.runner.zygote import main; main()"
# Not -I, which would also ignore PYTHONHASHSEED: the environment is ours anyway.
COMMAND = (sys.executable, "-P", "-s", "-B", "-c")
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

SHARED_MEMORY = "/dev/shm"
SCRATCH_BYTES = 1 << 30

START_SECONDS = 120.0  # the first import of torch on a cold disk takes long
ANSWER_SECONDS = 20.0
PROBE_BYTES = LAST_WORDS = 10_000


def open_zygote(tier: str) -> Zygote | Spawned:
    """Start what runs student code under a tier of `TIERS`.

    Raises ZygoteError for a tier that this system cannot have.
    """
    if _can_fork():
        return Zygote(tier)
    if tier != "none":
        raise ZygoteError(f"the sandbox '{tier}' is not to be had: {why_not(tier)}")
    return Spawned()


def _can_fork() -> bool:
    return sys.platform == "linux" and os.uname().machine in MACHINES


@cache
def best_tier() -> str:
    """Name the first tier of `TIERS` that holds here, by trying it."""
    return next(tier for tier in TIERS if not why_not(tier))


@cache
def why_not(tier: str) -> str:
    """Say in words what is wrong with a tier on this machine; empty if nothing is."""
    if tier == "none":
        return ""
    if not _can_fork():
        return f"it needs Linux on {' or '.join(MACHINES)}"
    try:
        with (
            tempfile.NamedTemporaryFile(suffix=".outside") as outside,
            Zygote(tier, warm=False) as zygote,
        ):
            return "; ".join(zygote.probe([outside.name, __file__, "/etc/passwd"]))
    except ZygoteError as error:
        return str(error)


class Zygote:
    """A warm process that forks sessions, one at a time; with `warm` false, only to probe."""

    def __init__(self, tier: str, *, warm: bool = True) -> None:
        """Start it and return at once: its imports go on while the caller does other things."""
        self.tier = tier
        self._warm = warm
        self._scratch = tempfile.mkdtemp(prefix="course-", dir=_scratch_place())
        self._ready = False
        self._open: Session | None = None
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - its stderr, until `close`
        self._control, theirs = control.pair()
        with theirs:
            self._process = self._launch(theirs)

    def _launch(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        start = {
            "control": theirs.fileno(),
            "tier": self.tier,
            "scratch": self._scratch,
            "judge": os.getpid(),
            "warm": self._warm,
        }
        return subprocess.Popen(
            [*COMMAND, BOOT, json.dumps(start)],
            pass_fds=[theirs.fileno()],
            env=_environment(self._scratch),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._said,
            start_new_session=True,  # Ctrl-C is for the judge, which then ends us in order
        )

    def session(self, options: Mapping[str, Any]) -> Session:
        """Fork a session and hand it `options`, which are plain data. Raises ZygoteError."""
        return self._begin("start", options)

    def probe(self, outside: list[str]) -> list[str]:
        """Let a session try what it must not do, such as to read the files `outside`.

        Returns what is wrong, in words. Raises ZygoteError.
        """
        session = self._begin("probe", {"outside": [p for p in outside if os.access(p, os.R_OK)]})
        try:
            found: list[str] = json.loads(session.hear(ANSWER_SECONDS, PROBE_BYTES))
        except SessionEnded as ended:
            return [f"a session ended by itself: {ended}"]
        finally:
            session.end()
        return found

    def _begin(self, what: str, options: Mapping[str, Any]) -> Session:
        if self._open is not None:
            self._open.end()
        if self._control.fileno() < 0:
            raise ZygoteError("the parent of the sandboxes was closed")
        self._await_ready()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            try:
                folder = tempfile.mkdtemp(dir=self._scratch) if self.tier != "namespaces" else ""
                self._tell({"do": what, "folder": folder}, [theirs.fileno()])
                self._hear(ANSWER_SECONDS)
            except (OSError, ZygoteError):
                ours.close()
                raise
        self._open = Session(self, ours, folder)
        self._open.tell(json.dumps(dict(options)).encode(), ANSWER_SECONDS)
        return self._open

    def end_session(self, *, closed: bool) -> dict[str, Any]:
        """Have the session killed, and hear how it ended; for `Session` alone.

        closed  its end of the line is closed, so it may be about to end by itself

        Raises ZygoteError.
        """
        self._open = None
        self._tell({"do": "end", "closed": closed})
        return self._hear(ANSWER_SECONDS)

    def _await_ready(self) -> None:
        if not self._ready:
            self._hear(START_SECONDS)
            self._ready = True

    def _tell(self, message: Mapping[str, Any], descriptors: list[int] | None = None) -> None:
        try:
            control.send(self._control, message, descriptors or [])
        except OSError as error:
            self._fail(f"the parent of the sandboxes is gone ({error})")

    def _hear(self, seconds: float) -> dict[str, Any]:
        waiting = select.poll()
        waiting.register(self._control, select.POLLIN)
        if not waiting.poll(1000 * seconds):
            self._fail(f"the parent of the sandboxes said nothing for {seconds:g} seconds")
        answer, _ = control.receive(self._control)
        if answer is None:
            self._fail(f"the parent of the sandboxes ended{self._last_words()}")
        if "error" in answer:
            self._fail(f"the sandbox cannot be set up: {answer['error']}")
        return answer

    def _last_words(self) -> str:
        self._said.seek(0)
        lines = self._said.read(LAST_WORDS).decode(errors="replace").strip().splitlines()
        return f" ({lines[-1]})" if lines else " without a word"

    def _fail(self, message: str) -> NoReturn:
        self.close()
        raise ZygoteError(message)

    def close(self) -> None:
        """End it and its session, and wait until nothing of them is left."""
        if self._open is not None:
            self._open.abandon()
            self._open = None
        self._control.close()
        self._said.close()
        try:
            self._process.wait(ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()  # what it started dies with it
            self._process.wait()
        with contextlib.suppress(OSError):
            scratch.remove(self._scratch)

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


def _scratch_place() -> str | None:
    """Choose memory over disk where there is enough: students' files are small and soon gone."""
    if not os.access(SHARED_MEMORY, os.W_OK):
        return None
    found = os.statvfs(SHARED_MEMORY)
    return SHARED_MEMORY if found.f_bavail * found.f_frsize >= SCRATCH_BYTES else None


def _environment(scratch_folder: str) -> dict[str, str]:
    """Make all that a zygote's environment holds: no variable of ours gets to student code."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return {
        **kept,
        **dict.fromkeys(ONE_THREAD, "1"),
        "CUDA_VISIBLE_DEVICES": "",
        "HOME": scratch_folder,
        "LANG": "C.UTF-8",
        "LOGNAME": "student",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": _font_cache() or scratch_folder,
        "PATH": "/usr/bin:/bin",
        "PYTHONHASHSEED": "0",
        "TMPDIR": scratch_folder,
    }


def _font_cache() -> str:
    """Find a folder of this user in which matplotlib can keep its list of fonts; empty if none."""
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(base) / "transformer-course" / "matplotlib"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return ""
    return str(folder) if os.access(folder, os.W_OK) else ""


class Session:
    """One process that runs student code, seen from the judge."""

    def __init__(self, zygote: Zygote, line: socket.socket, folder: str) -> None:
        """Hold our end of the line to it, and the folder that it may fill, if any."""
        self._zygote = zygote
        self._line = line
        self._folder = folder
        self._ended: SessionEnded | None = None

    def exchange(self, message: bytes, seconds: float, largest: int) -> bytes:
        """Send one frame and wait for one of at most `largest` bytes, for at most `seconds`.

        Raises SessionEnded, once it is killed, if no such frame comes; ZygoteError if that is the
        sandbox's fault.
        """
        until = time.monotonic() + seconds
        with self._judged(seconds):
            refuse_unasked(self._line)
            send_frame(self._line, message, until)
            return receive_frame(self._line, until, largest)

    def tell(self, message: bytes, seconds: float) -> None:
        """Send one frame that has no answer."""
        with self._judged(seconds):
            send_frame(self._line, message, time.monotonic() + seconds)

    def hear(self, seconds: float, largest: int) -> bytes:
        """Wait for one frame."""
        with self._judged(seconds):
            return receive_frame(self._line, time.monotonic() + seconds, largest)

    @contextlib.contextmanager
    def _judged(self, seconds: float) -> Iterator[None]:
        """Turn what goes wrong on the line into the end of the session."""
        if self._ended is not None:
            raise self._ended
        try:
            yield
        except TimeoutError:
            self._stop(FaultKind.TIME, f"still running after {seconds:g} seconds")
        except TooLargeError as error:
            self._stop(FaultKind.OUTPUT, f"the code sent {error}")
        except EOFError:
            self._stop(*_cause(self._finish(closed=True)))

    def _stop(self, kind: FaultKind, detail: str) -> NoReturn:
        self._finish(closed=False)
        self._ended = SessionEnded(kind, detail)
        raise self._ended from None

    def end(self) -> None:
        """Kill it, if it runs, and remove what it wrote. May be called again."""
        with contextlib.suppress(ZygoteError):
            self._finish(closed=False)

    def _finish(self, *, closed: bool) -> dict[str, Any]:
        """End it once, and hear how it ended. Raises ZygoteError."""
        if self._line.fileno() < 0:
            return {}
        self._line.close()
        self._ended = SessionEnded(FaultKind.EXITED, "the session was ended")
        told = self._zygote.end_session(closed=closed)
        if self._folder:
            scratch.remove(self._folder)
        return told

    def abandon(self) -> None:
        """Let go of it where its zygote ends anyway; for `Zygote` alone."""
        self._line.close()
        self._ended = SessionEnded(FaultKind.EXITED, "the session was ended")


KILLED, OUT_OF_CPU = "signal 9", "signal 24"
CPU_SECONDS = 300


def _cause(told: Mapping[str, Any]) -> tuple[FaultKind, str]:
    """Say why a session hung up, from how its process ended."""
    how = told["ended"]
    if how == OUT_OF_CPU or (how == KILLED and told["cpu"] >= CPU_SECONDS - 1):
        return FaultKind.TIME, f"it computed for {CPU_SECONDS} seconds"
    if how == KILLED:
        return FaultKind.MEMORY, "the system ended it, most likely because memory ran out"
    if how == "disk":
        return FaultKind.MEMORY, "it wrote more to disk than it may"
    if how == "running":
        return FaultKind.EXITED, "the code closed its line to the grader"
    if how.startswith("signal"):
        return FaultKind.EXITED, f"the code crashed Python ({how})"
    return FaultKind.EXITED, "the code ended Python"
