"""Which files student code may read: the interpreter, its packages, the system's libraries.

Not among them is our own source, wherever it is installed: it holds the answers and the tests.
"""

from __future__ import annotations

import site
import sys
import sysconfig
from pathlib import Path

SYSTEM = (
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/fontconfig",
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "/usr/share/zoneinfo",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/localtime",
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
SECRET = ("autograder", "solutions")


def trees() -> list[str]:
    """List the files and folders that may be read, none of them inside another."""
    standard = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    own = [f"{prefix}/lib" for prefix in (sys.base_prefix, sys.base_exec_prefix, sys.prefix)]
    found = {p for p in (*SYSTEM, *standard, *own, *site.getsitepackages()) if Path(p).exists()}
    return sorted(path for path in found if not any(_inside(path, other) for other in found))


def beneath(folder: str) -> list[str]:
    """List the trees that lie in a folder."""
    return [path for path in trees() if _inside(path, folder)]


def secrets() -> list[str]:
    """List the folders of our own source that lie inside the trees: they must be hidden."""
    homes = {*site.getsitepackages(), str(Path(__file__).parents[2])}
    found = {f"{home}/{name}" for home in homes for name in SECRET}
    return sorted(p for p in found if Path(p).exists() and any(_inside(p, t) for t in trees()))


def _inside(path: str, other: str) -> bool:
    return path != other and Path(path).is_relative_to(other)
