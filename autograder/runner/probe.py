"""Try, inside a session, what no session may do: evidence that a tier holds on this machine."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any


def probe(connection: Connection, options: Mapping[str, Any]) -> None:
    """Send the judge a list of what is wrong: empty, if this session is closed as it should be.

    `options["outside"]` names files that must not be readable here.
    """
    connection.send_bytes(json.dumps(faults(options["outside"])).encode())


def faults(outside: list[str]) -> list[str]:
    """Try to leave, and tell in words what succeeded; and what should have, but did not."""
    possible = [f"{path} can be read" for path in outside if _works(Path(path).read_bytes)]
    if _works(_fork):
        possible.append("a process can be made")
    if _works(_open_socket):
        possible.append("a socket can be opened")
    if not _works(_use_tmp):
        possible.append("the temporary folder cannot be written to")
    return possible


def _works(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


def _fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _open_socket() -> None:
    socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()


def _use_tmp() -> None:
    path = Path("probe")
    path.write_text("1", encoding="ascii")
    path.unlink()
