"""The filter of system calls, run by a small interpreter of its instructions, for both machines."""

import errno
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.runner import seccomp
from autograder.runner.syscalls import MACHINES

OWN = 4321
ALLOW, KILL, REFUSE, ABSENT = seccomp.ALLOW, seccomp.KILL, seccomp.REFUSE, seccomp.ABSENT
HEADERS = {
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "/usr/include/asm-generic/unistd.h",
}
machines = pytest.mark.parametrize("machine", MACHINES)
words = st.integers(0, 2**64 - 1)


def verdict(machine, number, *arguments, arch=None, guard_modes=False):
    """Run the filter on one call as the kernel would."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    arch = seccomp.AUDIT_ARCH[machine] if arch is None else arch
    data = struct.pack("<IIQ6Q", number, arch, 0, *padded)
    code = [struct.unpack("=HBBI", one) for one in program(machine, guard_modes)]
    at, held = 0, 0
    while True:
        kind, when, otherwise, value = code[at]
        at += 1
        if kind == seccomp.RETURN:
            return value
        if kind == seccomp.LOAD:
            (held,) = struct.unpack_from("<I", data, value)
        elif kind == seccomp.AND:
            held &= value
        else:
            test = {
                seccomp.EQUAL: held == value,
                seccomp.GREATER: held > value,
                seccomp.HAS_BITS: bool(held & value),
            }
            at += when if test[kind] else otherwise


def program(machine, guard_modes=False):
    return seccomp.program(OWN, machine, guard_modes=guard_modes)


def numbers(calls, machine):
    column = MACHINES.index(machine)
    return {name: pair[column] for name, pair in calls.items() if pair[column] is not None}


@machines
def test_the_kernel_takes_a_program_of_this_length(machine):
    assert len(program(machine, guard_modes=True)) <= 4096


@machines
@given(number=st.integers(0, 2**32 - 1), arch=st.integers(0, 2**32 - 1))
def test_another_machine_is_killed(machine, number, arch):
    result = verdict(machine, number, arch=arch)
    assert result == KILL or arch == seccomp.AUDIT_ARCH[machine]


@machines
@given(number=st.integers(seccomp.NEWEST + 1, 2**32 - 1))
def test_unknown_calls_do_not_exist(machine, number):
    assert verdict(machine, number) == ABSENT


@machines
@given(arguments=st.lists(words, max_size=6))
def test_refused_calls_are_refused_whatever_their_arguments(machine, arguments):
    for number in numbers(seccomp.REFUSED, machine).values():
        assert verdict(machine, number, *arguments) == REFUSE


@machines
def test_modes_are_guarded_where_it_is_asked_for(machine):
    for calls, result in ((seccomp.UNGUARDED, REFUSE), (seccomp.HARMLESS_TO_SKIP, seccomp.PRETEND)):
        for number in numbers(calls, machine).values():
            assert verdict(machine, number) == ALLOW
            assert verdict(machine, number, guard_modes=True) == result


@machines
@given(flags=words)
def test_clone_makes_threads_and_nothing_else(machine, flags):
    column = MACHINES.index(machine)
    makes_thread = flags & 0x10000 and not flags & 0x7E020000
    assert verdict(machine, seccomp.CLONE[column], flags) == (ALLOW if makes_thread else REFUSE)
    assert verdict(machine, seccomp.CLONE3[column], flags) == ABSENT


@machines
@given(process=st.integers(0, 2**32 - 1), rest=words)
def test_signals_reach_only_its_own_threads(machine, process, rest):
    number = seccomp.TGKILL[MACHINES.index(machine)]
    assert verdict(machine, number, OWN, rest, 9) == ALLOW
    assert verdict(machine, number, process, rest, 9) == (ALLOW if process == OWN else REFUSE)


@machines
@given(new=words)
def test_limits_can_be_read_alone(machine, new):
    number = seccomp.PRLIMIT[MACHINES.index(machine)]
    assert verdict(machine, number, 0, 7, 0, new) == ALLOW
    assert verdict(machine, number, 0, 7, new, 0) == (REFUSE if new else ALLOW)
    assert verdict(machine, number, 0, 7, new << 32 & (2**64 - 1)) in (ALLOW, REFUSE)
    assert verdict(machine, number, 0, 7, 1 << 32) == REFUSE


@machines
@given(option=st.one_of(st.integers(0, 100), st.sampled_from(seccomp.PR_NAMES)))
def test_a_process_can_name_itself_and_set_nothing_else(machine, option):
    number = seccomp.PRCTL[MACHINES.index(machine)]
    assert (verdict(machine, number, option) == ALLOW) == (option in seccomp.PR_NAMES)


@machines
@given(
    family=st.integers(0, 50), kind=st.integers(0, 10), flags=st.sampled_from([0, 0x800, 0x80000])
)
def test_pairs_are_local_streams(machine, family, kind, flags):
    number = seccomp.SOCKETPAIR[MACHINES.index(machine)]
    stream = (family, kind) == (1, 1)
    assert verdict(machine, number, family, kind | flags) == (ALLOW if stream else REFUSE)


@machines
@pytest.mark.parametrize(
    ("call", "refused"),
    [(seccomp.FCNTL, seccomp.F_FOR_OTHERS), (seccomp.IOCTL, seccomp.TERMINAL_AND_OWNER)],
    ids=["fcntl", "ioctl"],
)
def test_what_could_signal_others_is_refused(machine, call, refused):
    number = call[MACHINES.index(machine)]
    assert {verdict(machine, number, 5, command) for command in refused} == {REFUSE}
    assert verdict(machine, number, 5, 1) == ALLOW


@machines
def test_ordinary_calls_are_allowed(machine):
    ordinary = {"x86_64": (0, 1, 2, 3, 9, 24, 202, 257, 231), "aarch64": (63, 64, 56, 57, 222, 98)}
    assert {verdict(machine, number) for number in ordinary[machine]} == {ALLOW}
    assert REFUSE & 0xFFFF == errno.EPERM


@machines
def test_the_numbers_are_those_of_the_headers(machine):
    header = Path(HEADERS[machine])
    if not header.exists():
        pytest.skip("the kernel's headers are not installed")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    known = {name: int(number) for name, number in found}
    named = {
        name: (getattr(seccomp, name.upper()))
        for name in ("clone", "clone3", "tgkill", "prctl", "fcntl", "ioctl", "socketpair")
    }
    tables = {**seccomp.REFUSED, **seccomp.UNGUARDED, **seccomp.HARMLESS_TO_SKIP, **named}
    ours = numbers({**tables, "prlimit64": seccomp.PRLIMIT}, machine)
    assert {name: n for name, n in ours.items() if known.get(name, n) != n} == {}
    assert len(ours.keys() & known.keys()) > 80
