"""Limits of one session on memory, time, files and threads."""

from __future__ import annotations

import resource
from pathlib import Path

MEMORY_BYTES = 2 << 30
CPU_SECONDS = 300
FILE_BYTES = 64 << 20
OPEN_FILES = 128
THREADS = 128


def address_space() -> int:
    """Tell how many bytes of addresses this process uses now; needs /proc."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


def tasks_of(user: int) -> int:
    """Count the processes of a user, and their threads; needs /proc."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.stat().st_uid == user:
                count += sum(1 for _ in (process / "task").iterdir())
        except OSError:
            continue  # it ended meanwhile
    return count


def set_limits(used: int, tasks: int) -> None:
    """Limit this process for good: `used` bytes are taken already, and `tasks` by its user."""
    limits = {
        resource.RLIMIT_AS: used + MEMORY_BYTES,
        resource.RLIMIT_CPU: CPU_SECONDS,
        resource.RLIMIT_FSIZE: FILE_BYTES,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_NPROC: tasks + THREADS,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in limits.items():
        _, hard = resource.getrlimit(kind)
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (value, value))
