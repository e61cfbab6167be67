"""The first tier: namespaces of our own, and a root folder that holds only what may be read.

`enter` is for the launcher, whose next child is process 1 of the new pid namespace; that child
calls `close_file_system` once, and each session `private_tmp`.
"""

from __future__ import annotations

import os
from pathlib import Path

from autograder.runner import readable, syscalls
from autograder.runner.syscalls import MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_RDONLY

WORLDS = (
    syscalls.CLONE_NEWNET
    | syscalls.CLONE_NEWIPC
    | syscalls.CLONE_NEWUTS
    | syscalls.CLONE_NEWPID
    | syscalls.CLONE_NEWCGROUP
)
TMP_BYTES = 64 << 20
TMP_ENTRIES = 4096

TMP = "/tmp"
ASIDE = "/aside"  # where what lies in /tmp and may be read is shown a second time


def enter() -> None:
    """Take new namespaces, without privileges through a user namespace. Raises OSError."""
    try:
        syscalls.unshare(WORLDS)
    except PermissionError:
        _unshare_as_user()


def _unshare_as_user() -> None:
    """Be the only user of a new user namespace, with all rights in it and none outside."""
    user, group = os.geteuid(), os.getegid()
    syscalls.unshare(WORLDS | syscalls.CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")


def close_file_system(root: str) -> None:
    """Build a root folder at `root` (an empty folder) from the readable files, and move there."""
    syscalls.unshare(syscalls.CLONE_NEWNS)
    syscalls.mount("none", "/", "none", syscalls.MS_REC | syscalls.MS_PRIVATE)
    syscalls.mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,mode=0755")
    for path in readable.trees():
        _show(path, root, MS_RDONLY | MS_NOSUID | MS_NODEV)
    for path in readable.DEVICES:
        _show(path, root, MS_RDONLY | MS_NOSUID | MS_NOEXEC)  # nodev would make them useless
    for path in readable.secrets():
        _cover(root + path)
    Path(root + TMP).mkdir(exist_ok=True)
    for path in readable.beneath(TMP):  # a private /tmp would hide it: keep a way to show it again
        Path(root + ASIDE + path).mkdir(parents=True)
        syscalls.mount(root + path, root + ASIDE + path, "", syscalls.MS_BIND | syscalls.MS_REC)
    os.chdir(root)
    syscalls.pivot_root(".", ".")
    syscalls.unmount(".")  # the old root, which now lies over the new one
    os.chdir("/")
    sealed = MS_RDONLY | MS_NOSUID | MS_NODEV
    syscalls.mount("none", "/", "", syscalls.MS_BIND | syscalls.MS_REMOUNT | sealed)


def _show(path: str, root: str, flags: int) -> None:
    target = Path(root + path)
    if Path(path).is_dir():
        target.mkdir(parents=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    syscalls.mount(path, str(target), "", syscalls.MS_BIND | syscalls.MS_REC)
    syscalls.freeze_mount(str(target), flags)


def _cover(path: str) -> None:
    """Put an empty folder, which nobody can fill, over a folder."""
    flags = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC
    syscalls.mount("tmpfs", path, "tmpfs", flags, "size=4k,mode=0555")


def private_tmp() -> str:
    """Mount a /tmp that only this process sees; it is gone when the process is.

    It is empty, but for what may be read and lies there: a course that is tried out in /tmp.
    """
    shown = readable.beneath(TMP)
    syscalls.unshare(syscalls.CLONE_NEWNS | syscalls.CLONE_NEWIPC)
    options = f"size={TMP_BYTES},nr_inodes={TMP_ENTRIES},mode=1777"
    syscalls.mount("tmpfs", TMP, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options)
    for path in shown:
        Path(path).mkdir(parents=True)
        syscalls.mount(ASIDE + path, path, "", syscalls.MS_BIND | syscalls.MS_REC)
    return TMP
