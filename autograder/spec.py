"""What an exercise is: frozen data, no behaviour.

Exercises, cases and trials are compared by identity: each stands in one place only, and what was
computed for it can be kept under it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from autograder.wire import Reply, Request

Implementation = Callable[..., Any]
Examine = Callable[["Trial", Reply, Reply, float | None], str | None]


@dataclass(frozen=True, eq=False)
class Trial:
    """One use of the answer. It is drawn once and used many times: nobody changes its tensors.

    sizes    the size that each axis letter has here
    returns  what comes back: axis letters ("B L M") for a tensor, names ("mean, variance") for
             a tuple
    inputs   the inputs in words, for the student
    """

    request: Request
    inputs: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    returns: str = ""


@dataclass(frozen=True, eq=False)
class Case:
    """One behaviour, and how to draw inputs that show whether it holds.

    behaviour  in words that a student understands
    draw       a seeded generator -> trials; all must pass
    examine    (trial, reply, expected reply, tolerance) -> None, or what is wrong in one line
    tolerance  of the largest expected value; None takes the default of the dtype
    """

    behaviour: str
    draw: Callable[[torch.Generator], Iterable[Trial]]
    examine: Examine
    weight: float = 1.0
    tolerance: float | None = None


@dataclass(frozen=True, eq=False)
class Exercise:
    """Everything about one exercise, said once.

    solution      the reference; its name is the exercise's id
    chapter       for example "02_scaled_dot_product"
    example       a worked tiny example, by hand
    hints         folded in every edition, each more specific than the one before
    mistakes      known wrong answers; the docstring of each is the hint that a student reads
    alternatives  right answers, written differently
    forbidden     dotted names that an answer may not use
    """

    solution: Implementation
    chapter: str
    title: str
    points: int
    minutes: int
    difficulty: int
    statement: str
    example: str
    cases: tuple[Case, ...]
    mistakes: tuple[Implementation, ...]
    alternatives: tuple[Implementation, ...]
    conventions: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The name of the function or class that the student writes."""
        return str(self.solution.__name__)

    @property
    def is_class(self) -> bool:
        """Whether a class is asked for."""
        return inspect.isclass(self.solution)

    @property
    def takes(self) -> tuple[str, ...]:
        """The names of the arguments, to say which of them a message is about."""
        return tuple(inspect.signature(_called(self.solution)).parameters)


def _called(thing: Implementation) -> Implementation:
    """What is called with the inputs: the function, or the method of an object of the class."""
    if not inspect.isclass(thing):
        return thing
    return functools.partial(getattr(thing, "forward", None) or thing.__call__, None)


def hint_of(mistake: Implementation) -> str:
    """Return the hint that a known mistake carries: its docstring on one line."""
    return " ".join((mistake.__doc__ or "").split())
