"""Compute the course's version of an exercise for an answer that leans on it, across the wall.

So one wrong answer costs only itself. The course's code stays here; numbers come and go. Only an
earlier exercise's version stands in: a later one would bring this one's answer with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from autograder.catalogue import exercises
from autograder.cellcode import HERE, reached
from autograder.faults import Fault, FaultKind
from autograder.perform import perform
from autograder.spec import Exercise, Implementation
from autograder.wire import Call, Data, Reply, Request, gradient, map_request

# Bounds of what is computed for somebody who is not trusted. The cases of the course stay below
# 11,000 numbers for each argument.
MOST_ARGUMENTS = 8
MOST_NUMBERS = 1 << 14  # of one argument
MOST_MADE = 500_000  # numbers of any tensor on the way: what comes back fits into one frame
LARGEST_INTEGER = 1 << 63
LONGEST_TEXT = 100
MOST_CALLS = 2_000  # for one use of an answer: a loop over rows takes some hundred


def earlier(exercise_id: str) -> list[Exercise]:
    """List the exercises that come before one in the course."""
    known = list(exercises().values())
    return known[: [one.id for one in known].index(exercise_id)]


def used_exercises(
    cells: Sequence[str], exercise_id: str, answered: Collection[str] = ()
) -> list[str]:
    """Name the earlier exercises whose functions an answer calls, itself or through helpers.

    cells     the texts of the code cells that run before the answer is checked, in order
    answered  exercises that count however they are answered: `softmax = torch.softmax`, say

    Of the others those count that the notebook defines or leaves out, not those that it imports.
    A class has a state, which cannot be kept on the other side of the wall: it never counts.
    """
    pieces = reached(cells, exercise_id)
    known = {name: path for piece in pieces for name, path in piece.known.items()}
    read = frozenset[str]().union(*(piece.reads for piece in pieces))
    functions = [one.id for one in earlier(exercise_id) if not one.is_class]
    own = {n for n in functions if known.get(n, HERE).startswith(HERE)} | {*answered}
    return [n for n in functions if n in read and n in own]


@dataclass
class Helping:
    """Computes the course's versions of some exercises during one use of an answer."""

    names: Collection[str]
    calls: int = 0

    def __call__(self, call: Data) -> Reply:
        """Answer one call, unless there have been too many."""
        self.calls += 1
        if self.calls > MOST_CALLS:
            return _refusal(f"more than {MOST_CALLS} calls of other exercises")
        return answer_for(self.names, call)


def answer_for(names: Collection[str], call: Data) -> Reply:
    """Compute the course's version of an exercise for a call that nobody vouches for.

    names  the exercises that may be asked for
    call   {"call": name, "args": tuple, "kwargs": dict}, and to ask for gradients "cotangent",
           a tuple of one tensor
    ->     one value, or for each tensor of args and then of kwargs its gradient or None; what
           does not work, or would take too much memory or time, is a fault
    """
    try:
        name, args, kwargs, cotangent = _read(names, call)
    except _RefusedError as refused:
        return _refusal(str(refused))
    if cotangent is None:
        return value_for(name, args, kwargs)
    return pullback_for(name, args, kwargs, cotangent)


def value_for(name: str, args: Sequence[Data], kwargs: Mapping[str, Data]) -> Reply:
    """Call the course's version of an exercise."""
    return _bounded(exercises()[name].solution, Request((Call(tuple(args), kwargs),)))


def pullback_for(
    name: str, args: Sequence[Data], kwargs: Mapping[str, Data], cotangent: Tensor
) -> Reply:
    """Give the gradients of sum(cotangent * value) for each tensor in args, then in kwargs.

    A tensor of integers gets None.
    """
    given, tree = tree_flatten((*args, *kwargs.values()))
    places = [i for i, one in enumerate(given) if isinstance(one, Tensor)]
    floating = [i for i in places if given[i].is_floating_point()]

    def value(*leaves: Tensor) -> Data:
        there = leaves[0].device if leaves else "cpu"  # a mask goes where the leaves are
        full = [one.to(there) if isinstance(one, Tensor) else one for one in given]
        for i, leaf in zip(floating, leaves, strict=True):
            full[i] = leaf
        whole = tree_unflatten(full, tree)
        named = dict(zip(kwargs, whole[len(args) :], strict=True))
        return exercises()[name].solution(*whole[: len(args)], **named)

    leaves = [given[i] for i in floating]
    shown = _on_meta(value, Request((Call(tuple(leaves)),)))
    if shown.fault:
        return shown
    fits = [isinstance(one, Tensor) and one.shape == cotangent.shape for one in shown.values]
    if not leaves or fits != [True]:
        return _refusal("there is no such gradient")
    reply = _bounded(value, gradient(cotangent, *leaves))
    found = dict(zip(floating, reply.values, strict=False))
    return reply if reply.fault else Reply(tuple(found.get(i) for i in places))


