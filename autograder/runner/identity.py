"""Which user a session runs as: a number that nobody else has, where we may choose."""

from __future__ import annotations

import os
from pathlib import Path

from autograder.runner import readable, syscalls

# The first is beyond what people use. The second is for containers with few numbers.
PRIVATE_USERS = ((0x70000000, 1 << 23), (60_000, 5_000))
RIGHTS_TO_CHANGE = (
    syscalls.CAP_CHOWN,
    syscalls.CAP_KILL,
    syscalls.CAP_SETGID,
    syscalls.CAP_SETUID,
    syscalls.CAP_SETPCAP,
)
READ_ALL = 1 << syscalls.CAP_DAC_READ_SEARCH


def private_user(launcher: int) -> int | None:
    """Choose a user (and group) number for sessions; None if they must keep ours."""
    if os.geteuid() != 0 or not _holds(*RIGHTS_TO_CHANGE):
        return None
    if not open_to_all() and not _holds(syscalls.CAP_DAC_READ_SEARCH):
        return None  # nobody but root could read the interpreter
    numbers = (first + launcher % count for first, count in PRIVATE_USERS)
    return next((one for one in numbers if _exists(one)), None)


def open_to_all() -> bool:
    """Whether any user can reach the files that sessions may read."""
    paths = [path for tree in map(Path, readable.trees()) for path in (tree, *tree.parents)]
    return all(path.stat().st_mode & 0o001 for path in paths if path.is_dir())


def _holds(*capabilities: int) -> bool:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    held = next(int(line.split()[1], 16) for line in lines if line.startswith("CapPrm:"))
    return all(held >> one & 1 for one in capabilities)


def _exists(number: int) -> bool:
    """Whether the user namespace that we are in has this number, for users and for groups."""
    return all(_is_mapped(number, Path(f"/proc/self/{kind}_map")) for kind in ("uid", "gid"))


def _is_mapped(number: int, table: Path) -> bool:
    rows = [line.split() for line in table.read_text(encoding="ascii").splitlines()]
    return any(int(first) <= number < int(first) + int(count) for first, _, count in rows)
