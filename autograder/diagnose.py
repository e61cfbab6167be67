"""Which known mistake behaves like this answer?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autograder.compare import alike
from autograder.replies import reply_of
from autograder.spec import Case, Exercise, Implementation, Trial, hint_of
from autograder.wire import Reply

ENOUGH = 5  # wrong replies to compare: more of them take time and seldom change the cause


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
    for mistake in exercise.mistakes:
        if all(_agree(mistake, o) for o in seen):
            return Suspicion(mistake, certain=True)
    return _closest(exercise, seen)


def _closest(exercise: Exercise, seen: Sequence[Observation]) -> Suspicion | None:
    """Find the mistake that reproduces most wrong replies, though not all replies."""
    wrong = [o for o in seen if o.problem][:ENOUGH]
    right = [o for o in seen if not o.problem]
    best, best_rank = None, (0, 0)
    for mistake in exercise.mistakes:
        same = [o for o in wrong if _agree(mistake, o) or _same_wrong_values(exercise, mistake, o)]
        if len(same) < min(2, len(wrong)) or all(o.reply.fault for o in same):
            continue  # one coincidence is no cause
        rank = (len(same), sum(_agree(mistake, o) for o in right))
        if rank > best_rank:
            best, best_rank = Suspicion(mistake, certain=False), rank
    return best


def _agree(mistake: Implementation, seen: Observation) -> bool:
    return alike(seen.reply, reply_of(mistake, seen.trial), seen.case.tolerance)


def _same_wrong_values(exercise: Exercise, mistake: Implementation, seen: Observation) -> bool:
    """Whether a mistake gives the same wrong values, though other arguments were changed."""
    if not seen.reply.changed:
        return False
    tolerance = seen.case.tolerance
    mine, other = (replace(r, changed=()) for r in (seen.reply, reply_of(mistake, seen.trial)))
    if not alike(mine, other, tolerance):
        return False
    expected = reply_of(exercise.solution, seen.trial)
    return seen.case.examine(seen.trial, mine, expected, tolerance) is not None
