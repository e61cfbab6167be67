"""Many results for one wait for the disk."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from autograder.records.keys import Key

Result = tuple[Key, dict[str, Any], str]


class Batch:
    """Results on their way into the records: `with records.batch() as batch: batch.add(...)`.

    What a kill -9 takes with it was in no record yet, and is graded again.
    """

    def __init__(self, write: Callable[[list[Result]], int], rows: int, seconds: float) -> None:
        """Write after so many results or, as soon as the next one comes, so many seconds."""
        self._write = write
        self._rows = rows
        self._seconds = seconds
        self._waiting: list[Result] = []
        self._since = 0.0

    def __enter__(self) -> Batch:
        """Give itself; leaving, by an exception too, writes what is left."""
        return self

    def __exit__(self, *_: object) -> None:
        """Write what is left."""
        self.flush()

    def add(self, key: Key, record: dict[str, Any], notebook: str) -> None:
        """Take a result; it is durable after the next flush. Raises as `flush` does."""
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append((key, record, notebook))
        late = time.monotonic() - self._since >= self._seconds
        if late or len(self._waiting) >= self._rows:
            self.flush()

    def flush(self) -> None:
        """Write what is waiting. Raises UsageError; what could not be written is not kept."""
        waiting, self._waiting = self._waiting, []
        self._write(waiting)
