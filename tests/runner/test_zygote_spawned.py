"""Sessions in new processes, as on systems where none can be forked: these run everywhere."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from sealed import alive_after, children

from autograder.faults import FaultKind, SessionEnded
from autograder.frames import LARGEST, decode, encode
from autograder.spawned import Spawned

OPTIONS = {"modules": {}, "seconds": 5}


@pytest.fixture
def spawned():
    with Spawned() as spawned:
        yield spawned


def cell(session, source, seconds=20.0):
    message = encode({"do": "cell", "source": source, "seconds": 60, "number": 1})
    return str(decode(session.exchange(message, seconds, LARGEST)))


@pytest.mark.slow
def test_a_session_answers_and_leaves_nothing(spawned):
    threads = threading.active_count()
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else None
    session = spawned.session(OPTIONS)
    assert spawned.tier == "none"
    assert "'2'" in cell(session, "1 + 1")
    process = session._process.pid
    spawned.close()
    session.end()
    with pytest.raises(SessionEnded, match="was ended"):
        cell(session, "1")
    assert threading.active_count() == threads
    if before is not None:
        assert alive_after([process], 5) == []
        # one descriptor stays: multiprocessing keeps its resource tracker
        assert len(os.listdir("/proc/self/fd")) <= before + 1


ENDS = {
    "time": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        FaultKind.TIME,
    ),
    "exit": ("import os; os._exit(3)", FaultKind.EXITED),
    "killed": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", FaultKind.MEMORY),
}


@pytest.mark.slow
@pytest.mark.parametrize(("source", "kind"), ENDS.values(), ids=ENDS)
def test_the_cause_of_an_end_is_told(source, kind, spawned):
    session = spawned.session(OPTIONS)
    start = time.monotonic()
    cell(session, "1")
    with pytest.raises(SessionEnded, match=r"\w") as caught:
        cell(session, source, 1.0)
    assert caught.value.kind is kind
    assert time.monotonic() - start < 60


@pytest.mark.slow
def test_an_answer_that_is_too_large_is_refused(spawned):
    session = spawned.session(OPTIONS)
    with pytest.raises(SessionEnded, match="no answer") as caught:
        session.exchange(
            encode({"do": "cell", "source": "print('x' * 1000)", "seconds": 5, "number": 1}), 20, 10
        )
    assert caught.value.kind is FaultKind.OUTPUT


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_what_a_session_started_ends_with_it(spawned):
    session = spawned.session(OPTIONS)
    fork = "import os, time\nif os.fork() == 0:\n    time.sleep(60)\n1"
    assert "'1'" in cell(session, fork)
    started = children(session._process.pid)
    assert started
    spawned.close()
    assert alive_after(started, 5) == []
    assert signal.SIGKILL
