"""Carry out a request on a function or class and give back plain data.

The same code runs the student's answer, the reference and the known mistakes, so that a difference
between their replies is a difference between them.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import linecache
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from autograder.elsewhere import Elsewhere, WrongDeviceError
from autograder.faraway import FarAway, NoRoomError
from autograder.faults import Fault, FaultKind
from autograder.limits import OutOfTime, deadline
from autograder.watched import Watching
from autograder.wire import (
    LENT_KINDS,
    Call,
    Data,
    Foreign,
    Reply,
    Request,
    inputs_of,
    map_request,
    map_tensors,
)
from autograder.workpiece import Workpiece

SECONDS_PER_REQUEST = 5.0
PRINTED_CHARACTERS = 1000
TO_NUMPY = "meta device type tensor to numpy"  # as torch says of any device but the CPU


def perform(
    target: Callable[..., Any], request: Request, seconds: float = SECONDS_PER_REQUEST
) -> Reply:
    """Use `target` as the request says; any failure of its code becomes a Fault."""
    place, request = _carried(request)
    with place:
        calls = tuple(_copied(call) for call in request.calls)
    values: tuple[Data, ...] = ()
    fault = None
    out, watch = _Beginning(), Watching(request.watch)
    try:
        with _quiet(out), _fixed_settings(), place, deadline(seconds), watch:
            values = _values(target, request, calls)
    except (KeyboardInterrupt, GeneratorExit):
        raise  # a person interrupts the check: not the answer's fault
    except BaseException as error:  # whatever student code raises is a fact about the answer
        fault = _told(error, target, seconds)
    return Reply(values, fault, _changed(request.calls, calls), out.getvalue(), watch.used)


class _Beginning(io.StringIO):
    """Keeps the beginning of what is written, however much that is."""

    def write(self, text: str) -> int:
        super().write(text[: max(0, PRINTED_CHARACTERS - self.tell())])
        return len(text)


class _WeightsError(Exception):
    """The object has no place for the weights that it is given."""


class _NoGradientError(Exception):
    """The value does not depend on its inputs as far as autograd can see."""


def _values(
    target: Callable[..., Any], request: Request, calls: tuple[Call, ...]
) -> tuple[Data, ...]:
    subject = target if request.build is None else _built(target, request)
    if request.cotangent is not None:
        return _gradients(subject, calls[0], request.cotangent.clone(), _weights(subject, request))
    return tuple(plain(_invoke(subject, call)) for call in calls)


def _built(target: Callable[..., Any], request: Request) -> Any:
    assert request.build is not None
    build = _copied(request.build)
    subject = target(*_given(build), **build.kwargs)
    if request.state is not None:
        _load(subject, request.state)
    return subject.train(request.train) if isinstance(subject, nn.Module) else subject


def _load(subject: Any, state: Mapping[str, Tensor]) -> None:
    """Copy the given weights in; buffers of the answer's own may stay as they are."""
    if not isinstance(subject, nn.Module):
        raise _WeightsError(f"{type(subject).__name__} is no nn.Module: it takes no weights")
    own = subject.state_dict()
    plain = [name for name in state if name not in own and _is_plain_tensor(subject, name)]
    if plain:
        found = f"{' and '.join(plain)}: found as plain tensor"
        raise _WeightsError(f"{found}, which no module learns: an nn.Parameter is needed")
    extra = [name for name, _ in subject.named_parameters() if name not in state]
    if extra or not state.keys() <= own.keys():
        names, yours = ", ".join(sorted(state)), ", ".join(own) or "none"
        raise _WeightsError(f"the weights are to be called {names}; yours are called {yours}")
    for name, value in state.items():
        shapes = tuple(own[name].shape), tuple(value.shape)
        if shapes[0] != shapes[1]:
            raise _WeightsError(f"{name} has shape {shapes[0]} where {shapes[1]} was expected")
    some = next(iter(state.values()))
    subject.to(device=some.device, dtype=some.dtype)
    copies = {name: value.clone() for name, value in state.items()}
    subject.load_state_dict({**subject.state_dict(), **copies})


def _is_plain_tensor(subject: nn.Module, name: str) -> bool:
    return isinstance(getattr(subject, name, None), Tensor)


def _invoke(subject: Any, call: Call) -> Any:
    use = subject if call.method == "__call__" else getattr(subject, call.method)
    given = _given(call)
    value = use(*given, **call.kwargs)
    pairs = zip(call.args, given, strict=True)
    told = [one.report(made) for one, made in pairs if isinstance(one, Workpiece)]
    return told[0] if told else value


def _given(call: Call) -> list[Any]:
    return [one.function() if isinstance(one, LENT_KINDS) else one for one in call.args]


