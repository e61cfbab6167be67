"""Grade a class: what is on record already is not graded again, and what is graded is recorded.

The records come first, and are the truth; the gradebook follows from them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from autograder.classwork import Work
from autograder.dispatch.run import Failed, run
from autograder.jobs import Job
from autograder.records import Key, Records
from autograder.result import Result, result_of
from autograder.unit import given_up
from autograder.worker import work


class Gradebook(Protocol):
    """Where an instructor looks at results."""

    def known_as(self, student: str) -> str:
        """Give the name under which it keeps a student."""

    def keep(
        self,
        record: dict[str, Any],
        notebook: Mapping[str, Any] | None,
        handed_in: datetime | None = None,
    ) -> None:
        """Take one result; the same one again changes nothing."""

    def commit(self) -> None:
        """Write what was taken."""


@dataclass
class Class:
    """A class and where its results go."""

    work: Work
    records: Records
    gradebook: Gradebook

    def __post_init__(self) -> None:
        """Look up what is still to be graded."""
        self.keys = {self.key(job): self._told_of_name(job) for job in self.work.jobs}
        self.missing = self.records.missing(self.keys)

    def key(self, job: Job) -> Key:
        """Name the result of a job."""
        settings = self.work.settings
        version = settings.versions.get(job.chapter, "")
        return Key(job.student, job.chapter, job.digest, version, settings.seed_id)

    def _told_of_name(self, job: Job) -> Job:
        name = self.gradebook.known_as(job.student)
        if name == job.student:
            return job
        return replace(job, notes=(*job.notes, f"called {name} in grades.csv and feedback/"))

    def take_up(self) -> int:
        """Put what is on record into the gradebook, and tell how many results that were.

        An earlier run may have been killed between the two.
        """
        done = self.keys.keys() - self.missing
        self.records.stand(done)
        for stored in self.records.current():
            if stored.key in done:
                notebook = _notebook(self.records.notebook(stored.id))
                self.gradebook.keep(stored.record, notebook, self.keys[stored.key].handed)
        self.gradebook.commit()
        return len(done)

    def grade(self, make_executor: Callable[[], Executor], window: int) -> Iterator[Result]:
        """Grade what is missing, and yield each result once it is on record."""
        settings = self.work.settings
        jobs = (job.loaded() for key, job in self.keys.items() if key in self.missing)
        ended = run(jobs, partial(work, settings), make_executor, window)
        with self.records.batch() as batch:
            for job, outcome in ended:
                if isinstance(outcome, Failed):
                    done = given_up(settings, job, outcome.reason)
                else:
                    done = outcome
                batch.add(self.key(job), done.record, done.notebook)
                self.gradebook.keep(done.record, _notebook(done.notebook), job.handed)
                yield result_of(done.record)
        self.gradebook.commit()

    def results(self) -> Iterator[Result]:
        """Give the current result of every submission of this class, in the students' order."""
        for stored in self.records.current():
            if stored.key in self.keys:
                yield result_of(stored.record)


def _notebook(text: str) -> dict[str, Any] | None:
    return json.loads(text) if text else None
