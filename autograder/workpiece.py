"""A module that an answer is given to work on, and what has become of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

BEGAN = "the parameters that it began with"


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
        vars(made)[BEGAN] = dict(made.named_parameters())
        for name in self.tied[1:]:
            layer, _, weight = name.rpartition(".")
            setattr(made.get_submodule(layer), weight, made.get_parameter(self.tied[0]))
        torch.default_generator.manual_seed(self.seed)
        return made

    def report(self, module: nn.Module) -> tuple[Any, ...]:
        """Tell what has become of it.

        changed    whether anything is not as it was
        layers     whether each matrix is still in a layer of its kind
        same       which names hold the very parameter that they began with
        distinct   how many parameters there are; one with two names counts once
        learning   how many of them learn
        weights    all numbers
        vectors    those of the vectors
        scores     what the layer "head" makes of the rows of "embed"
        dtypes     which there are, of the matrices
        stds       of each matrix, once if two names share it
        centred    whether their means are 0 up to chance
        tails      the share of entries beyond two standard deviations
        """
        now = {name: value.detach() for name, value in module.state_dict().items()}
        own = [*module.parameters()]
        matrices = [value.detach() for value in own if value.ndim == 2]
        tell: dict[str, Callable[[], Any]] = {
            "changed": lambda: self._changed(module, now),
            "layers": lambda: self._in_layers(module),
            "same": lambda: self._same(module),
            "distinct": lambda: len(own),
            "learning": lambda: sum(value.requires_grad for value in own),
            "weights": lambda: tuple(value.clone() for value in now.values()),
            "vectors": lambda: tuple(value.clone() for value in now.values() if value.ndim == 1),
            "scores": lambda: module.get_submodule("head")(now["embed.weight"]).detach(),
            "dtypes": lambda: tuple(sorted({str(value.dtype) for value in matrices})),
            "stds": lambda: tuple(float(value.double().std()) for value in matrices),
            "centred": lambda: all(map(_centred, matrices)),
            "tails": lambda: _tails(matrices),
        }
        return tuple(tell[one]() for one in self.told)

    def _in_layers(self, module: nn.Module) -> bool:
        paths = [name.rpartition(".")[0] for name, value in self.state.items() if value.ndim == 2]
        kinds = [_kind(path.rpartition(".")[2]) for path in paths]
        return all(map(isinstance, map(module.get_submodule, paths), kinds))

    def _same(self, module: nn.Module) -> tuple[str, ...]:
        began = vars(module)[BEGAN]
        now = dict(module.named_parameters(remove_duplicate=False))
        return tuple(name for name in self.state if name in now and now[name] is began[name])

    def _changed(self, module: nn.Module, now: Mapping[str, Tensor]) -> bool:
        learned = {name for name, _ in module.named_parameters(remove_duplicate=False)}
        distinct = len([*module.parameters()]) + len(self.tied[1:])
        same = now.keys() == self.state.keys() == learned and distinct == len(self.state)
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
        linear = _kind(name) is nn.Linear
        layer = nn.Linear(columns, rows, bias=False) if linear else nn.Embedding(rows, columns)
    layer.weight = nn.Parameter(weight.clone())
    return layer


def _kind(name: str) -> type[nn.Module]:
    return nn.Embedding if name == "embed" else nn.Linear


def _centred(matrix: Tensor) -> bool:
    """Whether the mean is 0 up to chance: within five standard errors."""
    wide = matrix.double()
    return bool(wide.mean().abs() <= 5 * wide.std() / wide.numel() ** 0.5)


def _tails(matrices: list[Tensor]) -> float:
    """Give the share of the entries that lie further out than two standard deviations."""
    far = [(m.double().abs() > 2 * m.double().std()).flatten() for m in matrices]
    return float(torch.cat(far).double().mean())
