"""Plain data <-> bytes: a length, JSON, then the raw numbers of every tensor.

Both sides of the wall read what the other wrote. The judge reads what a hostile process may have
written: sizes are compared with the bytes that are there before anything is allocated, nothing is
unpickled, and whatever does not fit raises `FrameError`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.faults import Fault, FaultKind
from autograder.wire import LENT, LENT_KINDS, Call, Data, Foreign, Reply, Request, parts_of

LARGEST = 16_000_000  # bytes of one frame
LARGEST_TREE = 4_000_000  # bytes of its JSON
MOST_AXES = 16
LARGEST_AXIS = 2**31
LONGEST_NAME = 200

_NAMED = (
    "float16 bfloat16 float32 float64 complex64 complex128 "
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64"
)
DTYPES: dict[str, torch.dtype] = {name: getattr(torch, name) for name in _NAMED.split()}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


_UNREADABLE = (
    ValueError, TypeError, KeyError, AttributeError, RecursionError, RuntimeError, OverflowError,
)  # fmt: skip


class FrameError(ValueError):
    """The bytes are no frame of ours; the message says what is wrong with them."""


def encode(data: Data) -> bytes:
    """Write nested plain data as one frame. Raises FrameError if it is too large for one."""
    chunks: list[bytes] = []
    try:
        tree = json.dumps(_tree(data, chunks)).encode()
    except (RecursionError, ValueError) as error:
        raise FrameError(f"the data cannot be written: {error}") from error
    size = 4 + len(tree) + sum(map(len, chunks))
    if size > LARGEST or len(tree) > LARGEST_TREE:
        raise FrameError(f"{size} bytes are too many for one answer: at most {LARGEST}")
    return b"".join([len(tree).to_bytes(4, "big"), tree, *chunks])


def decode(frame: bytes) -> Data:
    """Rebuild what `encode` wrote. Raises FrameError."""
    if len(frame) > LARGEST:
        raise FrameError(f"{len(frame)} bytes are too many for one frame")
    start = 4 + int.from_bytes(frame[:4], "big")
    if len(frame) < start or start > 4 + LARGEST_TREE:
        raise FrameError("the frame is shorter than it says, or its text too long")
    reader = _Reader(memoryview(frame)[start:])
    try:
        data = reader.data(json.loads(frame[4:start]))
    except FrameError:
        raise
    except _UNREADABLE as error:
        raise FrameError(f"the frame cannot be read: {type(error).__name__}") from error
    if len(reader.rest):
        raise FrameError(f"{len(reader.rest)} bytes belong to nothing")
    return data


# Writing


def _tree(data: Data, chunks: list[bytes]) -> Any:
    """Turn data into JSON; a tensor's numbers go to `chunks`, in order."""
    if data is None or isinstance(data, (bool, int, float, str)):
        return data
    if isinstance(data, Tensor):
        return _tensor_tree(data, chunks)
    if isinstance(data, list):
        return [_tree(item, chunks) for item in data]
    if isinstance(data, tuple):
        return {"tuple": [_tree(item, chunks) for item in data]}
    if isinstance(data, Mapping):
        return {"dict": {str(name): _tree(item, chunks) for name, item in data.items()}}
    return _leaf_tree(data)


def _leaf_tree(data: Data) -> Any:
    if isinstance(data, complex):
        return {"complex": [data.real, data.imag]}
    if isinstance(data, Foreign):
        return {"foreign": data.type_name[:LONGEST_NAME], "shape": _small(data.shape)}
    raise ValueError(f"{type(data).__name__} is not plain data")


def _small(shape: tuple[int, ...] | None) -> list[int] | None:
    ours = shape is not None and all(type(n) is int and 0 <= n < LARGEST_AXIS for n in shape)
    return [*shape] if ours and shape is not None and len(shape) <= MOST_AXES else None


def _tensor_tree(tensor: Tensor, chunks: list[bytes]) -> Any:
    dtype, shape = NAMES.get(tensor.dtype), [*tensor.shape]
    if dtype is None or len(shape) > MOST_AXES or not all(n < LARGEST_AXIS for n in shape):
        name = f"{str(tensor.dtype).removeprefix('torch.')} tensor"
        return {"foreign": name, "shape": _small((*shape,))}
    stride = None if tensor.is_contiguous() or not _dense(tensor) else [*tensor.stride()]
    if not tensor.is_meta:
        chunks.append(_numbers(tensor))
    return {"tensor": dtype, "shape": shape, "stride": stride, "meta": tensor.is_meta}


def _dense(tensor: Tensor) -> bool:
    """Whether each element has a place of its own and no place is left over."""
    return _is_dense([*tensor.shape], [*tensor.stride()])


def _is_dense(shape: list[int], stride: list[int]) -> bool:
    axes = sorted((step, size) for size, step in zip(shape, stride, strict=True) if size > 1)
    wanted = 1
    for step, size in axes:
        if step != wanted:
            return False
        wanted *= size
    return 0 not in shape


def _numbers(tensor: Tensor) -> bytes:
    plain = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    flat = plain.as_strided((plain.numel(),), (1,))  # an axis of one place may have any stride
    return bytes(flat.view(torch.uint8).numpy().tobytes())


# Reading


