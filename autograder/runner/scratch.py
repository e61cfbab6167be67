"""A folder that student code could fill: how much is in it, and how to get rid of it.

A student may nest folders deeper than any path can be long, so nothing here follows the depth.
"""

from __future__ import annotations

import contextlib
import os

MOST_BYTES = 64 << 20
MOST_ENTRIES = 4096
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


def is_overfull(folder: str) -> bool:
    """Whether a folder holds more than a session may store; looks no further than needed."""
    size, entries, pending = 0, 0, [folder]
    while pending:
        try:
            with os.scandir(pending.pop()) as found:
                for entry in found:
                    entries += 1
                    size += _stored(entry)
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    if size > MOST_BYTES or entries > MOST_ENTRIES:
                        return True
        except FileNotFoundError:
            continue  # it was removed meanwhile
        except OSError:
            return True  # too deep to be looked at, or hidden from us: neither is honest use
    return False


def _stored(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks * 512
    except FileNotFoundError:
        return 0


def empty(folder: str) -> None:
    """Remove all that is in a folder that no process uses any more."""
    os.chmod(folder, 0o700)
    here = os.open(folder, FOLDER)
    path: list[str] = []
    pending = [_clear(here)]  # of each folder on the path, the folders in it that are left
    while path or pending[-1]:
        if pending[-1]:
            path.append(pending[-1].pop())
            os.chmod(path[-1], 0o700, dir_fd=here)
            here = _moved(here, path[-1])
            pending.append(_clear(here))
        else:
            here = _moved(here, "..")
            pending.pop()
            os.rmdir(path.pop(), dir_fd=here)
    os.close(here)


def _clear(here: int) -> list[str]:
    """Remove what is no folder, and name the folders."""
    folders = []
    with os.scandir(here) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=here)
    return folders


def _moved(here: int, name: str) -> int:
    there = os.open(name, FOLDER, dir_fd=here)
    os.close(here)
    return there


def remove(folder: str) -> None:
    """Remove a folder and all in it; it may be gone already."""
    with contextlib.suppress(FileNotFoundError):
        empty(folder)
        os.rmdir(folder)
