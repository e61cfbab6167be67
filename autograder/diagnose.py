"""Which known mistake behaves like this answer?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.compare import alike
from autograder.perform import perform
from autograder.spec import Case, Exercise, Implementation, Trial, hint_of
from autograder.wire import Reply


@dataclass(frozen=True)
class Observation:
    """What an answer did on one trial, and what is wrong with it, if anything."""

    case: Case
    trial: Trial
    reply: Reply
    problem: str | None


@dataclass(frozen=True)
class Suspicion:
    """A known mistake that gives the answer's numbers; certain if it does so on every trial."""

    mistake: Implementation
    certain: bool

    def __str__(self) -> str:
        """Write the one line that a student reads."""
        return f"{'Likely' if self.certain else 'Possible'} cause: {hint_of(self.mistake)}"


def suspect(exercise: Exercise, seen: Sequence[Observation]) -> Suspicion | None:
    """Find the mistake that reproduces most of the wrong replies, or None if none does.

    A fault says less than a number: an answer that only raises matches a mistake only if the two
    agree on every trial.
    """
    wrong = [o for o in seen if o.problem]
    right = [o for o in seen if not o.problem]
    best, best_rank = None, (0, 0)
    for mistake in exercise.mistakes:
        same = _agreeing(mistake, wrong)
        if not same:
            continue
        also = _agreeing(mistake, right)
        certain = len(same) + len(also) == len(seen)
        if not certain and all(o.reply.fault for o in same):
            continue
        rank = (len(same), len(also))
        if rank > best_rank:
            best, best_rank = Suspicion(mistake, certain), rank
    return best


def _agreeing(mistake: Implementation, seen: Sequence[Observation]) -> list[Observation]:
    return [
        o for o in seen if alike(o.reply, perform(mistake, o.trial.request), o.case.tolerance)
    ]
