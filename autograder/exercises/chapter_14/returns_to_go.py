"""Exercise: what is still to come in an episode, at each step.

Out of scope: discounts, and how a log is cut into rows.
"""

from collections.abc import Iterator
from itertools import pairwise

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_14 import CHAPTER
from autograder.exercises.chapter_14._draws import beyond_float32
from autograder.exercises.chapter_14._draws import not_contiguous as turned
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
from solutions.decisions import returns_to_go


def _trial(rewards: Tensor, last: Tensor) -> Trial:
    of = {"B": rewards.shape[0], "L": rewards.shape[1]}
    ends = int(last.sum())
    words = f"{described('rewards and last', 'B L', of)}, {ends} ends of episodes"
    return Trial(call(rewards, last), words, of, "B L")


def _ends(rng: Generator, batch: int, length: int) -> Tensor:
    """Draw two ends in each row, at other places in each, none in the last column."""
    last = torch.zeros(batch, length, dtype=torch.bool)
    for row in last:
        row[torch.randperm(length - 2, generator=rng)[:2]] = True
    return last


def _drawn(rng: Generator, batch: int = 3, length: int = 8) -> Trial:
    of = {"B": batch, "L": length}
    return _trial(normal(rng, "B L", of), _ends(rng, batch, length))


def one_episode(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L")
    rewards = normal(rng, "B L", of)
    last = torch.zeros(of["B"], of["L"], dtype=torch.bool)
    last[:, -1] = True
    yield _trial(rewards, last)


def several_episodes(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng, 4, 11)


def cut_off(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L")
    yield _trial(normal(rng, "B L", of), torch.zeros(of["B"], of["L"], dtype=torch.bool))


def ends_everywhere(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L")
    yield _trial(normal(rng, "B L", of), torch.ones(of["B"], of["L"], dtype=torch.bool))


def reward_at_the_end(rng: Generator) -> Iterator[Trial]:
    """Rewards as in many games: nothing, nothing, and then one."""
    last = _ends(rng, 3, 9)
    last[:, -1] = True
    yield _trial(last * 5.0, last)
    yield _trial(torch.full((3, 9), -1.0), last)


def small(rng: Generator) -> Iterator[Trial]:
    yield _trial(normal(rng, "B L", {"B": 4, "L": 1}), torch.tensor([[True], [False]] * 2))
    yield _drawn(rng, batch=1)


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 6, 6)


def long_rows(rng: Generator) -> Iterator[Trial]:
    yield _trial(normal(rng, "B L", {"B": 2, "L": 300}).abs(), _ends(rng, 2, 300))


def large_rewards(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    rewards, last = trial.request.calls[0].args
    yield _trial(1e4 * rewards, last)
    yield _trial(1e-3 * rewards, last)


def contiguous_or_not(rng: Generator) -> Iterator[Trial]:
    yield turned(_drawn(rng, 4, 7))


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng))
    yield beyond_float32(_drawn(rng))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)


