"""Exercises without anybody's code: what was asked, and what came back, as data.

A class bundle holds these files instead of the reference, the known mistakes and the draws. They
answer the requests of one seed and no others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Generator, Tensor
from torch.utils._python_dispatch import _disable_current_modes

from autograder import compare, passages
from autograder.frames import FrameError, as_reply, as_request, decode, encode, request_data
from autograder.spec import Case, Examine, Exercise, Implementation, Trial
from autograder.wire import Data, Reply, Request, map_request, map_tensors

EXERCISE_FILE = "exercise.frame"
CASE_FILE = "case_{:02}.frame"


class NotRecorded(LookupError):  # noqa: N818 - what happened, not that it is an error
    """This copy of the check does not know the numbers; the message says what it does know."""


class Recorded:
    """The replies of one implementation, without the implementation.

    Its name, module and docstring are those of what was recorded. Called as a function, it does
    what the ready-made function does, if there is one: later exercises may lean on it.
    """

    def __init__(
        self,
        name: str,
        module: str,
        words: str,
        replies: Mapping[str, Reply],
        ready_made: Implementation | None = None,
    ) -> None:
        """Take the replies by the digest of their request."""
        self.__name__, self.__module__, self.__doc__ = name, module, words
        self._replies, self._ready_made = replies, ready_made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute with the ready-made function. Raises NotRecorded if there is none."""
        if self._ready_made is None:
            raise NotRecorded(f"this copy of the course holds no function `{self.__name__}`")
        # Not the answer calls torch's function here, so nobody who watches the answer sees it.
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            return self._ready_made(*args, **kwargs)

    def reply(self, request: Request) -> Reply:
        """Look up the reply, on the device of the request. Raises NotRecorded."""
        found = self._replies.get(digest(request))
        if found is None:
            raise NotRecorded(f"no reply of `{self.__name__}` to this request is in this copy")
        device = _device(request)
        if device.type == "cpu":
            return found

        def move(tensor: Tensor) -> Tensor:
            return tensor if tensor.is_meta else tensor.to(device)

        return replace(found, values=map_tensors(move, found.values))


def stands_in(solution: Implementation) -> bool:
    """Whether a solution can be called, so that it can take the place of a wrong answer."""
    return not isinstance(solution, Recorded) or solution._ready_made is not None


@dataclass(frozen=True, eq=False)
class RecordedExercise(Exercise):
    """An exercise whose solution is recorded and so is no class, though a class may be asked."""

    asks_for_class: bool = False
    names: tuple[str, ...] = ()

    @property
    def is_class(self) -> bool:
        """Whether a class is asked for."""
        return self.asks_for_class

    @property
    def takes(self) -> tuple[str, ...]:
        """The names of the arguments."""
        return self.names


def digest(request: Request) -> str:
    """Name a request by its content, whatever device its tensors are on."""
    return hashlib.sha256(encode(request_data(replace(request, watch=())))).hexdigest()


def _device(request: Request) -> torch.device:
    """Find the device of a request's numbers: that of its first tensor that has any."""
    found: list[torch.device] = []

    def note(tensor: Tensor) -> Tensor:
        found.extend([] if tensor.is_meta else [tensor.device])
        return tensor

    map_request(note, request)
    return found[0] if found else torch.device("cpu")


# Reading


def read_exercise(folder: Path, ready_made: Implementation | None = None) -> Exercise:
    """Read what `autograder.bundle.record` wrote into a folder.

    ready_made  a function of torch that does the same; it stands in for the answer where a later
                exercise calls it
    Raises NotRecorded if a file is missing or damaged.
    """
    try:
        return _exercise(folder, ready_made)
    except (OSError, FrameError, KeyError, TypeError) as error:
        text = f"the files of {folder.name} are missing or damaged ({error}): unzip them again"
        raise NotRecorded(text) from error


def _exercise(folder: Path, ready_made: Implementation | None) -> Exercise:
    data = _read(folder / EXERCISE_FILE)
    cases: list[Case] = []
    known: list[dict[str, Reply]] = [{} for _ in (data["solution"], *data["mistakes"])]
    for number, words in enumerate(data["cases"]):
        recorded = _read(folder / CASE_FILE.format(number))
        trials = tuple(_trial(one) for one in recorded["trials"])
        _add_replies(known, trials, recorded)
        cases.append(_case(words, trials))
    mistakes = zip(data["mistakes"], known[1:], strict=True)
    return RecordedExercise(
        **data["plain"],
        solution=Recorded(**data["solution"], replies=known[0], ready_made=ready_made),
        cases=tuple(cases),
        mistakes=tuple(Recorded(**who, replies=replies) for who, replies in mistakes),
        alternatives=(),
        asks_for_class=data["asks_for_class"],
        names=tuple(data["takes"]),
    )


def _read(file: Path) -> Data:
    return decode(file.read_bytes())


def _trial(data: Data) -> Trial:
    return Trial(**data["plain"], request=as_request(data["request"]))


def _add_replies(known: list[dict[str, Reply]], trials: Iterable[Trial], recorded: Data) -> None:
    """Note what the solution and each mistake replied; equal replies were written once."""
    replies = [as_reply(one) for one in recorded["replies"]]
    for trial, given in zip(trials, recorded["given"], strict=True):
        key = digest(trial.request)
        for one, number in zip(known, given, strict=True):
            one[key] = replies[number]


def _case(data: Data, trials: tuple[Trial, ...]) -> Case:
    return Case(
        **data["plain"],
        draw=_draw(trials, data["rng_seed"]),
        examine=_examine(data["examine"]),
    )


def _draw(trials: tuple[Trial, ...], rng_seed: int) -> Callable[[Generator], Iterator[Trial]]:
    def draw(rng: Generator) -> Iterator[Trial]:
        if rng.initial_seed() != rng_seed:
            raise NotRecorded(
                "this copy of the check holds the inputs of the public seed alone: "
                "leave `seed` out, and do not set COURSE_SEED"
            )
        yield from trials

    return draw


def examine_named(name: str) -> Examine | None:
    """Find an examine function by its name, in the modules that a class bundle holds."""
    found: Examine | None = getattr(passages, name, getattr(compare, name, None))
    return found


def _examine(name: str) -> Examine:
    found = examine_named(name)
    if found is None:
        raise KeyError(name)
    return found
