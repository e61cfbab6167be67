"""Mistakes that any answer can make, made from a right answer; the docstring is the hint.

Each takes a right function, or a module's class, and gives a wrong one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from autograder.spec import Implementation
from autograder.wire import Data, map_tensors

NUMBERS = (torch.float32, torch.int64, torch.int32, torch.uint8)  # what people make masks of


def on_the_cpu(right: Implementation) -> Implementation:
    """Tensors are moved to the CPU, or made there, and the result stays there. Make everything on
    the device of the inputs: `x.new_zeros`, or `device=x.device`.
    """
    return _with_inputs(right, on_the_cpu, Tensor.cpu)


def always_float32(right: Implementation) -> Implementation:
    """The result is float32 whatever the dtype of the inputs. Give it back in the dtype that came
    in.
    """
    return _with_inputs(right, always_float32, _as_float32)


def float64_narrowed(right: Implementation) -> Implementation:
    """float64 comes in and goes out, but in between the numbers pass through float32, which cannot
    hold what is very large or very small. Compute in the dtype of the inputs.
    """
    return _with_inputs(right, float64_narrowed, _through_float32)


def cut_from_autograd(right: Implementation) -> Implementation:
    """The numbers are right but carry no gradient: `detach`, `.data`, `no_grad`, numpy or
    `torch.tensor` cuts them off from the inputs.
    """
    return _with_inputs(right, cut_from_autograd, Tensor.detach)


def changed_in_place(right: Implementation, argument: int = 1) -> Implementation:
    """The answer is right, but an argument has other numbers after the call than before: the caller
    may still need it. Which line writes into it: a method that ends in an underscore, `+=` or `/=`,
    an assignment to a part of it?
    """

    def answer(*args: Data, **kwargs: Data) -> Any:
        result = right(*args, **kwargs)
        _first_tensor(args[argument - 1]).add_(1)
        return result

    return _called(answer, changed_in_place)


def as_numbers(right: Implementation) -> Iterator[Implementation]:
    """Give the right mask as 0 and 1, once in each dtype that people choose."""
    return (_in_numbers(right, dtype) for dtype in NUMBERS)


def _in_numbers(right: Implementation, dtype: torch.dtype) -> Implementation:
    name = str(dtype).removeprefix("torch.")

    def answer(*args: Data, **kwargs: Data) -> Any:
        mask = right(*args, **kwargs)
        return None if mask is None else mask.to(dtype)

    answer.__name__, answer.__doc__ = f"as_{name}", _NUMBERS_HINT.format(name)
    return answer


_NUMBERS_HINT = (
    "The mask holds numbers of dtype {}, 0 and 1, not booleans. Numbers are no mask for "
    "`masked_fill`, and `~` makes -1 and -2 of them, or an error. See `dtype=torch.bool`, "
    "`.bool()`, or a comparison."
)


def _as_float32(tensor: Tensor) -> Tensor:
    return tensor.float() if tensor.is_floating_point() else tensor


def _through_float32(tensor: Tensor) -> Tensor:
    return tensor.float().double() if tensor.dtype == torch.float64 else tensor


def _with_inputs(
    right: Implementation, slip: Callable[..., Any], change: Callable[[Tensor], Tensor]
) -> Implementation:
    """Change every tensor that comes in."""

    def answer(*args: Data, **kwargs: Data) -> Any:
        return right(*map_tensors(change, args), **map_tensors(change, kwargs))

    def forward(self: Any, *args: Data, **kwargs: Data) -> Any:
        return right.forward(  # type: ignore[attr-defined]  # a module has one
            self, *map_tensors(change, args), **map_tensors(change, kwargs)
        )

    if inspect.isclass(right):
        return _called(type(slip.__name__, (right,), {"forward": forward}), slip)
    return _called(answer, slip)


def _called(answer: Any, slip: Callable[..., Any]) -> Implementation:
    answer.__name__, answer.__doc__ = slip.__name__, slip.__doc__
    made: Implementation = answer
    return made


def _first_tensor(argument: Data) -> Tensor:
    found: Tensor = argument if isinstance(argument, Tensor) else _first_tensor(argument[0])
    return found
