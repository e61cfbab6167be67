"""The system calls that a session may not make, as a filter that the kernel runs on each.

No new process, no program, no socket to anywhere, no signal to others, no change of mounts, limits
or clocks. What is not named stays allowed up to the newest number that we know; above that, a call
does not exist. The filter is packed by hand: it is fifty lines, and needs no library.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Iterable

from autograder.runner import syscalls

NEWEST = 462
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

KILL = 0x80000000
ALLOW = 0x7FFF0000
ERRNO = 0x00050000
REFUSE = ERRNO | errno.EPERM
ABSENT = ERRNO | errno.ENOSYS
PRETEND = ERRNO  # the call "succeeds" and does nothing

# name -> number on x86_64 and on aarch64
REFUSED = {
    # processes and programs
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    # the network, and named local sockets
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    # other processes
    "kill": (62, 129),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "get_robust_list": (274, 100),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    # mounts and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "statmount": (457, 457),
    "listmount": (458, 458),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # memory outside the limits, and shared with others
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # parts of the kernel that nothing here needs
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_setup": (206, 0),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "seccomp": (317, 277),
    "personality": (135, 92),
    "modify_ldt": (154, None),
    "lookup_dcookie": (212, 18),
    # the machine
    "setrlimit": (160, 164),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "sync": (162, 81),
    "syslog": (103, 116),
    "acct": (163, 89),
    "vhangup": (153, 58),
    "uselib": (134, None),
    "iopl": (172, None),
    "ioperm": (173, None),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
}

# Landlock does not guard these. Programs set modes and times by the way: they may think they did.
UNGUARDED = {
    "truncate": (76, 45),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
}
HARMLESS_TO_SKIP = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
}
CLONE = (56, 220)
CLONE3 = (435, 435)
TGKILL = (234, 131)
PRCTL = (157, 167)
PRLIMIT = (302, 261)
FCNTL = (72, 25)
IOCTL = (16, 29)
SOCKETPAIR = (53, 199)

CLONE_THREAD = 0x00010000
CLONE_NEW_WORLD = 0x7E020000
PR_NAMES = (15, 16, 0x53564D41)  # set and get a thread's name, name a piece of memory
F_FOR_OTHERS = (8, 15, 10, 1024, 1026)  # SETOWN, SETOWN_EX, SETSIG, SETLEASE, NOTIFY
TERMINAL_AND_OWNER = (0x5412, 0x541C, 0x8901, 0x8902)  # TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP
AF_UNIX, SOCK_STREAM = 1, 1

# One instruction of the filter; the classic BPF codes are in linux/bpf_common.h.
LOAD, EQUAL, GREATER, HAS_BITS, AND, RETURN = 0x20, 0x15, 0x25, 0x45, 0x54, 0x06
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16
Program = list[bytes]


def install(own: int, *, guard_modes: bool) -> None:
    """Bind this process, for good, to the filter.

    own          its process number: signals to its own threads stay possible
    guard_modes  also keep it from changing modes, owners and dates of files
    """
    bind(program(own, syscalls.machine(), guard_modes=guard_modes))


def bind(code: Program) -> None:
    """Bind this process to any filter. Raises OSError if the kernel does not take it."""
    instructions = ctypes.create_string_buffer(b"".join(code))
    fprog = struct.pack("HxxxxxxP", len(code), ctypes.addressof(instructions))
    held = ctypes.create_string_buffer(fprog, len(fprog))
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    syscalls.prctl(syscalls.PR_SET_SECCOMP, 2, ctypes.addressof(held))


def program(own: int, machine: str, *, guard_modes: bool) -> Program:
    """Write the filter for a machine of `syscalls.MACHINES`."""
    column = syscalls.MACHINES.index(machine)
    code = [
        _word(LOAD, ARCHITECTURE_AT),
        *_unless(AUDIT_ARCH[machine], [_give(KILL)]),
        _word(LOAD, NUMBER_AT),
        _jump(GREATER, NEWEST, 0, 1),  # the numbers of x32 are above it too
        _give(ABSENT),
    ]
    code += _each(REFUSED, column, REFUSE)
    if guard_modes:
        code += _each(UNGUARDED, column, REFUSE) + _each(HARMLESS_TO_SKIP, column, PRETEND)
    code += _on(CLONE3[column], [_give(ABSENT)])  # its flags are behind a pointer
    for numbers, block in _conditions(own):
        code += _on(numbers[column], block)
    return [*code, _give(ALLOW)]


def _conditions(own: int) -> list[tuple[tuple[int, int], Program]]:
    return [
        (CLONE, _threads_only()),
        (TGKILL, _only(0, [own])),
        (PRCTL, _only(0, PR_NAMES)),
        (FCNTL, _never(1, F_FOR_OTHERS)),
        (IOCTL, _never(1, TERMINAL_AND_OWNER)),
        (PRLIMIT, _only_reading_limits()),
        (SOCKETPAIR, _only_connected_pairs()),
    ]


def _threads_only() -> Program:
    return [
        _argument(0),
        _jump(HAS_BITS, CLONE_THREAD, 0, 2),
        _jump(HAS_BITS, CLONE_NEW_WORLD, 1, 0),
        _give(ALLOW),
        _give(REFUSE),
    ]


def _only_reading_limits() -> Program:
    return [
        _argument(2),
        _jump(EQUAL, 0, 0, 3),
        _argument(2, upper=True),
        _jump(EQUAL, 0, 0, 1),
        _give(ALLOW),
        _give(REFUSE),
    ]


def _only_connected_pairs() -> Program:
    """Allow stream pairs, as asyncio makes; a datagram socket could send to any local name."""
    return [
        _argument(0),
        _jump(EQUAL, AF_UNIX, 0, 4),
        _argument(1),
        _word(AND, 0xF),
        _jump(EQUAL, SOCK_STREAM, 0, 1),
        _give(ALLOW),
        _give(REFUSE),
    ]


def _only(place: int, allowed: Iterable[int]) -> Program:
    tests = [line for value in allowed for line in (_jump(EQUAL, value, 0, 1), _give(ALLOW))]
    return [_argument(place), *tests, _give(REFUSE)]


def _never(place: int, refused: Iterable[int]) -> Program:
    tests = [line for value in refused for line in (_jump(EQUAL, value, 0, 1), _give(REFUSE))]
    return [_argument(place), *tests, _give(ALLOW)]


def _each(calls: dict[str, tuple[int, int | None]], column: int, result: int) -> Program:
    numbers = [pair[column] for pair in calls.values()]
    return [line for n in numbers if n is not None for line in _on(n, [_give(result)])]


def _on(number: int, block: Program) -> Program:
    return [_jump(EQUAL, number, 0, len(block)), *block]


def _unless(value: int, block: Program) -> Program:
    return [_jump(EQUAL, value, len(block), 0), *block]


def _argument(place: int, *, upper: bool = False) -> bytes:
    return _word(LOAD, ARGUMENTS_AT + 8 * place + 4 * upper)


def _give(result: int) -> bytes:
    return _word(RETURN, result)


def _word(code: int, value: int) -> bytes:
    return _jump(code, value, 0, 0)


def _jump(code: int, value: int, when: int, otherwise: int) -> bytes:
    return struct.pack("=HBBI", code, when, otherwise, value)
