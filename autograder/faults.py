"""How a use of an answer can fail, and how its process can end. No torch: it is needed early."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FaultKind(StrEnum):
    """Why an answer gave no value."""

    NOT_WRITTEN = "not written"
    EXCEPTION = "exception"
    DEVICE = "device"
    NEEDS_DATA = "needs data"
    NO_GRADIENT = "no gradient"
    TIME = "time"
    MEMORY = "memory"
    EXITED = "exited"
    OUTPUT = "output"


@dataclass(frozen=True)
class Fault:
    """A call that gave no value, in words for the student.

    place names the line of the answer that failed; it is no part of what went wrong.
    """

    kind: FaultKind
    message: str
    place: str = ""


class SessionEnded(Exception):  # noqa: N818 - what happened, not that it is an error
    """The process that ran student code is no more; kind says how it ended."""

    def __init__(self, kind: FaultKind, detail: str) -> None:
        """Keep the kind and what is known, in words for the student."""
        super().__init__(detail)
        self.kind = kind
