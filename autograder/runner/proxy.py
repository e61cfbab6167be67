"""Call the course's version of an exercise, which stays on the judge's side of the wall.

The numbers go there and come back, and so do gradients: the course's code is never here.
"""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import torch
from torch import Tensor

from autograder.frames import LARGEST, as_reply, decode, encode
from autograder.perform import plain
from autograder.wire import Data


def proxy(connection: Connection, name: str) -> Callable[..., Any]:
    """Make a function that has the judge compute `name`, differentiable in its tensors."""

    def standin(*args: Any, **kwargs: Any) -> Any:
        line = _Line(connection, name, args, kwargs)
        apply: Callable[..., Any] = _Asked.apply  # torch leaves it untyped
        return apply(line, *line.tensors)

    standin.__name__ = standin.__qualname__ = name
    return standin


class _Line:
    """One call: which arguments are tensors, and the way to the judge."""

    def __init__(
        self, connection: Connection, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.connection, self.name = connection, name
        self.args, self.kwargs = args, kwargs
        self.tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]

    def ask(self, **more: Data) -> tuple[Data, ...]:
        """Send the call and wait for its values. Raises RuntimeError if it has none."""
        arguments = {"args": plain(self.args), "kwargs": plain(self.kwargs)}
        self.connection.send_bytes(encode({"call": self.name, **arguments, **more}))
        reply = as_reply(decode(self.connection.recv_bytes(LARGEST)))
        if reply.fault:
            raise RuntimeError(reply.fault.message)
        return reply.values


class _Asked(torch.autograd.Function):
    """The judge's function as one operation of autograd."""

    @staticmethod
    def forward(ctx: Any, line: _Line, *tensors: Tensor) -> Any:
        ctx.line = line
        ctx.needs = [tensor.requires_grad for tensor in tensors]
        (value,) = line.ask()
        return value

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> Any:
        gradients = ctx.line.ask(cotangent=plain(cotangents))
        wanted = [g if needs else None for g, needs in zip(gradients, ctx.needs, strict=True)]
        return None, *wanted
