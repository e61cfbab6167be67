"""Exercise: what is left of a target, after each reward.

Out of scope: how the target is chosen.
"""

from collections.abc import Iterator
from itertools import accumulate

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_14 import CHAPTER
from autograder.exercises.chapter_14._draws import beyond_float32
from autograder.inputs import described, normal, sizes
from autograder.slips import (
    always_float32,
    changed_in_place,
    cut_from_autograd,
    float64_narrowed,
    on_the_cpu,
)
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.decisions import remaining_returns


def _trial(target: Tensor, rewards: Tensor) -> Trial:
    of = {"B": rewards.shape[0], "L": rewards.shape[1], "L+1": rewards.shape[1] + 1}
    words = f"{described('target', 'B', of)}, {described('rewards', 'B L', of)}"
    return Trial(call(target, rewards), words, of, "B L+1")


def _drawn(rng: Generator, size: float = 1.0, **fixed: int) -> Trial:
    of = sizes(rng, "B L") | fixed
    target = normal(rng, "B", of, mean=6 * size, std=2 * size)
    return _trial(target, size * normal(rng, "B L", of))


def usual(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def nothing_yet(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, B=3, L=0)


def one_reward(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, L=1)
    yield _drawn(rng, B=1)


def more_than_asked(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng, L=6)
    target, rewards = trial.request.calls[0].args
    yield _trial(target, rewards.abs() + 3)


def costs(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L")
    yield _trial(-normal(rng, "B", of).abs() - 4, torch.full((of["B"], of["L"]), -1.0))


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, B=4, L=4)
    yield _drawn(rng, B=5, L=4)


def large_and_small(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 1e4)
    yield _drawn(rng, 1e-3)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng, B=3, L=5))
    yield beyond_float32(_drawn(rng, B=3, L=5))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)


