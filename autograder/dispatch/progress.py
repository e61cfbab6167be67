"""How far a batch is, and how long it will still take."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TextIO

REMEMBERED = 50  # so many of the last results make the rate
SURE_AFTER = 5
QUIET_SECONDS = 10.0


class Progress:
    """Lines such as "[12/300] ann: 18 of 20 points, wrong, 0.1 s  (about 1 min left)".

    A terminal gets a line for each result; a file gets one in ten seconds, and the last.
    """

    def __init__(
        self,
        total: int,
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Expect so many results, from now on."""
        self._total = total
        self._stream = stream
        self._clock = clock
        self._number = 0
        self._times = deque([clock()], maxlen=REMEMBERED + 1)
        self._told = float("-inf")

    def tell(self, what: str) -> None:
        """Take one more result, and write its line if it is time for one."""
        self._number += 1
        now = self._clock()
        self._times.append(now)
        early = now - self._told < QUIET_SECONDS and self._number < self._total
        if early and not self._stream.isatty():
            return
        self._told = now
        self._stream.write(f"[{self._number}/{self._total}] {what}{self._left()}\n")
        self._stream.flush()

    def _left(self) -> str:
        """Say how long the rest will take at the rate of the last results, once there are some."""
        left = self._total - self._number
        if self._number < SURE_AFTER or left <= 0:
            return ""
        spent = self._times[-1] - self._times[0]
        return f"  (about {duration(left * spent / (len(self._times) - 1))} left)"


def duration(seconds: float) -> str:
    """Write a time as roughly as an estimate is: "20 s", "3 min", "2 h 10 min"."""
    if seconds < 55:
        return f"{max(5, 5 * round(seconds / 5))} s"
    minutes = max(1, round(seconds / 60))
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(10 * round(minutes / 10), 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"