class _Reader:
    """Rebuilds data from a tree, taking the tensors' numbers from the rest of the frame."""

    def __init__(self, rest: memoryview) -> None:
        self.rest = rest

    def data(self, tree: Any) -> Data:
        if isinstance(tree, list):
            return [self.data(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        if "tensor" in tree:
            return self._tensor(tree)
        if "tuple" in tree:
            return tuple(self.data(item) for item in _listed(tree["tuple"]))
        if "dict" in tree:
            return {name: self.data(item) for name, item in tree["dict"].items()}
        return _leaf(tree)

    def _tensor(self, tree: dict[str, Any]) -> Tensor:
        dtype, shape = DTYPES[tree["tensor"]], _shape(tree["shape"])
        stride = tree["stride"]
        if stride is not None and not _is_dense(shape, _whole(stride)):
            raise FrameError("the strides of a tensor leave gaps")
        if tree["meta"] is True:
            flat = torch.empty(shape, dtype=dtype, device="meta")
        else:
            flat = self._filled(dtype, shape)
        if stride is None:
            return flat
        placed = torch.empty_strided(shape, stride, dtype=dtype, device=flat.device)
        return placed.copy_(flat)

    def _filled(self, dtype: torch.dtype, shape: list[int]) -> Tensor:
        size = math.prod(shape) * dtype.itemsize
        if size > len(self.rest):
            raise FrameError(f"a tensor of shape {tuple(shape)} has fewer bytes than it needs")
        chunk, self.rest = bytearray(self.rest[:size]), self.rest[size:]
        if not chunk:
            return torch.empty(shape, dtype=dtype)
        if dtype == torch.bool:  # a byte that is neither 0 nor 1 is no bool
            return (torch.frombuffer(chunk, dtype=torch.uint8) != 0).reshape(shape)
        return torch.frombuffer(chunk, dtype=dtype).reshape(shape)


def _leaf(tree: dict[str, Any]) -> Data:
    if "complex" in tree:
        real, imaginary = _listed(tree["complex"])
        return complex(float(real), float(imaginary))
    shape = tree["shape"]
    known = None if shape is None else tuple(_shape(shape))
    return Foreign(str(tree["foreign"])[:LONGEST_NAME], known)


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise FrameError("a list was expected")
    return value


def _whole(values: Any) -> list[int]:
    if not all(type(n) is int and 0 <= n < LARGEST_AXIS for n in _listed(values)):
        raise FrameError("sizes are whole numbers from 0 on")
    return list(values)


def _shape(values: Any) -> list[int]:
    shape = _whole(values)
    if len(shape) > MOST_AXES or math.prod(shape) >= 2**48:
        raise FrameError("a tensor has too many axes or elements")
    return shape


# Requests and replies


def request_data(request: Request) -> Data:
    """Write a request as plain data."""
    return {
        "calls": [_call_data(call) for call in request.calls],
        "build": request.build and _call_data(request.build),
        "state": request.state,
        "train": request.train,
        "cotangent": request.cotangent,
        "watch": request.watch,
        "elsewhere": request.elsewhere,
        "room": request.room,
    }


def as_request(data: Data) -> Request:
    """Read a request; what the judge wrote is trusted."""
    return Request(
        calls=tuple(_as_call(call) for call in data["calls"]),
        build=data["build"] and _as_call(data["build"]),
        state=data["state"],
        train=data["train"],
        cotangent=data["cotangent"],
        watch=data["watch"],
        elsewhere=data["elsewhere"],
        room=data["room"],
    )


def _call_data(call: Call) -> Data:
    args = tuple(_argument_data(one) for one in call.args)
    return {"args": args, "kwargs": dict(call.kwargs), "method": call.method}


def _as_call(data: Data) -> Call:
    return Call(tuple(map(_as_argument, data["args"])), data["kwargs"], data["method"])


def _argument_data(argument: Data) -> Data:
    if not isinstance(argument, LENT_KINDS):
        return argument
    (name,) = (name for name, kind in LENT.items() if type(argument) is kind)
    return {name: tuple(dict(p) if isinstance(p, Mapping) else p for p in parts_of(argument))}


def _as_argument(data: Data) -> Data:
    """Only a request holds what is lent: nothing in a reply is ever made into it."""
    only = next(iter(data)) if isinstance(data, dict) and len(data) == 1 else ""
    return LENT[only](*data[only]) if only in LENT else data


def reply_data(reply: Reply) -> Data:
    """Write a reply as plain data."""
    fault = reply.fault
    return {
        "values": reply.values,
        "fault": fault and [str(fault.kind), fault.message, fault.place],
        "changed": reply.changed,
        "printed": reply.printed,
        "used": reply.used,
    }


def as_reply(data: Data) -> Reply:
    """Read a reply that a hostile process may have written. Raises FrameError."""
    if not isinstance(data, dict) or not isinstance(data.get("values"), tuple):
        raise FrameError("a reply has a tuple of values")
    return Reply(
        data["values"],
        _as_fault(data.get("fault")),
        _words(data.get("changed")),
        _text(data.get("printed")),
        _words(data.get("used")),
    )


def _as_fault(data: Data) -> Fault | None:
    if data is None:
        return None
    if not isinstance(data, list) or len(data) != 3 or data[0] not in (*FaultKind,):
        raise FrameError("a fault has a kind, a message and a place")
    return Fault(FaultKind(data[0]), _text(data[1]), _text(data[2]))


def _words(data: Data) -> tuple[str, ...]:
    if not isinstance(data, tuple):
        raise FrameError("a tuple of words was expected")
    return tuple(_text(item)[:LONGEST_NAME] for item in data[:20])


def _text(data: Data) -> str:
    if not isinstance(data, str):
        raise FrameError("text was expected")
    return data[:2000].encode("utf-8", "replace").decode()
