"""Vectors on which wrong norms show: few entries, far from mean 0 and from size 1."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch
from torch import Generator, Tensor

from autograder.inputs import LARGEST, normal, sizes
from autograder.lent import BlackBox, TorchFunction
from autograder.spec import Trial
from autograder.wire import Call, Request, call

Gains = tuple[Tensor, Tensor]


def drawn_sizes(rng: Generator, **fixed: int) -> dict[str, int]:
    """Draw the sizes of B, L and D; D is the largest, so it is 4 at least."""
    low, middle, high = sorted(sizes(rng, "B L D").values())
    b, length = (low, middle) if torch.rand((), generator=rng) < 0.5 else (middle, low)
    return {"B": b, "L": length, "D": high} | fixed


def far_off(rng: Generator, axes: str, of: Mapping[str, int]) -> Tensor:
    """Draw vectors with mean 5 and standard deviation 3."""
    return normal(rng, axes, of, mean=5.0, std=3.0)


def far_means(rng: Generator, *shape: int) -> Tensor:
    """Draw means between 1000 and 5000, every other one negative: no shift suits them all."""
    size = 1000 + 4000 * torch.rand(shape, generator=rng)
    sign = 1 - 2 * (torch.arange(size.numel()) % 2)
    return size * sign.view(shape)


def gain(rng: Generator, of: Mapping[str, int]) -> Tensor:
    """Draw factors of both signs that are neither 0 nor 1."""
    drawn = normal(rng, "D", of)
    return drawn + torch.where(drawn < 0, -0.5, 1.5)


def sublayer(rng: Generator, of: Mapping[str, int], *, alone: bool, loud: float = 1.0) -> BlackBox:
    """Draw a sublayer that mixes features and, unless tokens are to stay alone, tokens."""
    mix = torch.eye(of["L"]) if alone else normal(rng, "L L", of, std=of["L"] ** -0.5)
    return BlackBox(mix, normal(rng, "D D", of, std=loud * of["D"] ** -0.5))


def block(
    rng: Generator,
    of: Mapping[str, int],
    *,
    size: float = 1.0,
    loud: tuple[float, float] = (1.0, 1.0),
    note: str = "",
) -> Trial:
    """Draw a stream, two sublayers and two gains."""
    x = size * far_off(rng, "B L D", of)
    attend = sublayer(rng, of, alone=False, loud=loud[0])
    feed_forward = sublayer(rng, of, alone=True, loud=loud[1])
    words = f"x (B, L, D) = {tuple(x.shape)}, two gains of shape {(of['D'],)}{note}"
    gains = (gain(rng, of), gain(rng, of))
    return Trial(call(x, attend, feed_forward, gains), words, of, "B L D")


def keeping_block(rng: Generator) -> Trial:
    """Draw a block whose sublayers need what they returned on the way back."""
    of = drawn_sizes(rng)
    x = far_off(rng, "B L D", of)
    tanh = TorchFunction("tanh")
    gains = (gain(rng, of), gain(rng, of))
    words = f"x (B, L, D) = {tuple(x.shape)}, two gains of shape {(of['D'],)}, both sublayers tanh"
    return Trial(call(x, tanh, tanh, gains), words, of, "B L D")


def on_module(trial: Trial, names: tuple[str, ...]) -> Trial:
    """Ask of a module what was asked of a function of x, weights and perhaps eps."""
    x, *rest = trial.request.calls[0].args
    weights, eps = rest[: len(names)], rest[len(names) :]
    build = Call((x.shape[-1], *eps))
    state = dict(zip(names, weights, strict=True))
    request = replace(trial.request, calls=(Call((x,)),), build=build, state=state)
    return Trial(request, trial.inputs, trial.sizes, trial.returns)


def fresh_module(x: Tensor, note: str = "") -> Trial:
    """Ask a module that keeps the weights with which it was made."""
    of = dict(zip("BLD", x.shape, strict=True))
    words = f"x (B, L, D) = {tuple(x.shape)}, a new module{note}"
    return Trial(Request((Call((x,)),), Call((of["D"],))), words, of, "B L D")


def fresh_modules(rng: Generator) -> Iterator[Trial]:
    """Ask new modules of each width that occurs: none may remember what another was given."""
    for width in range(4, LARGEST + 1):
        yield fresh_module(far_off(rng, "B L D", drawn_sizes(rng, D=width)))


def mixed_dtypes(rng: Generator) -> Iterator[Trial]:
    """Ask new modules, whose weights are float32, for x in half precision."""
    for dtype in (torch.float16, torch.bfloat16):
        x = normal(rng, "B L D", drawn_sizes(rng))
        name = str(dtype).removeprefix("torch.")
        yield fresh_module(x.to(dtype), f" with float32 weights, x {name}")


def in_training(trial: Trial) -> Trial:
    """Ask a module in training mode."""
    request = replace(trial.request, train=True)
    return replace(trial, request=request, inputs=f"{trial.inputs}, in training mode")


def two_calls(trial: Trial, other: Tensor) -> Trial:
    """Ask a module for another x first, then for that of the trial, both of one shape."""
    (one,) = trial.request.calls
    request = Request((Call((other.movedim(0, 1),)), one), trial.request.build, trial.request.state)
    return Trial(request, f"{trial.inputs}, two calls", trial.sizes, trial.returns)
