"""The student's side of the wall: run cells, use answers as asked, give back plain data.

Everything here shares a process with student code, so nothing here is trusted: whoever asked
treats what comes back as data from a stranger.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

from autograder.faults import Fault, FaultKind
from autograder.frames import LARGEST, FrameError, as_request, decode, encode, reply_data
from autograder.perform import perform
from autograder.runner.proxy import Line, proxy
from autograder.runner.shell import Shell, fresh_shell, run_cell
from autograder.wire import Data, Reply

GIVEN_PACKAGE = "solutions"
ENDINGS = (FaultKind.TIME, FaultKind.MEMORY, FaultKind.EXITED)


def serve(connection: Connection, options: Mapping[str, Any]) -> None:
    """Answer one message after another until the judge hangs up.

    options  modules: name -> source of what a notebook may import beside installed packages;
             seconds: time for one request
    """
    offer(options["modules"])
    shell = fresh_shell()
    while True:
        try:
            message = decode(connection.recv_bytes(LARGEST))
        except (EOFError, OSError):
            return
        line = Line(connection, message["number"])
        answer = DO[message["do"]](shell, message, line, options)
        connection.send_bytes(_frame({**answer, "number": line.number}))


def _frame(answer: Data) -> bytes:
    try:
        return encode(answer)
    except FrameError as error:
        fault = Fault(FaultKind.OUTPUT, str(error))
        return encode({"replies": [reply_data(Reply(fault=fault))], "number": answer["number"]})


def _cell(shell: Shell, message: Data, *_: Any) -> Data:
    return {"outputs": run_cell(shell, message["source"], message["seconds"])}


def _look(shell: Shell, message: Data, *_: Any) -> Data:
    name = message["name"]
    if name not in shell.user_ns:
        return {"kind": "missing"}
    thing = shell.user_ns[name]
    if isinstance(thing, type):
        return {"kind": "class"}
    return {"kind": "function" if callable(thing) else type(thing).__name__}


def _ask(shell: Shell, message: Data, line: Line, options: Mapping[str, Any]) -> Data:
    for name in message["standins"]:
        shell.user_ns[name] = proxy(line, name)
    target = shell.user_ns.get(message["name"], _gone)
    requests = decode(message["requests"].numpy().tobytes())
    return {"replies": [*_replies(target, requests, options["seconds"])]}


def _replies(
    target: Callable[..., Any], requests: Sequence[Data], seconds: float
) -> Iterator[Data]:
    """Answer one request after another, until one has taken too much."""
    for request in requests:
        reply = perform(target, as_request(request), seconds)
        yield reply_data(reply)
        if reply.fault and reply.fault.kind in ENDINGS:
            return


def _gone(*_: Any, **__: Any) -> None:
    raise NameError("it is no longer there")


DO: dict[str, Callable[..., Data]] = {"cell": _cell, "look": _look, "ask": _ask}


class _Given(MetaPathFinder, InspectLoader):
    """Imports the modules that came with the options, and says of the course's others why not."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.sources = sources

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        if fullname in self.sources:
            return spec_from_loader(fullname, self, is_package=self.is_package(fullname))
        if fullname.partition(".")[0] == GIVEN_PACKAGE:
            text = f"{fullname} holds answers of this chapter or a later one"
            raise ModuleNotFoundError(text, name=fullname)
        return None

    def is_package(self, fullname: str) -> bool:
        return any(name.startswith(f"{fullname}.") for name in self.sources)

    def get_source(self, fullname: str) -> str:
        return self.sources[fullname]


def offer(sources: Mapping[str, str]) -> None:
    """Let cells import the given modules, and `check` and `use_mine`, which do nothing now."""
    sys.meta_path.insert(0, _Given(sources))
    for name in [*sys.modules]:
        if name.partition(".")[0] in ("autograder", GIVEN_PACKAGE):
            del sys.modules[name]  # what we use of them stays; a notebook has no use for them
    stub = ModuleType("autograder", "What a notebook imports; the checks themselves run outside.")
    stub.check = _check  # type: ignore[attr-defined]
    stub.use_mine = _use_mine  # type: ignore[attr-defined]
    stub.__spec__ = ModuleSpec(stub.__name__, None)  # without one, `find_spec` raises an error
    sys.modules["autograder"] = stub


def _use_mine(*_: Any, **__: Any) -> None:
    """Stand for the switch to a student's own functions, which is for learning only."""
    print("While a notebook is graded, it runs with the course's functions.")


def _check(*_: Any, **__: Any) -> None:
    """Stand for the check of a student's own cell."""
    print("The checks run outside of this notebook while it is graded.")