def _weights(subject: Any, request: Request) -> list[Tensor]:
    """List the weights that were copied in; for one that cannot learn, one that gets nothing."""
    named = subject.named_parameters() if isinstance(subject, nn.Module) else ()
    own = {name: weight for name, weight in named if weight.requires_grad}
    given = (request.state or {}).items()
    return [own.get(name, value.clone().requires_grad_()) for name, value in given]


def _gradients(
    subject: Any, call: Call, cotangent: Tensor, weights: list[Tensor]
) -> tuple[Data, ...]:
    leaves = [*(tensor.requires_grad_() for _, tensor in inputs_of(call)), *weights]
    value = _invoke(subject, call)
    if isinstance(value, (tuple, list)) and value:
        value = value[0]
    if not isinstance(value, Tensor):
        return (plain(value),)
    if not value.requires_grad:
        raise _NoGradientError
    if value.shape != cotangent.shape:
        return (plain(value),)
    grads = torch.autograd.grad((value * cotangent).sum(), leaves, allow_unused=True)
    if all(g is None for g in grads):
        raise _NoGradientError
    return tuple(plain(g) for g in grads)


def plain(value: Any) -> Data:
    """Rebuild a value from plain tensors, numbers, strings, tuples, lists and dicts."""
    if value is None or type(value) in (bool, int, float, complex, str):
        return value
    kinds = type(value).__mro__  # not isinstance, which believes what an object says of itself
    rebuild = next((REBUILD[kind] for kind in kinds if kind in REBUILD), _foreign)
    return rebuild(value)


def _plain_tensor(value: Tensor) -> Data:
    if value.layout != torch.strided or value.is_nested or value.is_quantized:
        return Foreign(f"{str(value.layout).removeprefix('torch.')} tensor")
    with torch._C.DisableTorchFunctionSubclass():
        copy = value.detach().as_subclass(Tensor).clone()
    return copy if type(copy) is Tensor else _foreign(value)


def _plain_numpy(value: Any) -> Data:
    """Numbers, and vectors of them, count as numbers; larger arrays are not tensors."""
    array = np.asarray(value)
    if array.dtype.kind not in "biufc" or array.ndim > 1:
        return _foreign(value)
    numbers = array.tolist()
    return tuple(numbers) if array.ndim else numbers


def _foreign(value: Any) -> Foreign:
    shape = getattr(value, "shape", None)
    return Foreign(type(value).__name__, tuple(shape) if isinstance(shape, tuple) else None)


REBUILD: dict[type, Callable[[Any], Data]] = {
    Tensor: _plain_tensor,
    np.generic: _plain_numpy,
    np.ndarray: _plain_numpy,
    Fraction: float,
    Decimal: float,
    tuple: lambda value: tuple(plain(item) for item in value),
    list: lambda value: [plain(item) for item in value],
    dict: lambda value: {str(name): plain(item) for name, item in value.items()},
}


def _copied(call: Call) -> Call:
    return Call(
        map_tensors(torch.clone, call.args), map_tensors(torch.clone, call.kwargs), call.method
    )


def _changed(before: tuple[Call, ...], after: tuple[Call, ...]) -> tuple[str, ...]:
    names = []
    for old, new in zip(before, after, strict=True):
        pairs = [*enumerate(zip(old.args, new.args, strict=True), start=1)]
        names += [f"argument {i}" for i, (a, b) in pairs if _differs(a, b)]
        names += [name for name, a in old.kwargs.items() if _differs(a, new.kwargs[name])]
    return tuple(dict.fromkeys(names))


def _differs(old: Data, new: Data) -> bool:
    if isinstance(old, list):
        return len(old) != len(new) or any(map(_other, old, new))
    if isinstance(old, tuple):
        return any(map(_differs, old, new))
    if not isinstance(old, Tensor) or old.is_meta:
        return False
    if old.shape != new.shape or old.dtype != new.dtype:
        return True
    same = (old == new) | (old.isnan() & new.isnan())
    return not bool(same.all())


def _other(old: Data, new: Any) -> bool:
    """Whether something else lies in the same place of a list; anybody may have put it there."""
    if type(new) is not type(old):
        return True
    return _differs(old, new) if isinstance(old, (Tensor, tuple, list)) else bool(old != new)


def _carried(request: Request) -> tuple[contextlib.AbstractContextManager[Any], Request]:
    """Carry what is asked to its device, and give the mode that is strict about devices."""
    if request.elsewhere:
        far = FarAway(request.room)
        return far, map_request(far.carry, request)
    arguments = [value for call in request.calls for value in (*call.args, *call.kwargs.values())]
    on_meta = any(isinstance(value, Tensor) and value.is_meta for value in arguments)
    if not on_meta:
        return contextlib.nullcontext(), request
    mode: contextlib.AbstractContextManager[Any] = Elsewhere()  # type: ignore[no-untyped-call]
    return mode, request


