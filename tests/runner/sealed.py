"""Run any code in a sealed session: the real zygote, with a stand-in for what serves in it."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder import zygotes
from autograder.zygotes import Session, Zygote, why_not

STANDIN = """
import traceback

def serve(connection, options):
    names = {"connection": connection, "options": options}
    while True:
        try:
            code = connection.recv_bytes().decode()
        except EOFError:
            return
        try:
            exec(code, names)
            said = repr(names["attack"]())
        except BaseException as error:
            said = "".join(traceback.format_exception_only(error)).strip()
        connection.send_bytes(said.encode(errors="replace"))
"""
BOOT = """{before}
import sys, types
module = types.ModuleType("autograder.runner.session")
exec({standin!r}, module.__dict__)
sys.modules[module.__name__] = module
from autograder.runner import zygote
zygote.WARM = {warm!r}
zygote.main()
"""
SERVING = "autograder.runner.session"
LARGEST = 1 << 20
TIERS = ("namespaces", "landlock")


def boot(*imports: str, before: str = "") -> str:
    """Write what starts a zygote that has imported this, and serves with the stand-in.

    before  runs first, in the launcher
    """
    return BOOT.format(before=before, standin=STANDIN, warm=(*imports, SERVING))


@contextlib.contextmanager
def zygote_of(tier: str, *imports: str, before: str = "") -> Iterator[Zygote]:
    """Open a zygote that has imported this, whose sessions run what they are sent."""
    if reason := why_not(tier):
        assert os.geteuid() or os.environ.get("CI") != "true", f"CI must have {tier}: {reason}"
        pytest.skip(reason)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zygotes, "BOOT", boot(*imports, before=before))
        zygote = Zygote(tier)
    with zygote:
        yield zygote


def run(session: Session, body: str, seconds: float = 20.0) -> str:
    """Run the body of a function in a session and return what it returns or raises, as text."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    code = (
        f"import os, sys, ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\ndef attack():\n{lines}"
    )
    return session.exchange(code.encode(), seconds, LARGEST).decode()


def children(process: int) -> list[int]:
    """List the processes that a process has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == process:
                found.append(int(stat.parent.name))
    return found


def family(process: int) -> list[int]:
    """List a process and all below it: launcher, zygote, session."""
    return [process, *(one for child in children(process) for one in family(child))]


def alive(processes: list[int]) -> list[int]:
    """Say which processes still run; a zombie does not."""
    found = []
    for process in processes:
        with contextlib.suppress(OSError):
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
            found += [process] * (state != "Z")
    return found


def alive_after(processes: list[int], seconds: float) -> list[int]:
    """Wait until all have ended, or the time is over; say which still run."""
    until = time.monotonic() + seconds
    while alive(processes) and time.monotonic() < until:
        time.sleep(0.05)
    return alive(processes)
