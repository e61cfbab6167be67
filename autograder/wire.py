"""What passes between the judge and an answer: requests to call it, replies with plain data.

Only tensors, numbers, strings, None and nests of tuples and dicts are data here. An object of any
other type is replaced by its name (`Foreign`), so no behaviour of a student's object reaches the
judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from autograder.faults import Fault

# Tensor | number | str | None | Foreign | tuple[Data, ...] | list[Data] | dict[str, Data]
Data = Any


@dataclass(frozen=True)
class BlackBox:
    """A function that an answer is given as an argument: it mixes tokens, and their features.

    mix       (L, L)  output i hears token j if entry [i, j] is not 0
    features  (D, D)  how the features of what it hears are mixed
    """

    mix: Tensor
    features: Tensor

    def function(self) -> Callable[[Tensor], Tensor]:
        """Make the function: (..., L, D) -> (..., L, D), strictly growing in what it hears."""

        def model(x: Tensor) -> Tensor:
            heard = self.mix.to(x) @ (x + x.tanh())
            return heard @ self.features.to(x)

        return model


@dataclass(frozen=True)
class NextToken:
    """A language model that an answer is given as an argument; it remembers all that it is fed.

    embed   (V, D)  a vector for each token
    mix     (D, D)  how what was heard before is turned when a token comes
    head    (D, V)  scores of the next token
    budget  how many tokens of a sequence it may be fed in all; None is without limit
    """

    embed: Tensor
    mix: Tensor
    head: Tensor
    budget: int | None = None

    def function(self) -> Callable[..., tuple[Tensor, list[tuple[Tensor, Tensor]]]]:
        """Make the function: tokens, caches, keep -> logits (B, L, V), caches.

        The caches hold what was heard (B, D) and, in the shape of a tensor, how many tokens.
        """
        fed = 0

        def model(
            tokens: Tensor, caches: Any = None, keep: Tensor | None = None
        ) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
            nonlocal fed
            fed += tokens.shape[1]
            if self.budget is not None and fed > self.budget:
                raise ValueError("the model has been fed more tokens than there are")
            embedded = self.embed[tokens]
            heard, past = caches[0] if caches else (torch.zeros_like(embedded[:, 0]), tokens[:, :0])
            if len(heard) != len(tokens):
                raise ValueError("the caches are of another batch")
            so_far = torch.cat([past, tokens], dim=1)
            if keep is not None and keep.shape != so_far.shape:
                raise ValueError("keep must have an entry for each token so far")
            steps = []
            for i in range(tokens.shape[1]):
                new = (heard @ self.mix + embedded[:, i]).tanh()
                real = None if keep is None else keep[:, past.shape[1] + i, None]
                heard = new if real is None else torch.where(real, new, heard)
                steps.append(heard)
            return torch.stack(steps, dim=1) @ self.head, [(heard, so_far)]

        return model


@dataclass(frozen=True)
class TorchFunction:
    """A function of `torch.nn.functional` that an answer is given as an argument: "relu"."""

    name: str

    def function(self) -> Callable[[Tensor], Tensor]:
        """Look the function up."""
        found: Callable[[Tensor], Tensor] = getattr(functional, self.name)
        return found


GIVEN = (BlackBox, NextToken, TorchFunction)  # what stands for a function among the arguments


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
    """

    calls: tuple[Call, ...]
    build: Call | None = None
    state: Mapping[str, Tensor] | None = None
    train: bool = False
    cotangent: Tensor | None = None
    watch: tuple[str, ...] = ()
    elsewhere: bool = False


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


def map_tensors(change: Callable[[Tensor], Tensor], data: Data) -> Data:
    """Apply `change` to every tensor in nested data."""
    if isinstance(data, Tensor):
        return change(data)
    if isinstance(data, BlackBox):
        return BlackBox(change(data.mix), change(data.features))
    if isinstance(data, NextToken):
        weights = (change(weight) for weight in (data.embed, data.mix, data.head))
        return NextToken(*weights, data.budget)
    if isinstance(data, tuple):
        return tuple(map_tensors(change, item) for item in data)
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
    )
