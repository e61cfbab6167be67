"""Scores without ties, small language models, and answers that do not hang on rounding."""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Generator, Tensor

from autograder.compare import alike
from autograder.inputs import described
from autograder.lent import NextToken
from autograder.perform import perform
from autograder.spec import Implementation, Trial
from autograder.wire import Reply, call

Sizes = dict[str, int]
NUDGES = (1 + 2e-4, 1 - 2e-4)
MOST_TRIES = 400


def scores(rng: Generator, axes: str, of: Sizes, step: float = 0.25) -> Tensor:
    """Draw scores of both signs; no two of a row are nearer than a step, exact in any dtype."""
    shape = [of[letter] for letter in axes.split()]
    ranks = torch.rand(shape, generator=rng).argsort(-1)
    start = torch.randint(-shape[-1], 0, (*shape[:-1], 1), generator=rng)
    stretch = torch.randint(1, 4, (*shape[:-1], 1), generator=rng)
    return (stretch * ranks + start) * step


def hiding(rng: Generator, logits: Tensor, count: int) -> Tensor:
    """Hide so many entries of each row."""
    some = torch.rand(logits.shape, generator=rng).argsort(-1) < count
    return logits.masked_fill(some, -torch.inf)


def filtered(
    logits: Tensor, axes: str, of: Sizes, setting: tuple[str, float], note: str = ""
) -> Trial:
    """Make the trial of a filter with a setting such as ("k", 3)."""
    name, value = setting
    words = f"{described('logits', axes, of)}, {name} = {value:g}{note}"
    return Trial(call(logits, value), words, of, axes)


def model(rng: Generator, vocabulary: int, width: int = 4) -> NextToken:
    """Draw a language model that writes many different things."""
    embed = 1.5 * torch.randn(vocabulary, width, generator=rng)
    mix = 0.9 * torch.randn(width, width, generator=rng)
    return NextToken(embed, mix, 2.0 * torch.randn(width, vocabulary, generator=rng))


def tokens(rng: Generator, vocabulary: int, *shape: int) -> Tensor:
    """Draw tokens."""
    return torch.randint(vocabulary, shape, generator=rng)


def until(
    draw: Callable[[], Trial], solution: Implementation, wanted: Callable[[Trial, Reply], bool]
) -> Trial:
    """Draw until the answer is of the wanted kind, and stays if the model changes a little."""
    for _ in range(MOST_TRIES):
        trial = draw()
        reply = perform(solution, trial.request)
        if wanted(trial, reply) and all(
            alike(reply, perform(solution, nudged(trial, by).request), 1e-2) for by in NUDGES
        ):
            return trial
    raise AssertionError("no such inputs were drawn")


def nudged(trial: Trial, by: float) -> Trial:
    """Change the scores of a trial's model a little, some up and some down."""
    (one,) = trial.request.calls
    box = one.args[0]
    signs = torch.where(torch.arange(box.head.numel()).view_as(box.head) % 3 == 0, by, 1.0)
    changed = replace(one, args=(replace(box, head=box.head * signs), *one.args[1:]))
    return replace(trial, request=replace(trial.request, calls=(changed,)))


def finished(reply: Reply, start: int, end: int) -> list[int]:
    """Tell at which new token each row finishes; a row that does not counts as a large number."""
    rows: Tensor = reply.values[0]
    new = (rows[:, start:] == end).long()
    steps = torch.where(new.any(1), new.argmax(1), 1000)
    found: list[int] = steps.tolist()
    return found
