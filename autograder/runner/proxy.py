"""Call the course's version of an exercise, which stays on the judge's side of the wall.

The numbers go there and come back, and so do gradients: the course's code is never here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from autograder.frames import LARGEST, as_reply, decode, encode
from autograder.perform import plain
from autograder.wire import Data


@dataclass
class Line:
    """The way to the judge; number is that of the last message, which the next answer repeats."""

    connection: Connection
    number: int

    def ask(self, question: dict[str, Data]) -> Data:
        """Ask in the middle of an answer, and wait for what comes back."""
        self.connection.send_bytes(encode({**question, "number": self.number}))
        answer = decode(self.connection.recv_bytes(LARGEST))
        self.number = answer["number"]
        return answer


def proxy(line: Line, name: str) -> Callable[..., Any]:
    """Make a function that has the judge compute `name`, differentiable in its tensors."""

    def standin(*args: Any, **kwargs: Any) -> Any:
        call = _Call(line, name, args, kwargs)
        apply: Callable[..., Any] = _Asked.apply  # torch leaves it untyped
        return apply(call, *call.tensors)

    standin.__name__ = standin.__qualname__ = name
    return standin


class _Call:
    """One call, and which of its arguments are tensors."""

    def __init__(
        self, line: Line, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.line, self.name = line, name
        self.args, self.kwargs = args, kwargs
        given = tree_leaves((*args, *kwargs.values()))
        self.tensors = [value for value in given if isinstance(value, Tensor)]

    def ask(self, **more: Data) -> tuple[Data, ...]:
        """Send the call and wait for its values. Raises RuntimeError if it has none."""
        arguments = {"args": plain(self.args), "kwargs": plain(self.kwargs)}
        reply = as_reply(self.line.ask({"call": self.name, **arguments, **more}))
        if reply.fault:
            raise RuntimeError(reply.fault.message)
        return reply.values


class _Asked(torch.autograd.Function):
    """The judge's function as one operation of autograd."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *tensors: Tensor) -> Any:
        ctx.call = call
        ctx.needs = [tensor.requires_grad for tensor in tensors]
        (value,) = call.ask()
        return value

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> Any:
        gradients = ctx.call.ask(cotangent=plain(cotangents))
        wanted = [g if needs else None for g, needs in zip(gradients, ctx.needs, strict=True)]
        return None, *wanted
