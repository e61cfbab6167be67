"""Ask for the trials of a case together: each way through the wall takes longer than an answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from autograder.conversation import Conversation, Help
from autograder.faults import Fault, FaultKind
from autograder.frames import encode, request_data
from autograder.judge import trials
from autograder.spec import Case, Exercise
from autograder.wire import Data, Reply, Request

MOST = 40  # requests sent together
WATCHED = 3  # one request in so many

NOTHING_CAME = Reply(fault=Fault(FaultKind.OUTPUT, "no answer came back"))
TOO_LATE = Reply(fault=Fault(FaultKind.TIME, "the whole notebook ran out of time"))


@dataclass(frozen=True)
class Batch:
    """Requests that are sent together, and how they are written."""

    requests: tuple[Request, ...]
    written: bytes


@dataclass
class Asker:
    """Reaches one answer of a session: what `judge` asks.

    standins  exercises whose course version takes the place of the notebook's own
    help      computes them
    until     time (monotonic) after which nothing more is asked
    """

    talk: Conversation
    exercise: Exercise
    seed: str
    until: float
    standins: Sequence[str]
    help: Help
    replies: dict[int, Reply] = field(default_factory=dict)

    def __call__(self, request: Request) -> Reply:
        """Give the reply to one of the exercise's requests."""
        if id(request) not in self.replies:
            self._ask(_batch_of(self.exercise, self.seed, request))
        return self.replies.pop(id(request))

    def _ask(self, batch: Batch) -> None:
        came: list[Reply] = [TOO_LATE]
        if time.monotonic() < self.until:
            count = len(batch.requests)
            came = self.talk.ask(self.exercise.id, batch.written, count, self.standins, self.help)
        padded = [*came, *[NOTHING_CAME] * len(batch.requests)]
        self.replies = {id(r): reply for r, reply in zip(batch.requests, padded, strict=False)}


def _batch_of(exercise: Exercise, seed: str, request: Request) -> Batch:
    for case in exercise.cases:
        for batch in _batches(exercise, case, seed):
            if any(one is request for one in batch.requests):
                return batch
    raise LookupError(f"{exercise.id} has no such request")


@lru_cache(maxsize=1024)  # as many as there are cases in a chapter or two
def _batches(exercise: Exercise, case: Case, seed: str) -> list[Batch]:
    requests = [trial.request for trial in trials(exercise, case, seed)]
    groups = [requests[at : at + MOST] for at in range(0, len(requests), MOST)]
    return [Batch((*group,), encode(_written(exercise, group))) for group in groups]


def _written(exercise: Exercise, requests: Sequence[Request]) -> list[Data]:
    """Write requests; some of them have it told which functions were called, which takes time."""
    watched = [
        replace(one, watch=exercise.forbidden) if i % WATCHED == 0 else one
        for i, one in enumerate(requests)
    ]
    return [request_data(one) for one in watched]
