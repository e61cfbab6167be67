"""The judge's hold on sessions: the clock wins, the cause is told, and nothing is left behind."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from sealed import alive, alive_after, boot, children, family, run, zygote_of

from autograder import zygotes
from autograder.faults import FaultKind, SessionEnded
from autograder.zygotes import Zygote, ZygoteError, best_tier, open_zygote, why_not

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", params=zygotes.TIERS)
def zygote(request):
    with zygote_of(request.param) as zygote:
        yield zygote


def ending(session, body, seconds=10.0):
    """Run a body that must end the session; return how that was told, and after how long."""
    start = time.monotonic()
    with pytest.raises(SessionEnded, match=r"\w") as caught:
        run(session, body, seconds)
    return caught.value, time.monotonic() - start


# What ends a session

SLOW = {
    "sleep": "import time\ntime.sleep(60)",
    "busy": "while True: pass",
    "busy in C": "return 7 ** 10**9",
    "half a head": "import time\nos.write(3, b'\\0\\0')\ntime.sleep(60)",
    "half a frame": "import time\nos.write(3, b'\\0\\0\\0\\x10abc')\ntime.sleep(60)",
    "drops": "import time\nos.write(3, b'\\0\\0\\xff\\xff')\n"
    "while True:\n    os.write(3, b'x')\n    time.sleep(0.05)",
    "deaf to signals": "import signal, time\n"
    "for n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n"
    "    except (OSError, ValueError): pass\n"
    "time.sleep(60)",
    "stopped": "import signal\nsignal.raise_signal(signal.SIGSTOP)",
}
FLOODS = {
    "a length of 2 GB": "os.write(3, b'\\x7f\\xff\\xff\\xff')\n"
    "while True: os.write(3, bytes(1 << 20))",
    "a negative length": "os.write(3, b'\\xff\\xff\\xff\\xff' * 10)",
    "more than asked for": "connection.send_bytes(bytes(2 << 20))",
}
EXITS = {
    "exit": ("os._exit(3)", FaultKind.EXITED, "ended Python"),
    "crash": ("ctypes.string_at(0)", FaultKind.EXITED, "crashed Python"),
    "abort": ("os.abort()", FaultKind.EXITED, "crashed Python"),
    "hang up": ("import time\nos.close(3)\ntime.sleep(60)", FaultKind.EXITED, "closed its line"),
    "killed": ("import signal\nsignal.raise_signal(9)", FaultKind.MEMORY, "memory ran out"),
}


@pytest.mark.parametrize("body", SLOW.values(), ids=SLOW)
def test_the_clock_wins(body, zygote):
    ended, seconds = ending(zygote.session({}), body, 0.5)
    assert (ended.kind, str(ended)) == (FaultKind.TIME, "still running after 0.5 seconds")
    assert seconds < 3


@pytest.mark.parametrize("body", FLOODS.values(), ids=FLOODS)
def test_a_flood_ends_at_once(body, zygote):
    ended, seconds = ending(zygote.session({}), body)
    assert ended.kind is FaultKind.OUTPUT
    assert seconds < 3


@pytest.mark.parametrize(("body", "kind", "words"), EXITS.values(), ids=EXITS)
def test_the_cause_of_an_end_is_told(body, kind, words, zygote):
    ended, seconds = ending(zygote.session({}), body)
    assert ended.kind is kind
    assert words in str(ended)
    assert seconds < 5


@pytest.mark.parametrize(
    ("ended", "cpu", "kind"),
    [
        ("signal 24", 300.0, FaultKind.TIME),
        ("signal 9", 299.9, FaultKind.TIME),
        ("signal 9", 1.0, FaultKind.MEMORY),
        ("disk", 1.0, FaultKind.MEMORY),
        ("running", 1.0, FaultKind.EXITED),
        ("signal 11", 299.9, FaultKind.EXITED),
        ("exit 0", 299.9, FaultKind.EXITED),
    ],
)
def test_an_end_has_one_kind(ended, cpu, kind):
    assert zygotes._cause({"ended": ended, "cpu": cpu})[0] is kind


def test_what_nobody_asked_for_ends_a_session(zygote):
    session = zygote.session({})
    assert run(session, "connection.send_bytes(b'forged')") == "forged"
    time.sleep(0.2)  # the true reply comes after it
    ended, _ = ending(session, "return 1")
    assert (ended.kind, str(ended)) == (
        FaultKind.OUTPUT,
        "the code sent something that nobody asked for",
    )


def test_a_message_that_nobody_reads_does_not_block(zygote):
    session = zygote.session({})
    start = time.monotonic()
    assert (
        run(
            session,
            "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()",
        )
        == "None"
    )
    with pytest.raises(SessionEnded, match="still running"):
        session.exchange(b"import time; time.sleep(60)\n" + b" " * (1 << 20), 0.5, 100)
    assert time.monotonic() - start < 5


def test_large_messages_pass_both_ways(zygote):
    session = zygote.session({})
    body = "attack = lambda: len(code)  # " + "x" * (3 << 20)
    assert int(session.exchange(f"code = {body!r}\n{body}".encode(), 20, 100)) == len(body)
    size = 5 << 20
    assert (
        len(session.exchange(f"attack = lambda: 'x' * {size}".encode(), 20, 2 * size)) == size + 2
    )


def test_after_its_end_a_session_says_so(zygote):
    session = zygote.session({})
    session.end()
    session.end()
    with pytest.raises(SessionEnded, match="was ended"):
        run(session, "return 1")


def test_options_arrive_whatever_their_size(zygote):
    session = zygote.session({"modules": {"a": "x" * 10**6}})
    assert run(session, "return len(options['modules']['a'])") == "1000000"


def test_a_new_session_ends_the_one_before(zygote):
    first = zygote.session({})
    process = family(zygote._process.pid)[-1]
    second = zygote.session({})
    assert alive([process]) == []
    assert run(second, "return 1") == "1"
    with pytest.raises(SessionEnded, match="was ended"):
        run(first, "return 1")


# Nothing is left


def open_descriptors():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("tier", zygotes.TIERS)
def test_closing_leaves_no_process_descriptor_thread_or_folder(tier):
    before = open_descriptors(), threading.active_count()
    with zygote_of(tier) as zygote:
        run(zygote.session({}), "open('left', 'w').write('x')")
        processes = family(zygote._process.pid)
        assert len(processes) == 3
        assert Path(zygote._scratch).exists()
        for _ in range(20):
            zygote.session({}).end()
    assert [p for p in processes if Path(f"/proc/{p}").exists()] == []
    assert not Path(zygote._scratch).exists()
    assert (open_descriptors(), threading.active_count()) == before


@pytest.mark.parametrize("tier", zygotes.TIERS)
@pytest.mark.parametrize("generation", [0, 1], ids=["launcher", "zygote"])
def test_a_dead_zygote_is_an_error_of_ours_and_takes_all_along(tier, generation):
    with zygote_of(tier) as zygote:
        session = zygote.session({})
        processes = family(zygote._process.pid)
        os.kill(processes[generation], signal.SIGKILL)
        with pytest.raises(ZygoteError, match="the parent of the sandboxes"):
            run(session, "import time\ntime.sleep(30)", 20)
        assert alive_after(processes, 5) == []
        with pytest.raises(ZygoteError, match="the parent of the sandboxes"):
            zygote.session({})
    with zygote_of(tier) as zygote:
        assert run(zygote.session({}), "return 1") == "1"


JUDGE = """
import os, sys, time
from autograder import zygotes
zygotes.BOOT = {boot!r}
zygote = zygotes.Zygote({tier!r})
session = zygote.session({{}})
if os.fork() == 0:  # it holds a copy of all that the judge holds
    time.sleep(60)
