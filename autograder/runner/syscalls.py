"""The kernel's calls that Python does not offer, each raising OSError with the name of the call.

Numbers are given for x86_64 and aarch64, the two machines that the sandbox knows.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct

MACHINES = ("x86_64", "aarch64")

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

CAP_CHOWN = 0
CAP_DAC_READ_SEARCH = 2
CAP_KILL = 5
CAP_SETGID = 6
CAP_SETUID = 7
CAP_SETPCAP = 8
CAPABILITY_VERSION = 0x20080522
MOST_CAPABILITIES = 64

AT_FDCWD = -100
AT_RECURSIVE = 0x8000
MOUNT_SETATTR = 442
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

_libc = ctypes.CDLL(None, use_errno=True)


def machine() -> str:
    """Name the instruction set, as in MACHINES."""
    return platform.machine()


def call(name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Call a function of the C library; raises OSError with its name and the kernel's reason."""
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result: int = getattr(_libc, name)(*words)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def raw(number: int, *arguments: int | bytes | None) -> int:
    """Make a system call by its number."""
    return call("syscall", number, *arguments)


def prctl(option: int, *arguments: int) -> int:
    """Set one property of this process."""
    return call("prctl", option, *arguments, *[0] * (4 - len(arguments)))


def unshare(flags: int) -> None:
    """Leave namespaces for new ones."""
    call("unshare", flags)


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount a file system, or with MS_BIND show a folder at a second place."""
    call("mount", source.encode(), target.encode(), kind.encode(), flags, options.encode())


def freeze_mount(target: str, flags: int) -> None:
    """Add restrictions (MS_RDONLY, MS_NOSUID, ...) to a mount and to all mounts beneath it.

    The four restrictions have the same values in mount(2) and in mount_setattr(2).
    """
    attributes = struct.pack("=QQQQ", flags, 0, 0, 0)
    raw(MOUNT_SETATTR, AT_FDCWD, target.encode(), AT_RECURSIVE, attributes, len(attributes))


def unmount(target: str) -> None:
    """Take a mount, and all beneath it, out of sight."""
    call("umount2", target.encode(), MNT_DETACH)


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root folder; the former root is then mounted at `old`."""
    raw(PIVOT_ROOT[machine()], new.encode(), old.encode())


def keep_capabilities(kept: int) -> None:
    """Give up all capabilities but the bits in `kept`, for this process and what it starts."""
    low, high = kept & 0xFFFFFFFF, kept >> 32
    header = struct.pack("=Ii", CAPABILITY_VERSION, 0)
    call("capset", header, struct.pack("=6I", low, low, 0, high, high, 0))


def drop_bounding_set() -> None:
    """Make sure that no capability can be had again; needs CAP_SETPCAP."""
    for number in range(MOST_CAPABILITIES):
        try:
            prctl(PR_CAPBSET_DROP, number)
        except OSError as error:
            if isinstance(error, PermissionError):
                raise
            return  # the kernel knows no more capabilities
