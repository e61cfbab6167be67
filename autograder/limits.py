"""How long things may take, and a limit for one call where the system has an interval timer."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


@dataclass(frozen=True)
class Limits:
    """Seconds.

    cell        one cell; the next ones still run
    request     one use of an answer
    submission  a whole notebook: what is not reached by then has run out of time
    grace       what a session may take beyond the first two before it is killed
    """

    cell: float = 30.0
    request: float = 5.0
    submission: float = 180.0
    grace: float = 3.0


class OutOfTime(BaseException):
    """The call took too long. Not an Exception, so that `except Exception` does not swallow it."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block after `seconds`, and again each second if it is swallowed.

    Without an interval timer, or outside the main thread, the block runs without a limit.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not (hasattr(signal, "setitimer") and in_main_thread):
        yield
        return
    previous = signal.signal(signal.SIGALRM, _raise_out_of_time)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _raise_out_of_time(signum: int, frame: FrameType | None) -> None:
    del signum, frame  # the system passes them
    raise OutOfTime