class TooLargeError(Exception):
    """A tensor on the way has too many numbers."""


class _RefusedError(Exception):
    """The call is none that a notebook of the course makes; the message says why."""


class _Frugal(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it untyped
    """Refuses operations that make large tensors; on meta tensors, before any memory is taken."""

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        del types
        made = func(*args, **(kwargs or {}))
        if any(isinstance(one, Tensor) and one.numel() > MOST_MADE for one in tree_leaves(made)):
            raise TooLargeError(f"more than {MOST_MADE} numbers")
        return made


def _bounded(function: Implementation, request: Request) -> Reply:
    """Use a function of the course if no tensor on the way is too large."""
    shown = _on_meta(function, request)
    return shown if shown.fault else _answer(perform(function, request))


def _on_meta(function: Implementation, request: Request) -> Reply:
    frugal: AbstractContextManager[Any] = _Frugal()  # type: ignore[no-untyped-call]
    with frugal:
        return _answer(perform(function, map_request(_meta, request)))


def _meta(tensor: Tensor) -> Tensor:
    return torch.empty_like(tensor, device="meta")


def _answer(reply: Reply) -> Reply:
    """Keep what concerns the caller: not the lines of our code, nor what it prints."""
    fault = reply.fault and Fault(reply.fault.kind, reply.fault.message)
    return Reply(reply.values, fault)


def _refusal(why: str) -> Reply:
    return Reply(fault=Fault(FaultKind.EXCEPTION, f"The course's version gives no answer: {why}"))


def _read(
    names: Collection[str], call: Data
) -> tuple[str, tuple[Data, ...], dict[str, Data], Tensor | None]:
    """Take a call apart. Raises _RefusedError."""
    if not isinstance(call, dict):
        raise _RefusedError("this is no call")
    name, args, kwargs = call.get("call"), call.get("args"), call.get("kwargs")
    if not (isinstance(name, str) and name in names and name in exercises()):
        raise _RefusedError("it is not asked for here")
    if not (isinstance(args, tuple) and isinstance(kwargs, dict)):
        raise _RefusedError("the arguments are missing")
    if len(args) + len(kwargs) > MOST_ARGUMENTS:
        raise _RefusedError(f"more than {MOST_ARGUMENTS} arguments")
    for argument in (*args, *kwargs.values()):
        _accept(argument)
    return name, args, kwargs, _cotangent(call.get("cotangent"))


def _accept(argument: Data) -> None:
    """Raise _RefusedError for an argument that no answer of the course needs to pass on."""
    if isinstance(argument, tuple) and len(argument) <= MOST_ARGUMENTS:
        for item in argument:
            _accept(item)
        return
    if isinstance(argument, Tensor):
        fits = argument.numel() <= MOST_NUMBERS
    elif isinstance(argument, str):
        fits = len(argument) <= LONGEST_TEXT
    elif isinstance(argument, int):
        fits = abs(argument) < LARGEST_INTEGER
    else:
        fits = argument is None or isinstance(argument, float)
    if not fits:
        raise _RefusedError(f"an argument of this kind or size ({type(argument).__name__})")


def _cotangent(given: Data) -> Tensor | None:
    if given is None:
        return None
    tensor = given[0] if isinstance(given, tuple) and len(given) == 1 else None
    if isinstance(tensor, Tensor) and tensor.is_floating_point() and tensor.numel() <= MOST_MADE:
        return tensor
    raise _RefusedError("the gradient of this kind or size")
