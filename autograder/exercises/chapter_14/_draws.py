"""Weights of blocks, and trials turned into others."""

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor

from autograder.spec import Trial
from autograder.wire import Call, map_request, map_tensors

State = dict[str, Tensor]


def matrix(rng: Generator, rows: int, columns: int) -> Tensor:
    """Draw a matrix that keeps the size of what it is applied to."""
    drawn = torch.randn(rows, columns, generator=rng)
    return drawn / math.sqrt(columns)


def vector(rng: Generator, size: int, mean: float = 0.0) -> Tensor:
    """Draw a gain (mean 1) or a bias."""
    return mean + 0.4 * torch.randn(size, generator=rng)


def linear(rng: Generator, name: str, rows: int, columns: int) -> State:
    """Draw the weight and the bias of a linear layer."""
    return {f"{name}.weight": matrix(rng, rows, columns), f"{name}.bias": vector(rng, rows)}


def stack(rng: Generator, d_model: int, layers: int) -> State:
    """Draw the weights of blocks with d_ff = 2 d_model, and of the norm after them."""
    state: State = {}
    for i in range(layers):
        for part in ("norm_1", "norm_2"):
            state[f"blocks.{i}.{part}.weight"] = vector(rng, d_model, mean=1.0)
        for part in ("w_q", "w_k", "w_v", "w_o"):
            state[f"blocks.{i}.attend.{part}.weight"] = 1.5 * matrix(rng, d_model, d_model)
        for part, rows in (("w_gate", 2 * d_model), ("w_up", 2 * d_model), ("w_down", d_model)):
            columns = 3 * d_model - rows
            state[f"blocks.{i}.feed_forward.{part}.weight"] = matrix(rng, rows, columns)
    return {**state, "norm.weight": vector(rng, d_model, mean=1.0)}


def in_training(trial: Trial) -> Trial:
    """Give the same trial to a module in training."""
    request = replace(trial.request, train=True)
    return replace(trial, request=request, inputs=f"{trial.inputs}, in training")


def not_contiguous(trial: Trial) -> Trial:
    """Give the same trial with tensors that do not lie in one piece of memory."""

    def turned(tensor: Tensor) -> Tensor:
        return tensor.mT.contiguous().mT if tensor.ndim > 1 else tensor

    (one,) = trial.request.calls
    request = replace(trial.request, calls=(Call(map_tensors(turned, one.args), one.kwargs),))
    return replace(trial, request=request, inputs=f"{trial.inputs}, not contiguous")


def with_new_weights(trial: Trial, state: State) -> Trial:
    """Ask the same before and after other weights have been loaded."""
    (one,) = trial.request.calls
    load = Call((state,), {"strict": False}, "load_state_dict")
    request = replace(trial.request, calls=(one, load, one))
    return replace(trial, request=request, inputs=f"{trial.inputs}, twice, new weights between")


def in_turn(trials: Iterator[Trial]) -> Trial:
    """Make the calls of several trials on one object, and the first one once more at the end."""
    first, *others = trials
    calls = tuple(call for trial in (first, *others, first) for call in trial.request.calls)
    words = "; then ".join([first.inputs, *(other.inputs for other in others), "the first again"])
    return replace(first, request=replace(first.request, calls=calls), inputs=words)


def beyond_float32(trial: Trial) -> Trial:
    """Give the same trial in float64, with numbers that float32 cannot hold."""

    def grown(tensor: Tensor) -> Tensor:
        return 1e200 * tensor.double() if tensor.is_floating_point() else tensor

    request = map_request(grown, trial.request)
    return replace(trial, request=request, inputs=f"{trial.inputs}, float64, of size 1e200")