def kept(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


CASES = (
    Case("one episode in each row", one_episode, values, weight=2),
    Case("an episode hears nothing of the next one", several_episodes, values, weight=2),
    Case("an episode that is cut off counts up to there", cut_off, values),
    Case("episodes of a single step", ends_everywhere, values),
    Case("the reward of the last step counts", reward_at_the_end, values),
    Case("a single step, a single row", small, values),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("works for long rows", long_rows, values),
    Case("large and small rewards", large_rewards, values),
    Case("works for tensors that are not contiguous", contiguous_or_not, values),
    Case("the dtype of the rewards is kept", dtypes, values, tolerance=6e-2),
    Case("the gradient reaches the rewards", gradients, values),
    Case("the log itself is not changed", kept, inputs_kept),
    Case("works on whatever device the log is on", devices, values),
)


def _suffix(rewards: Tensor) -> Tensor:
    return rewards.flip(1).cumsum(1).flip(1)


def _same(last: Tensor) -> Tensor:
    """Tell which two steps belong to one episode, (B, L, L)."""
    number = last.cumsum(1) - last.long()
    return number[:, :, None] == number[:, None]


def _summed(mask: Tensor, rewards: Tensor) -> Tensor:
    return (mask * rewards[:, None]).sum(-1)


def on_and_on(rewards: Tensor, last: Tensor) -> Tensor:
    """The sums run on into the next episode. What comes after an end was not earned before it."""
    return _suffix(rewards) + 0 * last


def without_its_own(rewards: Tensor, last: Tensor) -> Tensor:
    """The reward of the step itself is missing. It is still to come when the action is chosen."""
    return returns_to_go(rewards, last) - rewards


def so_far(rewards: Tensor, last: Tensor) -> Tensor:
    """You add up what was got so far. Asked is what is still to come."""
    return _summed(_same(last).tril(), rewards)


def so_far_on_and_on(rewards: Tensor, last: Tensor) -> Tensor:
    """You add up what was got since the row began. Asked is what is still to come in the episode,
    so the sums run backwards, and stop at its end.
    """
    return rewards.cumsum(1) + 0 * last


def whole_return(rewards: Tensor, last: Tensor) -> Tensor:
    """Each step has the return of the whole episode. What was got already is not to come."""
    return _summed(_same(last), rewards)


def end_too_early(rewards: Tensor, last: Tensor) -> Tensor:
    """The last step of an episode is counted to the next one: its reward is missing before it, and
    what follows is added to it. True stands at the last step, not at the first.
    """
    number = last.cumsum(1)
    return _summed((number[:, :, None] == number[:, None]).triu(), rewards)


def last_reward_lost(rewards: Tensor, last: Tensor) -> Tensor:
    """The reward of the last step of an episode is left out. It counts like any other."""
    return returns_to_go(rewards * ~last, last)


def cut_off_lost(rewards: Tensor, last: Tensor) -> Tensor:
    """An episode that has no end in its row gets zeros. Sum up what is there."""
    ended = last.flip(1).cumsum(1).flip(1) > 0
    return returns_to_go(rewards, last) * ended


def first_episode_alone(rewards: Tensor, last: Tensor) -> Tensor:
    """Only the first episode of each row is right: after it the sums run on to the row's end."""
    first = last & (last.cumsum(1) == 1)
    return returns_to_go(rewards, first)


def ends_of_the_first_row(rewards: Tensor, last: Tensor) -> Tensor:
    """The ends of the first row are used for all rows. Each row has its own."""
    return returns_to_go(rewards, last[:1].expand_as(last))


def from_the_end(rewards: Tensor, last: Tensor) -> Tensor:
    """The sums come back in reversed order: the first step holds that of the last. Turn them round
    once more.
    """
    return returns_to_go(rewards, last).flip(1)


def over_the_batch(rewards: Tensor, last: Tensor) -> Tensor:
    """The sums run over the batch. Steps lie along the second axis."""
    return returns_to_go(rewards.T, last.T).T


def discounted(rewards: Tensor, last: Tensor) -> Tensor:
    """Later rewards count less. Here there is no discount: each counts fully."""
    place = torch.arange(rewards.shape[1], device=rewards.device)
    ahead = (place - place[:, None]).clamp(min=0)
    return _summed(_same(last).triu() * 0.99**ahead, rewards).to(rewards.dtype)


def averaged(rewards: Tensor, last: Tensor) -> Tensor:
    """The rewards that are to come are averaged. Add them up."""
    mask = _same(last).triu()
    return _summed(mask, rewards) / mask.sum(-1)


def next_alone(rewards: Tensor, last: Tensor) -> Tensor:
    """Only the reward of the step and that of the next one are added. All until the end count."""
    return _summed(_same(last).triu().tril(1), rewards)


def rewards_themselves(rewards: Tensor, last: Tensor) -> Tensor:
    """The rewards come back as they are. Add up those that follow."""
    return rewards + 0 * last


def largest(rewards: Tensor, last: Tensor) -> Tensor:
    """You give the largest reward that is to come. All of them are added."""
    mask = _same(last).triu()
    return rewards[:, None].where(mask, -torch.inf).amax(-1)


def one_row_for_all(rewards: Tensor, last: Tensor) -> Tensor:
    """Every row gets the sums of the first one."""
    return returns_to_go(rewards[:1], last[:1]).expand_as(rewards)


def one_sum(rewards: Tensor, last: Tensor) -> Tensor:
    """There is one number for each row. Each step has its own."""
    return returns_to_go(rewards, last)[:, 0]


def backwards_in_a_loop(rewards: Tensor, last: Tensor) -> Tensor:
    ahead = torch.zeros_like(rewards[:, 0])
    found = []
    for step in reversed(range(rewards.shape[1])):
        ahead = rewards[:, step] + ahead * ~last[:, step]
        found.append(ahead)
    return torch.stack(found[::-1], dim=1)


def episode_by_episode(rewards: Tensor, last: Tensor) -> Tensor:
    rows = []
    for row, ends in zip(rewards, last, strict=True):
        cuts = [0, *(1 + ends.nonzero().flatten()).tolist(), len(row)]
        pieces = [row[a:b] for a, b in pairwise(cuts)]
        rows.append(torch.cat([piece.flip(0).cumsum(0).flip(0) for piece in pieces]))
    return torch.stack(rows)


def by_subtracting(rewards: Tensor, last: Tensor) -> Tensor:
    number = last.cumsum(1) - last.int()
    totals = torch.zeros_like(rewards).scatter_add(1, number, rewards)
    up_to = totals.cumsum(1).gather(1, number)
    return up_to - rewards.cumsum(1) + rewards


def by_matrix(rewards: Tensor, last: Tensor) -> Tensor:
    length = rewards.size(1)
    ends_before = torch.nn.functional.pad(last, (1, 0))[:, :length].to(rewards.dtype).cumsum(1)
    same = ends_before.unsqueeze(2) == ends_before.unsqueeze(1)
    later = torch.ones(length, length, dtype=torch.bool, device=rewards.device).triu()
    mask = torch.logical_and(same, later).to(rewards.dtype)
    return torch.einsum("blm,bm->bl", mask, rewards)


EXERCISE = Exercise(
    solution=returns_to_go,
    chapter=CHAPTER,
    title="What is still to come",
    points=3,
    minutes=10,
    difficulty=3,
    statement=(
        "A log holds the rewards of episodes, one after the other in each row. For each step, add "
        "up the rewards from this step to the end of its episode."
    ),
    example=(
        "Rewards 1, 2, 4, 8, 16, and the third step is the last of its episode. The returns to go "
        "are 1 + 2 + 4 = 7, 6 and 4; then a new episode begins, with 8 + 16 = 24 and 16. It is cut "
        "off by the end of the row."
    ),
    conventions=(
        "The reward of the step itself counts: it is still to come when the action is chosen.",
        "`last` is True at the last step of an episode, whose reward belongs to it.",
        "No discount. The dtype is that of the rewards.",
    ),
    hints=(
        "Backwards it is a running sum. What happens to it at the end of an episode?",
        "Or number the episodes of each row: how many ends come *before* a step? Two steps belong "
        "together if their numbers agree.",
    ),
    cases=CASES,
    mistakes=(
        on_and_on,
        without_its_own,
        so_far,
        so_far_on_and_on,
        whole_return,
        end_too_early,
        last_reward_lost,
        cut_off_lost,
        first_episode_alone,
        ends_of_the_first_row,
        from_the_end,
        over_the_batch,
        discounted,
        averaged,
        next_alone,
        rewards_themselves,
        largest,
        one_row_for_all,
        one_sum,
        on_the_cpu(returns_to_go),
        always_float32(returns_to_go),
        float64_narrowed(returns_to_go),
        cut_from_autograd(returns_to_go),
        changed_in_place(returns_to_go),
    ),
    alternatives=(backwards_in_a_loop, episode_by_episode, by_subtracting, by_matrix),
)
