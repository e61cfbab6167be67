"""Which forbidden functions does a piece of code really call, however it gets hold of them?

Reading an answer cannot decide getattr(torch, a + b); running it can. The code runs in the same
process and can free itself of the watch if it means to: that takes more than a clever name.
"""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import FrameType, TracebackType
from typing import Any

import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack
from torch.overrides import _pop_mode as _pop_function_mode
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack
from torch.utils._python_dispatch import _pop_mode as _pop_dispatch_mode

ATTENTION = (
    "_safe_softmax",  # nothing but attention uses it
    "_scaled_dot_product_attention_math",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_fused_attention_overrideable",
    "_native_multi_head_attention",
    "_transformer_encoder_layer_fwd",
)
# What torch computes with, inside other functions too, when it does the whole of what these do.
# F.cross_entropy is a log_softmax; a compiled function calls nothing but such operations.
INSIDE: dict[str, tuple[str, ...]] = {
    "softmax": ("_softmax", "_safe_softmax", "_sparse_softmax", "_masked_softmax"),
    "log_softmax": ("_log_softmax", "_sparse_log_softmax"),
    "logsumexp": ("logsumexp",),
    "logcumsumexp": ("logcumsumexp", "_logcumsumexp"),
    "scaled_dot_product_attention": ATTENTION,
}
# The operation's name where it is not the function's own: torch.special.softmax.
PREFIXES = {"torch.special": "special_", "torch.linalg": "linalg_", "torch.fft": "fft_"}
EVERY = 12  # watching inside operations takes time: it is done for one call of twelve

_entered = itertools.count()


class Watching:
    """Within this context, note which of the forbidden functions are called.

    with Watching(("torch.softmax",)) as watch:
        answer(x)
    watch.used  # ("torch.softmax",)

    Results, gradients and devices stay as they are. Threads that are started within are watched
    too. A function that has no object in torch ("scipy.special.softmax") is not seen.
    """

    def __init__(self, forbidden: Sequence[str]) -> None:
        """forbidden  dotted names, as an exercise has them"""
        self._names = tuple(forbidden)
        self._seen: dict[str, None] = {}
        self._calls: _Calls | None = None
        self._operations: _Operations | None = None
        self._thread_profile: Any = None

    @property
    def used(self) -> tuple[str, ...]:
        """Name the forbidden functions that were called, each once, the first one first."""
        return tuple(self._seen)

    def __enter__(self) -> Watching:
        """Begin to watch."""
        operations = _operations(self._names)
        if not self._names:
            return self
        self._thread_profile = threading.getprofile()
        threading.setprofile(self._join)
        if operations and next(_entered) % EVERY == 0:
            self._operations = _Operations(operations, self._seen)
            _enter(self._operations)
        self._calls = _Calls(_functions(self._names), self._seen)
        _enter(self._calls)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End to watch, whatever modes the code has left behind or taken away."""
        if self._calls:
            threading.setprofile(self._thread_profile)
            _leave(self._calls, _get_current_function_mode_stack, _pop_function_mode)
        if self._operations:
            _leave(self._operations, _get_current_dispatch_mode_stack, _pop_dispatch_mode)

    def _join(self, frame: FrameType, event: str, argument: Any) -> None:
        """Watch a thread that has just been started; modes hold for one thread only."""
        del frame, event, argument
        sys.setprofile(self._thread_profile)
        _enter(_Calls(_functions(self._names), self._seen))


class _Calls(TorchFunctionMode):
    """Notes calls of torch's functions, methods and operators."""

    def __init__(self, names: Mapping[Any, str], seen: dict[str, None]) -> None:
        self.names = names
        self.seen = seen

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        del types  # tensor subclasses are no matter here
        try:
            name = self.names.get(func)
        except TypeError:  # what cannot be hashed is none of torch's
            name = None
        if name is None and isinstance(func, HigherOrderOperator):
            name = self.names.get(func.__name__)
        if name is not None:
            self.seen[name] = None
        return func(*args, **(kwargs or {}))


class _Operations(TorchDispatchMode):
    """Notes the operations that torch's functions are made of."""

    def __init__(self, names: Mapping[Any, str], seen: dict[str, None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.names = names
        self.seen = seen

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        del types
        name = self.names.get(func)
        if name is not None:
            self.seen[name] = None
        return func(*args, **(kwargs or {}))


def _enter(mode: Any) -> None:
    mode.__enter__()  # left by `_leave`, or in a thread by its end


def _leave(mode: Any, stack: Callable[[], list[Any]], pop: Callable[[], Any]) -> None:
    if any(one is mode for one in stack()):
        while pop() is not mode:
            pass


@lru_cache(maxsize=64)
def _functions(names: tuple[str, ...]) -> dict[Any, str]:
    """Map what may be called to the first of the names that it is known by."""
    found: dict[Any, str] = dict(_operations(names))
    for name in names:
        things = [_found_at(name), *_packets(name, _own_operation(name))]
        base = name.rpartition(".")[2]
        for thing in (*things, base if _found_at(name) is None else None):
            if thing is not None:
                found.setdefault(thing, name)
    return found


@lru_cache(maxsize=64)
def _operations(names: tuple[str, ...]) -> dict[OpOverload, str]:
    found: dict[OpOverload, str] = {}
    for name in names:
        for operation in INSIDE.get(name.rpartition(".")[2], ()):
            for one in _packets(name, operation):
                if isinstance(one, OpOverload):
                    found.setdefault(one, name)
    return found


def _found_at(name: str) -> Any:
    """Return what stands at a dotted name of torch, without importing anything for it."""
    first, *rest = name.split(".")
    thing: Any = {"torch": torch, "Tensor": torch.Tensor}.get(first)
    for part in rest:
        thing = getattr(thing, part, None)
    return thing


def _own_operation(name: str) -> str:
    module, _, base = name.rpartition(".")
    return PREFIXES.get(module, "") + base


def _packets(name: str, operation: str) -> list[Any]:
    """Return torch.ops.aten's operation and its overloads, if there is such a one."""
    if name.partition(".")[0] not in ("torch", "Tensor"):
        return []
    packet = getattr(torch.ops.aten, operation, None)
    return [packet, *(getattr(packet, one) for one in packet.overloads())] if packet else []
