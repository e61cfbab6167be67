"""What passes between the judge and an answer: requests to call it, replies with plain data.

Only tensors, numbers, strings, None and nests of tuples and dicts are data here. An object of any
other type is replaced by its name (`Foreign`), so no behaviour of a student's object reaches the
judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from torch import Tensor

from autograder.faults import Fault
from autograder.lent import BlackBox, Chance, LearnedTable, NextToken, TorchFunction
from autograder.workpiece import Workpiece

# Tensor | number | str | None | Foreign | tuple[Data, ...] | list[Data] | dict[str, Data]
Data = Any


# What stands, among the arguments, for something that is no data: how it is called on the way.
LENT: dict[str, type[Any]] = {
    "a black box": BlackBox,
    "a function of torch": TorchFunction,
    "a generator": Chance,
    "a table of next tokens": LearnedTable,
    "a language model": NextToken,
    "a module to work on": Workpiece,
}
LENT_KINDS: tuple[type[Any], ...] = tuple(LENT.values())


@dataclass(frozen=True)
class Call:
    """One call: of the function itself, or of a method of the object that a `Request` builds."""

    args: tuple[Data, ...] = ()
    kwargs: Mapping[str, Data] = field(default_factory=dict)
    method: str = "__call__"


@dataclass(frozen=True)
class Request:
    """How to use an answer once.

    calls      made in order, on one object; each gives one value
    build      arguments of the constructor, when the answer is a class
    state      weights copied into the built module under the documented names
    train      the built module's mode
    cotangent  if given: answer the gradients of sum(cotangent * value) for the first call's
               floating-point arguments (`inputs_of`), instead of the values; where the value is
               a tuple, its first item counts
    watch      dotted names of functions whose use the reply must tell
    elsewhere  whether all tensors are carried to a device other than the CPU before
    room       how many numbers one tensor may have there; None: as many as it likes
    """

    calls: tuple[Call, ...]
    build: Call | None = None
    state: Mapping[str, Tensor] | None = None
    train: bool = False
    cotangent: Tensor | None = None
    watch: tuple[str, ...] = ()
    elsewhere: bool = False
    room: int | None = None


@dataclass(frozen=True)
class Foreign:
    """An object that is not data: its type's name, and its shape if it has one."""

    type_name: str
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Reply:
    """What came back: values (one for each call, or the gradients), or a fault.

    changed names the arguments that were different after the call; printed holds the beginning
    of what the code wrote to stdout; used, which of the watched functions it called.
    """

    values: tuple[Data, ...] = ()
    fault: Fault | None = None
    changed: tuple[str, ...] = ()
    printed: str = ""
    used: tuple[str, ...] = ()


def call(*args: Data, **kwargs: Data) -> Request:
    """Make the request that calls a function once."""
    return Request(calls=(Call(args, kwargs),))


def gradient(cotangent: Tensor, *args: Data, **kwargs: Data) -> Request:
    """Make the request for the gradients of sum(cotangent * f(*args)) in the arguments."""
    return Request(calls=(Call(args, kwargs),), cotangent=cotangent)


def inputs_of(one: Call) -> list[tuple[str, Tensor]]:
    """List the floating-point tensors of the positional arguments, and what to call each."""
    return [
        (f"argument {i}{item}", tensor)
        for i, argument in enumerate(one.args, start=1)
        for item, tensor in _tensors(argument)
        if tensor.is_floating_point()
    ]


def _tensors(data: Data) -> Iterator[tuple[str, Tensor]]:
    if isinstance(data, Tensor):
        yield "", data
    elif isinstance(data, tuple):
        for i, item in enumerate(data, start=1):
            yield from ((f", item {i}{deeper}", tensor) for deeper, tensor in _tensors(item))


def parts_of(lent: Data) -> tuple[Data, ...]:
    """Give the numbers that something lent is made of."""
    return tuple(getattr(lent, one.name) for one in fields(lent))


def map_tensors(change: Callable[[Tensor], Tensor], data: Data) -> Data:
    """Apply `change` to every tensor in nested data."""
    if isinstance(data, Tensor):
        return change(data)
    if isinstance(data, LENT_KINDS):
        return type(data)(*(map_tensors(change, item) for item in parts_of(data)))
    if isinstance(data, (tuple, list)):
        return type(data)(map_tensors(change, item) for item in data)
    if isinstance(data, Mapping):
        return {name: map_tensors(change, item) for name, item in data.items()}
    return data


def map_request(change: Callable[[Tensor], Tensor], request: Request) -> Request:
    """Apply `change` to every tensor of a request: to move it to another device, say."""

    def moved(one: Call | None) -> Call | None:
        return one and Call(
            map_tensors(change, one.args), map_tensors(change, one.kwargs), one.method
        )

    return Request(
        calls=tuple(c for c in map(moved, request.calls) if c),
        build=moved(request.build),
        state=map_tensors(change, request.state),
        train=request.train,
        cotangent=map_tensors(change, request.cotangent),
        watch=request.watch,
        elsewhere=request.elsewhere,
        room=request.room,
    )