print(zygote._process.pid, zygote._scratch, flush=True)
session.exchange(b"import time; time.sleep(60)", 60, 100)
"""


@pytest.mark.parametrize("tier", zygotes.TIERS)
def test_nothing_survives_a_judge_that_is_killed(tier):
    if reason := why_not(tier):
        pytest.skip(reason)
    command = [sys.executable, "-c", JUDGE.format(boot=boot(), tier=tier)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as judge:
        assert judge.stdout is not None
        launcher, scratch = judge.stdout.readline().split()
        processes = family(int(launcher))
        (copy,) = set(children(judge.pid)) - {int(launcher)}
        try:
            assert len(processes) == 3
            judge.kill()
            judge.wait()
            assert alive_after(processes, 5) == []
            assert not Path(scratch).exists()
        finally:
            os.kill(copy, signal.SIGKILL)


def test_a_zygote_returns_before_its_imports_are_done():
    start = time.monotonic()
    with Zygote("none", warm=False) as zygote:
        assert time.monotonic() - start < 0.5
        assert zygote.tier == "none"


# Which tier


def test_the_tier_none_does_not_pass_for_a_sandbox():
    with Zygote("none", warm=False) as zygote:
        found = zygote.probe([__file__])
    assert found == [f"{__file__} can be read", "a process can be made", "a socket can be opened"]


def test_a_machine_without_the_calls_has_no_sandbox(monkeypatch):
    monkeypatch.setattr(zygotes, "_can_fork", lambda: False)
    why_not.cache_clear()
    try:
        assert why_not("namespaces") == "it needs Linux on x86_64 or aarch64"
        assert isinstance(open_zygote("none"), zygotes.Spawned)
        with pytest.raises(ZygoteError, match="'landlock' is not to be had: it needs Linux"):
            open_zygote("landlock")
    finally:
        why_not.cache_clear()


CONTAINER = """
import ctypes, errno, struct, sys
from autograder.runner import seccomp, syscalls
from autograder.zygotes import best_tier, why_not
refused = {{name: seccomp.REFUSED[name] for name in ("unshare", "mount")}}
column = syscalls.MACHINES.index(syscalls.machine())
code = [seccomp._word(seccomp.LOAD, 0), *seccomp._each(refused, column, seccomp.REFUSE)]
for number in {absent}:
    code += seccomp._on(number, [seccomp._give(seccomp.ABSENT)])
seccomp.bind([*code, seccomp._give(seccomp.ALLOW)])
print(best_tier(), "|", why_not("namespaces"), "|", why_not("landlock"))
"""


@pytest.mark.parametrize(
    ("absent", "tier", "words"),
    [([], "landlock", "unshare: "), ([444], "none", "syscall: Function not implemented")],
    ids=["container", "old container"],
)
def test_the_tier_falls_back_by_evidence(absent, tier, words):
    if reason := why_not("landlock"):
        pytest.skip(reason)
    command = [sys.executable, "-c", CONTAINER.format(absent=absent)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == tier
    assert words in done.stdout


def test_the_environment_of_a_zygote_is_small(monkeypatch):
    monkeypatch.setenv("COURSE_SEED", "secret")
    monkeypatch.setenv("DATABASE_URL", "secret")
    held = zygotes._environment("somewhere")
    assert "secret" not in json.dumps(held)
    assert held["MPLBACKEND"].startswith("module://")
    assert best_tier() in zygotes.TIERS
