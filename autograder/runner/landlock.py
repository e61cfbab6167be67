"""The second tier's file system: Landlock, a wall that a process without privileges can build.

Layers add up: what any layer forbids is forbidden. It does not hide names, sizes and dates of
files, nor guard their modes: the system call filter refuses to change those.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.runner import readable, syscalls

WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_DIR = 1 << 3
TRUNCATE = 1 << 14
READ = READ_FILE | READ_DIR
FIT_FOR_FILES = 1 | WRITE_FILE | READ_FILE | TRUNCATE | 1 << 15
# The kernel's version of Landlock -> how many rights on files it knows.
RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
VERSION_FLAG = 1
RULE_PATH_BENEATH = 1


def version() -> int:
    """Tell which Landlock the kernel offers. Raises OSError if it has none, or it is turned off."""
    return syscalls.raw(syscalls.LANDLOCK_CREATE_RULESET, None, 0, VERSION_FLAG)


def close_file_system(scratch: str) -> None:
    """Let this process and its children read what is readable, and use `scratch`; no more."""
    everything = _all_rights()
    _restrict(
        {
            **dict.fromkeys(_readable_entries(), READ),
            **dict.fromkeys(_folders_with_secrets(), READ_DIR),
            **dict.fromkeys(readable.DEVICES, READ_FILE | WRITE_FILE),
            scratch: everything,
        }
    )


def close_all_but(folder: str) -> None:
    """Add a layer: write nowhere but in `folder` and to devices; what could be read still can."""
    _restrict({"/": READ, "/dev": READ | WRITE_FILE, folder: _all_rights()})


def _all_rights() -> int:
    known = min(version(), max(RIGHTS))
    return (1 << RIGHTS[known]) - 1


def _folders_with_secrets() -> set[str]:
    return {str(Path(secret).parent) for secret in readable.secrets()}


def _readable_entries() -> Iterator[str]:
    """Walk the trees as far down as secrets lie, and leave those out."""
    hidden = readable.secrets()
    open_paths = readable.trees()
    while open_paths:
        path = open_paths.pop()
        if path in hidden:
            continue
        if any(Path(secret).is_relative_to(path) for secret in hidden):
            open_paths += [entry.path for entry in os.scandir(path)]
        else:
            yield path


def _restrict(rules: Mapping[str, int]) -> None:
    files, net, scopes = _all_rights(), 3 * (version() >= 4), 3 * (version() >= 6)
    size = 24 if version() >= 6 else 16 if version() >= 4 else 8
    attributes = struct.pack("=QQQ", files, net, scopes)[:size]
    ruleset = syscalls.raw(syscalls.LANDLOCK_CREATE_RULESET, attributes, size, 0)
    try:
        for path, rights in rules.items():
            _allow(ruleset, path, rights)
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
        syscalls.raw(syscalls.LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return  # a link that leads nowhere
    try:
        if not stat.S_ISDIR(os.fstat(beneath).st_mode):
            rights &= FIT_FOR_FILES
        rule = struct.pack("=Qi", rights, beneath)
        syscalls.raw(syscalls.LANDLOCK_ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(beneath)
