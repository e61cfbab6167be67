"""Small exercises that show what a spec can say, and answers to them."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn

from autograder.compare import inputs_kept, values
from autograder.inputs import described, normal, sizes
from autograder.judge import PUBLIC_SEED, judge
from autograder.perform import SECONDS_PER_REQUEST, perform
from autograder.spec import Case, Exercise, Trial
from autograder.verdict import Report
from autograder.wire import Call, Request, call


def doubled(x: Tensor) -> Tensor:
    """Double."""
    return 2 * x


def one_tensor(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L M")
    yield Trial(call(normal(rng, "B L M", of)), described("x", "B L M", of), of, "B L M")


def unchanged(x: Tensor) -> Tensor:
    """You return x."""
    return x


def squared(x: Tensor) -> Tensor:
    """You square."""
    return x * x


def exercise(solution: Callable[..., Any] = doubled, **changes: Any) -> Exercise:
    """Make an exercise around a solution."""
    given: dict[str, Any] = {
        "chapter": "00_toys",
        "title": "Toy",
        "points": 4,
        "minutes": 1,
        "difficulty": 1,
        "statement": "",
        "example": "",
        "cases": (
            Case("the entries", one_tensor, values),
            Case("x itself is kept", one_tensor, inputs_kept),
        ),
        "mistakes": (unchanged, squared),
        "alternatives": (),
        **changes,
    }
    return Exercise(solution=solution, **given)


def judged(
    answer: Callable[..., Any],
    on: Exercise | None = None,
    seed: str = PUBLIC_SEED,
    seconds: float = SECONDS_PER_REQUEST,
) -> Report:
    """Judge an answer in this process."""
    return judge(on or exercise(), partial(perform, answer, seconds=seconds), seed=seed)


class Average(nn.Module):
    """A linear map, then a running average over the calls; dropout while training."""

    def __init__(self, width: int, *, decay: float = 0.5) -> None:
        """Make the weights `w_in`."""
        super().__init__()
        self.w_in = nn.Linear(width, width, bias=False)
        self.decay = decay
        self.average: Tensor | float = 0.0

    def forward(self, x: Tensor) -> Tensor:
        """Add x to the average and return it."""
        y = nn.functional.dropout(self.w_in(x), 0.5, self.training)
        self.average = self.decay * self.average + (1 - self.decay) * y
        return self.average

    def reset(self) -> None:
        """Forget."""
        self.average = 0.0


def _requests(rng: Generator, train: bool = False, **more: Any) -> Iterator[Trial]:
    of = sizes(rng, "B D")
    x, y = normal(rng, "B D", of), normal(rng, "B D", of)
    state = {"w_in.weight": torch.randn(of["D"], of["D"], generator=rng)}
    calls = (Call((x,)), Call((y,)), Call(method="reset"), Call((y,)))
    build = Call((of["D"],), {"decay": 0.25})
    request = Request(more.get("calls", calls), build, state, train, more.get("cotangent"))
    yield Trial(request, described("x", "B D", of), of, "B D")


def several_calls(rng: Generator) -> Iterator[Trial]:
    yield from _requests(rng)


def training(rng: Generator) -> Iterator[Trial]:
    yield from _requests(rng, train=True)


def gradients(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B D")
    x, cotangent = normal(rng, "B D", of), normal(rng, "B D", of)
    build, state = Call((of["D"],)), {"w_in.weight": torch.randn(of["D"], of["D"], generator=rng)}
    request = Request((Call((x,)),), build, state, cotangent=cotangent)
    yield Trial(request, described("x", "B D", of), of, "B D")


class Forgetful(Average):
    """Your object does not remember the call before."""

    def forward(self, x: Tensor) -> Tensor:
        """Start again each time."""
        self.reset()
        return super().forward(x)


MODULE = exercise(
    Average,
    cases=(
        Case("several calls on one object", several_calls, values),
        Case("dropout while training", training, values),
        Case("the gradient", gradients, values),
    ),
    mistakes=(Forgetful,),
)
