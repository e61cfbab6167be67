"""A warm parent: it imports what students need once, then forks a sealed session at each request.

Three processes: the launcher, which holds nothing and watches that the judge lives; its child, the
zygote; and the zygote's child, the session, one at a time. Each dies with the one above it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import random
import select
import signal
import socket
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from autograder.runner import control, namespaces, scratch, sealing, syscalls
from autograder.runner.probe import probe

Options = Mapping[str, Any]
Work = Callable[[Connection, Options], None]

WARM = ("numpy", "torch", "matplotlib.pyplot", "autograder.runner.session")
LIBRARIES = ("numpy", "torch")
LOOKS_PER_SECOND = 5
DYING_SECONDS = 1.0


@dataclass(frozen=True)
class Start:
    """How the judge wants its zygote.

    control  descriptor of our end of the control socket
    scratch  an empty folder of ours, removed when we end
    judge    the judge's process number: when it is not our parent any more, we end
    warm     whether to import what sessions need; a probe needs nothing
    """

    control: int
    tier: str
    scratch: str
    judge: int
    warm: bool


def main() -> None:
    """Launch a zygote as the first argument says (a `Start` in JSON) and watch over it."""
    start = Start(**json.loads(sys.argv[1]))
    end = socket.socket(fileno=start.control)
    launcher = os.getpid()
    with _telling(end):
        _volunteer_for_the_oom_killer()
        if start.tier == "namespaces":
            namespaces.enter()
        child = os.fork()
    if child == 0:
        with _telling(end):
            _be_zygote(start, end, launcher)
        os._exit(0)
    end.close()
    _watch(child, start)


@contextlib.contextmanager
def _telling(end: socket.socket) -> Iterator[None]:
    """Tell the judge what goes wrong, and end."""
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(OSError):
            control.send(end, {"error": f"{type(error).__name__}: {error}"})
        os._exit(1)


def _volunteer_for_the_oom_killer() -> None:
    """When the machine's memory runs out, a session should die before the judge does."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("800")


def _watch(child: int, start: Start) -> None:
    """Wait until the zygote ends, and end it when the judge is gone."""
    ended = select.poll()
    ended.register(os.pidfd_open(child), select.POLLIN)
    while not ended.poll(1000):
        if os.getppid() != start.judge:
            os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    scratch.remove(start.scratch)


def _be_zygote(start: Start, end: socket.socket, launcher: int) -> None:
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    began = time.monotonic()
    if start.warm:
        _import_all()
    tasks = os.open("/proc/self/task", os.O_RDONLY)
    plan = sealing.plan(start.tier, start.scratch, launcher)
    gc.collect()
    gc.freeze()
    sealing.close_file_system(plan)
    zygote = _Zygote(end, plan, tasks)
    zygote.be_alone()
    control.send(end, {"ready": round(time.monotonic() - began, 3), **_versions()})
    zygote.serve()


def _import_all() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in WARM:
            importlib.import_module(name)
        importlib.import_module("autograder.runner.warming").warm_up()


def _versions() -> dict[str, str]:
    """Tell what student code will meet."""
    found = {name: str(sys.modules[name].__version__) for name in LIBRARIES if name in sys.modules}
    return {"python": sys.version.split()[0], **found}


@dataclass
class _Running:
    """A session that was forked: its process, a descriptor of that, its folder."""

    process: int
    handle: int
    folder: str
    overfull: bool = False


class _Zygote:
    """Does what the judge asks for, one session at a time."""

    def __init__(self, end: socket.socket, plan: sealing.Plan, tasks: int) -> None:
        self.end = end
        self.plan = plan
        self.tasks = tasks
        self.running: _Running | None = None
        self.started = 0

    def be_alone(self) -> None:
        """Make sure that this process has one thread: with more, a fork may hang."""
        if (count := len(os.listdir(self.tasks))) != 1:
            raise RuntimeError(f"an import started threads ({count} run): forks would not be safe")

    def serve(self) -> None:
        """Answer until the judge is gone."""
        while True:
            self._look_after_scratch()
            message, descriptors = control.receive(self.end)
            if message is None:
                self._end_running(0.0)
                return
            if message["do"] == "end":
                control.send(self.end, self._end_running(DYING_SECONDS * message["closed"]))
            else:
                self._start(message, descriptors[0])

    def _look_after_scratch(self) -> None:
        """Wait for the judge; meanwhile end a session that fills its folder."""
        asked = select.poll()
        asked.register(self.end, select.POLLIN)
        own_disk = self.plan.tier == "namespaces"  # a /tmp with a size
        while self.running and not own_disk and not asked.poll(1000 // LOOKS_PER_SECOND):
            if not self.running.overfull and scratch.is_overfull(self.running.folder):
                self.running.overfull = True
                self._kill(self.running)

    def _kill(self, running: _Running) -> None:
        """Kill a session, and what else is in its group where it could fork (tier none)."""
        for kill in (os.kill, os.killpg):
            with contextlib.suppress(ProcessLookupError):
                kill(running.process, signal.SIGKILL)

    def _start(self, message: dict[str, Any], work: int) -> None:
        self.be_alone()
        folder = str(message["folder"])
        if folder and self.plan.user is not None:
            os.chown(folder, self.plan.user, self.plan.user)
        ready, sealed = os.pipe()
        parent = os.getpid()
        process = os.fork()
        if process == 0:
            _be_session(self.plan, message, parent, work, sealed)
        os.close(work)
        os.close(sealed)
        self.running = _Running(process, os.pidfd_open(process), folder)
        with open(ready, "rb") as pipe:
            said = pipe.read().decode()
        if said != "sealed":
            raise RuntimeError(said or "a session ended before it was closed off")
        self.started += 1
        control.send(self.end, {"started": self.started})

    def _end_running(self, patience: float) -> dict[str, Any]:
        """End the session and tell how it ended; wait a little for one that is about to end."""
        running, self.running = self.running, None
        if running is None:
            return {"ended": "none", "cpu": 0.0, "maxrss": 0}
        over = select.poll()
        over.register(running.handle, select.POLLIN)
        by_itself = bool(over.poll(round(1000 * patience)))
        self._kill(running)
        _, status, usage = os.wait4(running.process, 0)
        os.close(running.handle)
        code = os.waitstatus_to_exitcode(status)
        how = f"exit {code}" if code >= 0 else f"signal {-code}"
        ended = "disk" if running.overfull else how if by_itself else "running"
        cpu = round(usage.ru_utime + usage.ru_stime, 3)
        return {"ended": ended, "cpu": cpu, "maxrss": usage.ru_maxrss * 1024}


def _be_session(
    plan: sealing.Plan, message: dict[str, Any], parent: int, work: int, sealed: int
) -> None:
    """Close this fork off, then serve the judge; never comes back."""
    try:
        task = _work(message["do"])
        sealing.seal(plan, message["folder"], parent, work, sealed)
        sealed = sealing.SEALED
        _reseed()
        os.write(sealed, b"sealed")
        os.close(sealed)
    except BaseException as error:
        os.write(sealed, f"{type(error).__name__}: {error}".encode())
        os._exit(1)
    try:
        connection = Connection(sealing.WORK)
        task(connection, json.loads(connection.recv_bytes()))
    finally:
        os._exit(0)


def _work(what: str) -> Work:
    if what == "probe":
        return probe
    serve: Work = sys.modules["autograder.runner.session"].serve
    return serve


def _reseed() -> None:
    """Start every session from the same numbers, whatever imports drew."""
    random.seed(0)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(0)
    if torch := sys.modules.get("torch"):
        torch.default_generator.manual_seed(0)
