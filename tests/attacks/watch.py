"""What an attack may have changed outside of its sandbox: processes, files, the network."""

import ctypes
import os
import secrets
import site
import socket
import sysconfig
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from suite import MARK, START_FILES

PR_SET_CHILD_SUBREAPER = 36
ROOT = Path(__file__).parents[2]
Address = str | tuple[str, int]
PORTS = range(47113, 47121)  # those that network/to_this_machine.py tries


def adopt_orphans() -> None:
    """Become the parent of every process below that loses its own, so that none gets lost."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def processes_below() -> int:
    """Count the processes that descend from this one."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(status.parent.name))
    waiting, found = [os.getpid()], 0
    while waiting:
        below = children.get(waiting.pop(), [])
        found += len(below)
        waiting += below
    return found


def places() -> list[Path]:
    """List the folders in which an attack that gets out would leave something."""
    home = Path.home()
    around = [ROOT, ROOT.parent, Path.cwd(), home, Path("/"), Path("/tmp"), Path("/var/tmp")]
    profile = [home / ".ipython", home / ".ipython/extensions", home / ".jupyter"]
    profile += [home / ".ipython/profile_default/startup", home / ".cache/torch_extensions"]
    python = [Path(sysconfig.get_path("purelib")), Path(site.getusersitepackages())]
    return [*around, Path("/dev/shm"), Path("/run"), *profile, *python]


def left_behind() -> set[str]:
    """Name the files outside that have a name of those that attacks leave."""
    found = set()
    for place in places():
        with suppress(OSError):
            names = [name for name in os.listdir(place) if MARK in name or name in START_FILES]
            found |= {str(place / name) for name in names}
    return found


@contextmanager
def servers() -> Iterator[list[socket.socket]]:
    """Listen where attacks try to connect: TCP, UDP and an abstract Unix address.

    Where another run of the suite listens already, that one will notice.
    """
    ports: list[Address] = [("127.0.0.1", port) for port in PORTS]
    abstract: list[Address] = ["\0" + MARK + "_abstract"]
    wanted = [
        (socket.AF_INET, socket.SOCK_STREAM, ports),
        (socket.AF_INET, socket.SOCK_DGRAM, ports),
        (socket.AF_UNIX, socket.SOCK_STREAM, abstract),
    ]
    with ExitStack() as stack:
        opened = [stack.enter_context(socket.socket(family, kind)) for family, kind, _ in wanted]
        yield [one for one, (*_, names) in zip(opened, wanted, strict=True) if _listens(one, names)]


def _listens(one: socket.socket, names: list[Address]) -> bool:
    one.setblocking(False)
    for name in names:
        with suppress(OSError):
            one.bind(name)
            if one.type == socket.SOCK_STREAM:
                one.listen()
            return True
    return False


def reached(server: socket.socket) -> bool:
    """Whether anyone connected or sent something."""
    with suppress(BlockingIOError):
        if server.type == socket.SOCK_DGRAM:
            return bool(server.recv(100))
        server.accept()[0].close()
        return True
    return False


@dataclass(frozen=True)
class Canaries:
    """Texts that nobody can guess, in places where student code must not get."""

    file: str
    variable: str
    seed: str

    @property
    def all(self) -> tuple[str, ...]:
        """All three."""
        return self.file, self.variable, self.seed


@contextmanager
def planted(folder: Path) -> Iterator[Canaries]:
    """Put canaries into a folder, beside the repository if that can be written, and in between."""
    canaries = Canaries(*(f"canary-{secrets.token_hex(12)}" for _ in range(3)))
    name = f"canary-{os.getpid()}.txt"
    files = [folder / name, ROOT.parent / name, Path("/tmp") / name]
    (folder / "seed.txt").write_text(canaries.seed)
    os.environ["COURSE_CANARY"] = canaries.variable
    try:
        for file in files:
            with suppress(OSError):
                file.write_text(canaries.file)
        yield canaries
    finally:
        del os.environ["COURSE_CANARY"]
        for file in files:
            file.unlink(missing_ok=True)
