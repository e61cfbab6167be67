"""What travels to a worker and back. No torch: a worker starts a sandbox first, then the rest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder.limits import Limits
from autograder.untrusted import Unreadable, file_bytes


@dataclass(frozen=True)
class Job:
    """One submission to grade.

    chapter  empty if nothing tells which
    path     the file; empty if there is none, and then error says why
    digest   sha256 of the file
    data     its bytes, once it is to be graded
    handed   when it was handed in, in UTC, if something tells
    """

    student: str
    chapter: str
    path: str
    notes: tuple[str, ...] = ()
    error: str = ""
    digest: str = ""
    data: bytes = b""
    handed: datetime | None = None

    def loaded(self) -> Job:
        """Read the file, so that the job can travel to where the file is not."""
        if self.error:
            return self
        try:
            data = file_bytes(Path(self.path))
        except Unreadable as problem:
            return replace(self, error=f"{Path(self.path).name}: {problem}")
        return replace(self, data=data, digest=hashlib.sha256(data).hexdigest())


@dataclass(frozen=True)
class Settings:
    """What is the same for every submission of a class.

    frames   chapter -> the course's own notebook, as JSON
    version  chapter -> version of the assignment
    """

    seed: str
    tier: str
    frames: Mapping[str, str]
    versions: Mapping[str, str]
    limits: Limits = field(default_factory=Limits)

    @property
    def seed_id(self) -> str:
        """Name the seed without telling it."""
        return hashlib.sha256(f"seed id of {self.seed}".encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Done:
    """The record of a submission, and the executed notebook as JSON ("" if there is none)."""

    record: dict[str, Any]
    notebook: str
