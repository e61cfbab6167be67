"""One trial turned into others: other dtypes, another device, gradients instead of values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor

from autograder.inputs import normal
from autograder.spec import Trial
from autograder.wire import map_request

DTYPES = (torch.float16, torch.bfloat16, torch.float64)


def in_dtypes(trial: Trial, dtypes: tuple[torch.dtype, ...] = DTYPES) -> Iterator[Trial]:
    """Give the trial in other dtypes; what is no float stays what it is."""
    for dtype in dtypes:
        yield _as(trial, dtype)


def elsewhere(trial: Trial, room: int | None = None) -> Trial:
    """Give the trial on a device other than the CPU, where one tensor has so much room."""
    request = replace(trial.request, elsewhere=True, room=room)
    return Trial(request, f"{trial.inputs}, on another device", trial.sizes, trial.returns)


def backward(trial: Trial, rng: Generator, result: str = "") -> Trial:
    """Ask for the gradients in the inputs of the trial's first call.

    result  the axes of what comes back ("B L K"); if it is not given, what the trial says of it
    """
    cotangent = normal(rng, result or trial.returns, trial.sizes)
    return Trial(replace(trial.request, cotangent=cotangent), trial.inputs, trial.sizes)


def _as(trial: Trial, dtype: torch.dtype) -> Trial:
    def change(tensor: Tensor) -> Tensor:
        return tensor.to(dtype) if tensor.is_floating_point() else tensor

    name = str(dtype).removeprefix("torch.")
    request = map_request(change, trial.request)
    return Trial(request, f"{trial.inputs}, {name}", trial.sizes, trial.returns)
