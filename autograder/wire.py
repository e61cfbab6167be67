"""What passes between the judge and an answer: requests to call it, replies with plain data.

Only tensors, numbers, strings, None and nests of tuples and dicts are data here. An object of any
other type is replaced by its name (`Foreign`), so no behaviour of a student's object reaches the
judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
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
class TorchFunction:
    """A function of `torch.nn.functional` that an answer is given as an argument: "relu"."""

    name: str

    def function(self) -> Callable[[Tensor], Tensor]:
        """Look the function up."""
        found: Callable[[Tensor], Tensor] = getattr(functional, self.name)
        return found


@dataclass(frozen=True)
class Workpiece:
    """A module that an answer is given as an argument, to change its weights.

    state  dotted name -> numbers: a matrix makes an nn.Linear without bias, one of a layer called
           "embed" an nn.Embedding, a vector a bare module; names that are numbers, an nn.ModuleList
    told   what is told of it after the call, in the place of what the answer returned: names of
           `Workpiece.report`
    tied   two names of one parameter, or nothing
    seed   of torch's generator, before the call
    """

    state: Mapping[str, Tensor]
    told: tuple[str, ...]
    tied: tuple[str, ...] = ()
    seed: int = 0

    def function(self) -> nn.Module:
        """Make the module."""
        made = _assembled(self.state)
        for name in self.tied[1:]:
            layer, _, weight = name.rpartition(".")
            setattr(made.get_submodule(layer), weight, made.get_parameter(self.tied[0]))
        torch.default_generator.manual_seed(self.seed)
        return made

    def report(self, module: nn.Module) -> tuple[Data, ...]:
        """Tell what has become of it.

        changed    whether anything is not as it was
        distinct   how many parameters there are; one with two names counts once
        learning   how many of them learn
        weights    all numbers
        vectors    those of the vectors
        scores     what the layer "head" makes of the rows of "embed"
        stds       of each matrix, once if two names share it
        centred    whether their means are 0 up to chance
        tails      the share of entries beyond two standard deviations
        """
        now = {name: value.detach() for name, value in module.state_dict().items()}
        own = [*module.parameters()]
        matrices = [value.detach() for value in own if value.ndim == 2]
        tell: dict[str, Callable[[], Data]] = {
            "changed": lambda: self._changed(module, now),
            "distinct": lambda: len(own),
            "learning": lambda: sum(value.requires_grad for value in own),
            "weights": lambda: tuple(value.clone() for value in now.values()),
            "vectors": lambda: tuple(value.clone() for value in now.values() if value.ndim == 1),
            "scores": lambda: module.get_submodule("head")(now["embed.weight"]).detach(),
            "stds": lambda: tuple(float(value.double().std()) for value in matrices),
            "centred": lambda: all(map(_centred, matrices)),
            "tails": lambda: _tails(matrices),
        }
        return tuple(tell[one]() for one in self.told)

    def _changed(self, module: nn.Module, now: Mapping[str, Tensor]) -> bool:
        known = {name for name, _ in module.named_parameters()} | {*self.tied[1:]}
        same = now.keys() == self.state.keys() == known
        return not same or any(
            now[name].shape != value.shape or bool((now[name] != value).any())
            for name, value in self.state.items()
        )


def _assembled(state: Mapping[str, Tensor]) -> nn.Module:
    """Make the module whose weights have these names."""
    parts: dict[str, dict[str, Tensor]] = {}
    for name, value in state.items():
        first, _, rest = name.partition(".")
        parts.setdefault(first, {})[rest] = value
    if all(name.isdigit() for name in parts):
        return nn.ModuleList(map(_assembled, parts.values()))
    made = nn.Module()
    for name, inside in parts.items():
        bare = inside.get("weight")
        made.add_module(name, _assembled(inside) if bare is None else _layer(name, bare))
    return made


def _layer(name: str, weight: Tensor) -> nn.Module:
    layer = nn.Module()
    if weight.ndim == 2:
        rows, columns = weight.shape
        embed = name == "embed"
        layer = nn.Embedding(rows, columns) if embed else nn.Linear(columns, rows, bias=False)
    layer.weight = nn.Parameter(weight.clone())
    return layer


def _centred(matrix: Tensor) -> bool:
    """Whether the mean is 0 up to chance: within five standard errors."""
    wide = matrix.double()
    return bool(wide.mean().abs() <= 5 * wide.std() / wide.numel() ** 0.5)


def _tails(matrices: list[Tensor]) -> float:
    """Give the share of the entries that lie further out than two standard deviations."""
    far = [(m.double().abs() > 2 * m.double().std()).flatten() for m in matrices]
    return float(torch.cat(far).double().mean())


GIVEN = (BlackBox, TorchFunction, Workpiece)  # what stands for a function among the arguments


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
    if isinstance(data, Workpiece):
        return replace(data, state=map_tensors(change, data.state))
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
