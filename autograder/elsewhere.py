"""Pretend that meta tensors live on a device of their own, as CUDA tensors do.

Meta tensors have shapes but no numbers. Left alone, torch refuses to copy them to the CPU, which a
GPU allows, and refuses to mix them with CPU tensors in words that cannot be told from its other
refusals. This mode is as strict as a GPU: operands must share a device, apart from CPU scalars and
CPU indices. It is also as generous: numbers may be copied to the CPU and back (they arrive as
zeros).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch._dynamo  # meta operations load it at first use, which takes a second: not in a check
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

aten = torch.ops.aten
COPIES = (aten._to_copy.default, aten.copy_.default)
CPU_INDICES_ALLOWED = (aten.index.Tensor, aten.index_put_.default, aten.index_put.default)


class WrongDeviceError(RuntimeError):
    """Two devices met in one operation."""


class Elsewhere(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it untyped
    """Within this mode "meta" is a device that does not mix with the CPU."""

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Check the operands' devices, then run the operation."""
        del types  # tensor subclasses are no matter here
        kwargs = kwargs or {}
        if func in COPIES:
            args = _with_zeros_from_afar(func, args, kwargs)
        elif func not in CPU_INDICES_ALLOWED:
            refuse_mixing(func, args, kwargs)
        return func(*args, **kwargs)


def refuse_mixing(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise WrongDeviceError if tensors of both devices are given, or chance from the CPU."""
    leaves = tree_leaves((args, dict(kwargs)))
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    if any(t.is_meta for t in tensors) and any(not t.is_meta and t.ndim for t in tensors):
        name = str(func).removeprefix("aten.").split(".")[0]
        raise WrongDeviceError(
            f"`{name}` got one tensor on the device of the inputs and one on the CPU"
        )
    if any(isinstance(leaf, torch.Generator) for leaf in leaves) and any(map(is_far, leaves)):
        name = str(func).removeprefix("aten.").split(".")[0]
        raise WrongDeviceError(
            f"`{name}` draws on the device of the inputs, and its generator is on the CPU"
        )


def is_far(leaf: Any) -> bool:
    """Whether it is a tensor far away, or the name of that device."""
    if isinstance(leaf, Tensor):
        return leaf.is_meta
    return isinstance(leaf, torch.device) and leaf.type == "meta"


def _with_zeros_from_afar(
    func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[Any, ...]:
    """Replace a meta source by zeros if the copy goes to the CPU."""
    into = func is aten.copy_.default  # copy_(target, source); _to_copy(source, device=...)
    source = args[1] if into else args[0]
    if not isinstance(source, Tensor):  # torch's vmap copies numbers, too
        return args
    target = args[0].device if into else kwargs.get("device") or source.device
    if not source.is_meta or torch.device(target).type == "meta":
        return args
    zeros = torch.zeros(source.shape, dtype=source.dtype, device="cpu")
    return tuple(zeros if arg is source else arg for arg in args)