def kept(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


CASES = (
    Case("every reward is taken off, from then on", usual, values, weight=2),
    Case("before the first step the target is left", nothing_yet, values),
    Case("one reward, one episode", one_reward, values),
    Case("below zero if more was got than asked", more_than_asked, values),
    Case("negative targets and rewards", costs, values),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("large and small numbers", large_and_small, values),
    Case("the dtype is kept", dtypes, values, tolerance=6e-2),
    Case("the gradient reaches target and rewards", gradients, values),
    Case("target and rewards are not changed", kept, inputs_kept),
    Case("works on whatever device they are on", devices, values),
)


def _from(start: Tensor, steps: Tensor) -> Tensor:
    return torch.cat([start[:, None], steps], 1)


def never_lowered(target: Tensor, rewards: Tensor) -> Tensor:
    """The target stays the same at every step. What was got already need not be got again."""
    return _from(target, target[:, None] + 0 * rewards)


def added(target: Tensor, rewards: Tensor) -> Tensor:
    """Rewards are added to the target. What was got is taken off."""
    return remaining_returns(target, -rewards)


def last_reward_alone(target: Tensor, rewards: Tensor) -> Tensor:
    """Only the reward of the step just before is taken off. Those before it were got, too."""
    return _from(target, target[:, None] - rewards)


def got_so_far(target: Tensor, rewards: Tensor) -> Tensor:
    """You give what was got so far. Asked is what is left of the target."""
    return remaining_returns(0 * target, -rewards)


def first_step_missing(target: Tensor, rewards: Tensor) -> Tensor:
    """The whole target, before any reward, is missing. It is what the first action is chosen by."""
    return remaining_returns(target, rewards)[:, 1:]


def last_step_missing(target: Tensor, rewards: Tensor) -> Tensor:
    """What is left after the last reward is missing. The next action is chosen by it."""
    return remaining_returns(target, rewards)[:, :-1]


def now_alone(target: Tensor, rewards: Tensor) -> Tensor:
    """Only what is left now comes back. The model also sees what was left at the steps before."""
    return remaining_returns(target, rewards)[:, -1:]


def never_below_zero(target: Tensor, rewards: Tensor) -> Tensor:
    """What is left stops at 0. It may become negative, and for costs it always is."""
    return remaining_returns(target, rewards).clamp(min=0)


def one_step_late(target: Tensor, rewards: Tensor) -> Tensor:
    """Each reward is taken off one step too late: the second entry is still the whole target."""
    return _from(target, remaining_returns(target, rewards)[:, :-1])


def one_step_early(target: Tensor, rewards: Tensor) -> Tensor:
    """Each reward is taken off one step too early: it is not known before the action."""
    left = remaining_returns(target, rewards)
    return torch.cat([left[:, 1:], left[:, -1:]], 1)


def one_target_for_all(target: Tensor, rewards: Tensor) -> Tensor:
    """All rows begin with the first target. Each episode has its own."""
    return remaining_returns(target[:1].expand_as(target), rewards)


def over_the_batch(target: Tensor, rewards: Tensor) -> Tensor:
    """The sums run over the batch. Steps lie along the second axis."""
    return _from(target, target[:, None] - rewards.cumsum(0))


def backwards(target: Tensor, rewards: Tensor) -> Tensor:
    """The rewards are taken off from the end: the first entry lacks all of them."""
    return remaining_returns(target, rewards).flip(1)


def as_a_share(target: Tensor, rewards: Tensor) -> Tensor:
    """You give the share of the target that is left. Asked is how much."""
    return remaining_returns(target, rewards) / target[:, None]


def returns_of_the_rewards(target: Tensor, rewards: Tensor) -> Tensor:
    """These are returns to go of the rewards, as for a log. While acting, later rewards are not
    known; there is a target instead.
    """
    return _from(target, rewards.flip(1).cumsum(1).flip(1))


def step_by_step(target: Tensor, rewards: Tensor) -> Tensor:
    left = [target]
    for reward in rewards.unbind(1):
        left.append(left[-1] - reward)
    return torch.stack(left, dim=1)


def one_running_sum(target: Tensor, rewards: Tensor) -> Tensor:
    return torch.cat([target.unsqueeze(-1), rewards.neg()], dim=-1).cumsum(-1)


def by_padding(target: Tensor, rewards: Tensor) -> Tensor:
    got = torch.nn.functional.pad(rewards, (1, 0)).cumsum(dim=1)
    return target.reshape(-1, 1) - got


def by_matrix(target: Tensor, rewards: Tensor) -> Tensor:
    length = rewards.shape[1]
    ones = torch.ones(length, length + 1, dtype=rewards.dtype, device=rewards.device)
    return target[:, None] - rewards @ ones.triu(1)


def row_by_row(target: Tensor, rewards: Tensor) -> Tensor:
    rows = [list(accumulate([t, *r.neg()])) for t, r in zip(target, rewards, strict=True)]
    return torch.stack([torch.stack(row) for row in rows])


EXERCISE = Exercise(
    solution=remaining_returns,
    chapter=CHAPTER,
    title="What is left of the target",
    points=2,
    minutes=6,
    difficulty=2,
    statement=(
        "While the model acts, the future is not known, so its returns to go come from a target. "
        "Give the target, and what is left of it after each reward that was got."
    ),
    example=(
        "The target is 10, and the rewards so far are 1, 4 and 2. At the four steps 10, 9, 5 and 3 "
        "were left."
    ),
    conventions=(
        "One entry more than there are rewards: the last one is for the action that comes next.",
        "What is left may be negative. No discount.",
    ),
    hints=(
        "How much was got before step 0? Before step 1? That is a running sum.",
        "The first column is the target itself.",
    ),
    cases=CASES,
    mistakes=(
        never_lowered,
        added,
        last_reward_alone,
        got_so_far,
        first_step_missing,
        last_step_missing,
        now_alone,
        never_below_zero,
        one_step_late,
        one_step_early,
        one_target_for_all,
        over_the_batch,
        backwards,
        as_a_share,
        returns_of_the_rewards,
        on_the_cpu(remaining_returns),
        always_float32(remaining_returns),
        float64_narrowed(remaining_returns),
        cut_from_autograd(remaining_returns),
        changed_in_place(remaining_returns),
    ),
    alternatives=(step_by_step, one_running_sum, by_padding, by_matrix, row_by_row),
)