@contextlib.contextmanager
def _quiet(out: io.StringIO) -> Iterator[None]:
    """Catch prints and drop warnings: nbgrader takes any text on stderr for a failure."""
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(_Beginning()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _fixed_settings() -> Iterator[None]:
    """Run under one seed, with gradients, and undo what the code sets for the whole process."""
    # Not torch.manual_seed: where CUDA is not set up it stores a stack trace at every call.
    before, dtype = torch.get_rng_state(), torch.get_default_dtype()
    device = _default_device()
    torch.default_generator.manual_seed(0)
    try:
        with torch.enable_grad():
            yield
    finally:
        torch.set_rng_state(before)
        torch.set_default_dtype(dtype)
        if _default_device() != device:
            torch.set_default_device(device)


def _default_device() -> torch.device | None:
    """Give the device that somebody chose; torch's own question tells "cpu" and none alike."""
    chosen = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    return chosen and chosen.device


def _told(error: BaseException, target: Callable[..., Any], seconds: float) -> Fault:
    """Describe an error; its own text is student code, and may fail or never end."""
    try:
        with _quiet(_Beginning()), deadline(1.0):
            return _fault(error, target, seconds)
    except (Exception, OutOfTime):
        return Fault(FaultKind.EXCEPTION, f"{type(error).__name__}, whose message cannot be read")


def _fault(error: BaseException, target: Callable[..., Any], seconds: float) -> Fault:
    kind = _kind(error, target)
    fixed = {
        FaultKind.NOT_WRITTEN: "not written yet",
        FaultKind.NO_GRADIENT: "the result is cut off from its inputs: no gradient flows back",
        FaultKind.TIME: f"still running after {seconds:g} seconds",
        FaultKind.EXITED: "the code asked Python to exit",
    }
    if kind in fixed:
        return Fault(kind, fixed[kind])
    called = _stub_called(error, target) if _is_stub(error, str(error)) else ""
    if called == "_forward_unimplemented":
        return Fault(FaultKind.EXCEPTION, "the class has no method `forward`")
    message = f"it calls `{called}`, which is not written yet" if called else _described(error)
    return Fault(kind, message, _place(error, target))


def _kind(error: BaseException, target: Callable[..., Any]) -> FaultKind:
    text = str(error)
    table = [
        (_is_stub(error, text) and not _stub_called(error, target), FaultKind.NOT_WRITTEN),
        (isinstance(error, _NoGradientError), FaultKind.NO_GRADIENT),
        (isinstance(error, WrongDeviceError), FaultKind.DEVICE),
        (isinstance(error, OutOfTime), FaultKind.TIME),
        (isinstance(error, SystemExit), FaultKind.EXITED),
        (isinstance(error, MemoryError) or "can't allocate memory" in text, FaultKind.MEMORY),
        ("same device" in text or TO_NUMPY in text, FaultKind.DEVICE),
        ("meta" in text.lower(), FaultKind.NEEDS_DATA),
    ]
    return next((kind for holds, kind in table if holds), FaultKind.EXCEPTION)


def _is_stub(error: BaseException, text: str) -> bool:
    """Whether a NotImplementedError is a stub's, not torch's of an operation for some dtype."""
    of_torch = ("not implemented for", "Could not run", "aten::", "meta")
    return isinstance(error, NotImplementedError) and not any(word in text for word in of_torch)


def _described(error: BaseException) -> str:
    if isinstance(error, (_WeightsError, NoRoomError)):
        return str(error)
    if TO_NUMPY in str(error):
        return "numpy reads tensors on the CPU alone: `.cpu()` would bring it there"
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _stub_called(error: BaseException, target: Callable[..., Any]) -> str:
    """Name the function that raised, if it is another one than the answer or its methods."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    raised_by = frames[-1].f_code.co_qualname
    own = str(getattr(target, "__qualname__", raised_by))
    return "" if raised_by == own or raised_by.startswith(f"{own}.") else frames[-1].f_code.co_name


def _place(error: BaseException, target: Callable[..., Any]) -> str:
    """Say which line failed: the deepest one of the notebook or file that the answer is from."""
    own = _globals(target)
    frames = [(f, n) for f, n in traceback.walk_tb(error.__traceback__) if f.f_globals is own]
    if not frames:
        return ""
    frame, number = frames[-1]
    line = linecache.getline(frame.f_code.co_filename, number, frame.f_globals).strip()
    return f", in the line `{line}`" if line else ""


def _globals(target: Any) -> dict[str, Any] | None:
    function = inspect.unwrap(target)
    if not hasattr(function, "__globals__"):
        function = getattr(function, "__init__", None)
    return getattr(function, "__globals__", None)
