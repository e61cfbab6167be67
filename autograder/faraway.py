"""A device that is elsewhere, as `elsewhere` has it, and that knows its numbers all the same.

A GPU lets code read a number (`if x.max() > 80`, `x[mask]`), and so must a device that stands in
for one, or an answer that reads one could not be followed any further. So for every tensor that is
far away a copy with its numbers lies on the CPU. Each operation is done twice, on the shapes far
away and on the copies. Tensors that share memory far away share it here: what is kept for each
piece of far memory is one piece of near memory.

The room for one tensor can be bounded. So work that should not be done is seen without a clock and
without filling the memory of anybody's machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

import torch
from torch import Tensor
from torch.nn import init
from torch.overrides import (
    TorchFunctionMode,
    _get_current_function_mode_stack,
    _pop_mode,
)
from torch.utils._pytree import tree_leaves, tree_map, tree_map_only

from autograder.elsewhere import (
    COPIES,
    CPU_INDICES_ALLOWED,
    Elsewhere,
    is_far,
    refuse_mixing,
)

TO_A_DEVICE, INTO = COPIES
NEW = Tensor.new_tensor
MAKERS = (torch.tensor, torch.as_tensor, torch.asarray, NEW)
WITHOUT_NUMBERS = Tensor.is_meta.__get__  # type: ignore[attr-defined]  # a property in C
MOST_MODES = 8  # frames between an operation and us
Storage = torch.UntypedStorage


class NoRoomError(Exception):
    """A tensor was made that has more numbers than there is room for."""


class FarAway(Elsewhere):
    """Within this mode "meta" is a device with numbers that does not mix with the CPU."""

    def __init__(self, room: int | None = None) -> None:
        """Begin with no tensors far away.

        room  how many numbers one piece of memory may hold; None: no bound
        """
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        # by the address of the far memory, which is held so that no other gets its address
        self._near: dict[int, tuple[Storage, Storage]] = {}
        self._sparse: dict[int, tuple[Tensor, Tensor]] = {}  # they have no memory of this kind
        self._making = _Making(self)
        self._room = room

    def __enter__(self) -> FarAway:
        """Begin, and follow what is made of numbers, too."""
        super().__enter__()  # type: ignore[no-untyped-call]
        self._making.__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *failure: Any) -> None:
        """End, whatever modes the code has left behind or taken away."""
        stack = _get_current_function_mode_stack()  # type: ignore[no-untyped-call]
        if any(one is self._making for one in stack):
            while _pop_mode() is not self._making:  # type: ignore[no-untyped-call]
                pass
        super().__exit__(*failure)  # type: ignore[no-untyped-call]

    def carry(self, tensor: Tensor) -> Tensor:
        """Make a tensor far away with the layout and the numbers of this one."""
        if tensor.is_meta:
            return tensor
        return self._far(_laid_out_as(tensor).copy_(tensor.detach()))

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Do an operation far away and near, and remember the numbers of what it makes."""
        kwargs = kwargs or {}
        far = any(is_far(leaf) for leaf in tree_leaves((args, kwargs)))
        if not far or not self._known(args, kwargs):
            return super().__torch_dispatch__(func, types, args, kwargs)
        if _stays_here(func, args, kwargs):
            return func(*self._nearby(args), **self._nearby(kwargs))
        if func not in CPU_INDICES_ALLOWED and func not in COPIES:
            refuse_mixing(func, args, kwargs)
        near = func(*self._nearby(args), **self._nearby(kwargs))
        return self._told_apart(func, args, kwargs, near)

    def _told_apart(
        self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], near: Any
    ) -> Any:
        """Give what the operation makes far away, where its numbers are those of `near`."""
        try:
            made = func(*args, **kwargs)
        except (NotImplementedError, RuntimeError):  # it cannot be done without numbers
            changed = func._schema.is_mutable and is_far(args[0])
            return args[0] if changed else tree_map_only(Tensor, self._far, near)
        return tree_map(self._noted, made, near)

    def _noted(self, made: Any, near: Any) -> Any:
        """Keep the numbers of a tensor whose memory is new; a number was read near."""
        if not is_far(made):
            return near
        if made.layout is not torch.strided:
            self._sparse[id(made)] = (made, near)
            return made
        if made.untyped_storage()._cdata not in self._near:
            self._note(made, _laid_out_as(made).copy_(near))
        return made

    def _far(self, near: Tensor) -> Tensor:
        """Make the tensor far away whose numbers these are."""
        made = torch.empty_strided(near.shape, near.stride(), dtype=near.dtype, device="meta")
        self._note(made, near.clone() if near.storage_offset() else near)
        return made

    def _note(self, made: Tensor, near: Tensor) -> None:
        storage = made.untyped_storage()
        if self._room is not None and storage.nbytes() > self._room * made.itemsize:
            raise NoRoomError(f"it makes a tensor with more than {self._room:,} numbers")
        self._near[storage._cdata] = (storage, near.untyped_storage())

    def _known(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        """Whether the numbers of all that is far away are here: tensors may come from outside."""
        tensors = [leaf for leaf in tree_leaves((args, dict(kwargs))) if isinstance(leaf, Tensor)]
        return all(
            id(t) in self._sparse
            if t.layout is not torch.strided
            else t.untyped_storage()._cdata in self._near
            for t in tensors
            if t.is_meta
        )

    def _nearby(self, given: Any) -> Any:
        """Put the copies in the place of what is far away."""
        return tree_map(lambda leaf: self._copy_of(leaf) if is_far(leaf) else leaf, given)

    def _copy_of(self, leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return torch.device("cpu")
        if leaf.layout is not torch.strided:
            return self._sparse[id(leaf)][1]
        _, near = self._near[leaf.untyped_storage()._cdata]
        copy = torch.empty(0, dtype=leaf.dtype, device="cpu")
        copy.set_(near, leaf.storage_offset(), leaf.shape, leaf.stride())
        copy = torch._neg_view(copy) if leaf.is_neg() else copy
        return copy.conj() if leaf.is_conj() else copy


class _Making(TorchFunctionMode):
    """Gives numbers to what is made far away of Python's numbers, as `torch.tensor` does.

    Torch itself leaves them out there, before any operation could be seen.
    """

    def __init__(self, far: FarAway) -> None:
        self._far = far

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Make it near, and carry it."""
        del types
        kwargs = dict(kwargs or {})
        if func == WITHOUT_NUMBERS and _asked_by_an_initialiser():
            return False  # `trunc_normal_` and others leave out what they take for a mere shape
        if func not in MAKERS or not args[func is NEW :]:
            return func(*args, **kwargs)
        data = args[func is NEW]
        target = kwargs.get("device", args[0].device if func is NEW else None)
        to_there = target is not None and torch.device(target).type == "meta"
        if isinstance(data, Tensor) or not to_there:
            return func(*args, **kwargs)
        if func is NEW:
            kwargs.setdefault("dtype", args[0].dtype)
            args = args[1:]
        learns = kwargs.pop("requires_grad", False)
        given = self._far._nearby(args)  # numbers that were read far away may be among them
        near = torch.tensor(*given, **(kwargs | {"device": "cpu"}))
        return self._far.carry(near).requires_grad_(learns)


def _asked_by_an_initialiser() -> bool:
    """Whether torch's own code of first weights asks, with other modes between it and us or not."""
    frame: FrameType | None = sys._getframe(2)
    for _ in range(MOST_MODES):
        if frame is None or frame.f_globals is vars(init):
            return frame is not None
        frame = frame.f_back
    return False


def _laid_out_as(tensor: Tensor) -> Tensor:
    """Make a tensor on the CPU, whatever a notebook has made the default device."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu")


def _stays_here(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether a copy ends on the CPU."""
    if func is INTO:
        return not args[0].is_meta
    target = kwargs.get("device")
    return func is TO_A_DEVICE and target is not None and target.type != "meta"
