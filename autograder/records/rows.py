"""A result as a row, and back."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from typing import Any

from autograder.records.keys import Key, Stored
from autograder.verdict import Verdict


def row_of(key: Key, record: Mapping[str, Any], notebook: str) -> dict[str, Any]:
    """Write a result as the columns that it decides. Raises ValueError for NaN in the record."""
    ending = verdict(record)
    return key._asdict() | {
        "verdict": ending,
        "score": record["score"],
        "max_score": record["max_score"],
        "final": ending != Verdict.GRADER_ERROR,
        "record": json.dumps(record, allow_nan=False),
        "notebook": zlib.compress(notebook.encode("utf-8", "surrogatepass")),
    }


def verdict(record: Mapping[str, Any]) -> str:
    """Name the whole. A grader error goes before all else: the submission is graded again."""
    endings = [exercise["verdict"] for exercise in record["exercises"]]
    if Verdict.GRADER_ERROR in endings:
        return str(Verdict.GRADER_ERROR)
    if record.get("error"):
        return "unreadable"
    return next((ending for ending in endings if ending != Verdict.PASS), str(Verdict.PASS))


def stored_of(row: Mapping[str, Any]) -> Stored:
    """Read a row, all columns but the notebook."""
    kept = {name: value for name, value in row.items() if name not in Key._fields}
    key = Key(*(row[name] for name in Key._fields))
    return Stored(key=key, **kept | {"record": json.loads(row["record"])})


def notebook_of(packed: bytes) -> str:
    """Read the column of the notebook."""
    return zlib.decompress(packed).decode("utf-8", "surrogatepass")


def digest(stored: Stored) -> str:
    """Sum up a result without its times, as 64 hex digits."""
    record = {name: value for name, value in stored.record.items() if name != "seconds"}
    return hashlib.sha256(json.dumps([stored.key, record], sort_keys=True).encode()).hexdigest()
