"""Processes that open one empty database together and add the same results."""

import os
import signal
import time
from typing import Any

from autograder.records import Key, Records

KEYS = [Key(f"student {number}", "02_toys", "a", "b", "c") for number in range(20)]
RECORD: dict[str, Any] = {"score": 1.0, "max_score": 2.0, "exercises": []}


def add_all(url: str, at: float) -> int:
    """Wait for the moment, open, add, and tell how many were new."""
    time.sleep(max(0, at - time.time()))
    with Records.open(url) as records:
        return sum(records.add(key, RECORD, "") for key in KEYS)


def add_some_and_die(url: str) -> None:
    """Commit ten results, leave five in a batch, and be killed."""
    with Records.open(url) as records:
        records.add_many((key, RECORD, "") for key in KEYS[:10])
        batch = records.batch()
        for key in KEYS[10:15]:
            batch.add(key, RECORD, "")
        os.kill(os.getpid(), signal.SIGKILL)
