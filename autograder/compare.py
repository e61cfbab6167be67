"""Compare a reply with the expected one and say in one line what is different."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from autograder.faults import FaultKind
from autograder.spec import Trial
from autograder.wire import Data, Foreign, Reply, inputs_of

# Of the largest expected value. Correct float32 answers written differently were seen to differ by
# up to 2e-6; half precisions get four units in their last place.
TOLERANCE = {
    torch.float64: 1e-6,
    torch.float32: 1e-5,
    torch.float16: 4e-3,
    torch.bfloat16: 3e-2,
}
NUMBER_TOLERANCE = 1e-5
EXACT = 1e15  # below it a float still tells whole numbers apart
SMALLEST_GAP = 1e-12  # where all expected values are 0


def values(trial: Trial, reply: Reply, expected: Reply, tolerance: float | None) -> str | None:
    """Examine what came back: None if it is right, else what is wrong in one line."""
    if reply.fault:
        return None if _meta_only(reply, expected) else f"{reply.fault.message}{reply.fault.place}"
    if trial.request.cotangent is not None and not _has_gradients(reply, expected):
        return _came_back(next(iter(reply.values), None), "one tensor was asked")
    for i, (got, want) in enumerate(zip(reply.values, expected.values, strict=False)):
        problem = difference(got, want, tolerance, trial.sizes, trial.returns)
        if problem and not (trial.request.cotangent is not None and _both_none(got, want)):
            return f"{_label(trial, expected, i)}{_cut_off(trial, reply, got) or problem}"
    if len(reply.values) != len(expected.values):
        return f"{len(reply.values)} results where {len(expected.values)} were expected"
    return None


def zeros_kept(trial: Trial, reply: Reply, expected: Reply, tolerance: float | None) -> str | None:
    """Examine what came back; where 0 is expected, nothing but 0 will do."""
    problem = values(trial, reply, expected, tolerance)
    if problem or reply.fault or expected.values[0].is_meta:
        return problem
    got, want = reply.values[0], expected.values[0]
    wrong = int(((want == 0) & (got != 0)).sum())
    return f"{wrong} of {want.numel()} values should be exactly 0 and are not" if wrong else None


def one_by_one(trial: Trial, reply: Reply, expected: Reply, tolerance: float | None) -> str | None:
    """Examine what came back; small values beside large ones are held to their own size."""
    problem = values(trial, reply, expected, tolerance)
    if problem or reply.fault or expected.values[0].is_meta:
        return problem
    got, want = reply.values[0], expected.values[0]
    allowed = _wide(want).abs() * _allowed(want.dtype, tolerance)
    wrong = int(((_wide(got) - _wide(want)).abs() > allowed).sum())
    return f"{wrong} of {want.numel()} values are off, small ones beside large" if wrong else None


def second_half(trial: Trial, reply: Reply, expected: Reply, tolerance: float | None) -> str | None:
    """Examine the second half of axis L, the last but one; in the first anything may stand."""
    half, mine, want = trial.sizes["L"] // 2, next(iter(reply.values), None), expected.values[0]
    if isinstance(mine, Tensor) and mine.shape == want.shape:
        reply = replace(reply, values=(mine[..., half:, :],))
    expected = replace(expected, values=(want[..., half:, :],))
    return values(replace(trial, returns=""), reply, expected, tolerance)


def last_of_several_calls(
    trial: Trial, reply: Reply, expected: Reply, tolerance: float | None
) -> str | None:
    """Examine the last call alone: those before it count by what they leave behind."""
    mine, right = (replace(one, values=one.values[-1:]) for one in (reply, expected))
    return values(trial, mine, right, tolerance)


def inputs_kept(trial: Trial, reply: Reply, expected: Reply, tolerance: float | None) -> str | None:
    """Examine whether the arguments are still what they were before the call."""
    if reply.changed:
        return f"{' and '.join(reply.changed)} had other numbers after the call than before"
    problem = values(trial, reply, expected, tolerance)
    if problem is None or reply.fault:
        return problem
    return f"nothing was changed, but the result is wrong: {problem}"


def whole_number(
    trial: Trial, reply: Reply, expected: Reply, tolerance: float | None
) -> str | None:
    """Examine what came back; 2048.0 or a tensor will not do where an int is asked."""
    got = next(iter(reply.values), None)
    if type(got) is int or reply.fault or got is None:
        return values(trial, reply, expected, tolerance)
    return _came_back(got, "an int was asked")


def worked_on(trial: Trial, reply: Reply, expected: Reply, tolerance: float | None) -> str | None:
    """Examine what is told of a module that was given; first of all, whether it has changed."""
    idle = [told for told in reply.values if isinstance(told, tuple) and told[:1] == (False,)]
    if idle and not reply.fault:
        return f"{named(None)} came back, and the model is as it was"
    return values(trial, reply, expected, tolerance)


def chance_by_seed(
    trial: Trial, reply: Reply, expected: Reply, tolerance: float | None
) -> str | None:
    """Examine three calls: the first two under one seed of torch's, the third under another."""
    problem = worked_on(trial, reply, expected, tolerance)
    if problem or reply.fault:
        return problem
    first, second, third = reply.values
    if first != second:
        return "under the same seed of torch's generator other numbers were drawn"
    return "under another seed the same numbers were drawn" if first == third else None


def first_of_several(
    trial: Trial, reply: Reply, expected: Reply, tolerance: float | None
) -> str | None:
    """Examine the first of several results alone: the others have cases of their own."""
    return _of_several(0, trial, reply, expected, tolerance)


def second_of_several(
    trial: Trial, reply: Reply, expected: Reply, tolerance: float | None
) -> str | None:
    """Examine the second of several results alone."""
    return _of_several(1, trial, reply, expected, tolerance)


def third_of_several(
    trial: Trial, reply: Reply, expected: Reply, tolerance: float | None
) -> str | None:
    """Examine the third of several results alone."""
    return _of_several(2, trial, reply, expected, tolerance)


def _of_several(
    i: int, trial: Trial, reply: Reply, expected: Reply, tolerance: float | None
) -> str | None:
    got, want = next(iter(reply.values), None), expected.values[0]
    assert isinstance(want, (tuple, list))
    if reply.fault or not isinstance(got, (tuple, list)) or len(got) != len(want):
        return values(trial, reply, expected, tolerance)
    mine, right = replace(reply, values=(got[i],)), replace(expected, values=(want[i],))
    return values(replace(trial, returns=""), mine, right, tolerance)


def difference(
    got: Data,
    want: Data,
    tolerance: float | None = None,
    sizes: Mapping[str, int] | None = None,
    returns: str = "",
) -> str | None:
    """Return None if got is want within the tolerance, else one line for the student."""
    if isinstance(want, Tensor):
        return _tensor_difference(got, want, tolerance, sizes or {}, returns)
    if isinstance(want, (tuple, list)):  # a mistake may give back a list
        return _tuple_difference(got, tuple(want), tolerance, sizes or {}, returns)
    if isinstance(want, (int, float)) and not isinstance(want, bool):
        return _number_difference(got, want, tolerance)
    return None if type(got) is type(want) and got == want else f"{named(got)} came back"


def alike(one: Reply, other: Reply, tolerance: float | None) -> bool:
    """Whether two replies cannot be told apart: same fault, or the same values."""
    if one.fault or other.fault:
        return _symptom(one) == _symptom(other)
    if len(one.values) != len(other.values) or one.changed != other.changed:
        return False
    return all(_same(a, b, tolerance) for a, b in zip(one.values, other.values, strict=True))


def named(value: Data) -> str:
    """Name a value for a message: what it is, not what it holds."""
    if value is None:
        return "nothing (None)"
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, Foreign):
        return f"a {value.type_name}"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"


def _same(got: Data, want: Data, tolerance: float | None) -> bool:
    """Whether there is no difference, without the words for one: most mistakes are unlike."""
    if isinstance(got, Tensor) and isinstance(want, Tensor) and not want.is_meta:
        kinds = ((one.shape, one.dtype, one.device) for one in (got, want))
        return next(kinds) == next(kinds) and _near(got, want, tolerance)
    if isinstance(got, tuple) and isinstance(want, tuple) and len(got) == len(want):
        return all(_same(a, b, tolerance) for a, b in zip(got, want, strict=True))
    return difference(got, want, tolerance) is None


def _symptom(reply: Reply) -> tuple[str, str] | None:
    """What went wrong, with its sizes, but not where: answers have their own lines."""
    return (str(reply.fault.kind), reply.fault.message) if reply.fault else None


def _meta_only(reply: Reply, expected: Reply) -> bool:
    """Whether the answer read numbers of a tensor that has none: nothing is shown either way."""
    on_meta = any(_is_meta(value) for value in expected.values)
    return on_meta and reply.fault is not None and reply.fault.kind == FaultKind.NEEDS_DATA


def _is_meta(value: Data) -> bool:
    if isinstance(value, tuple):
        return any(map(_is_meta, value))
    return isinstance(value, Tensor) and value.is_meta


def _label(trial: Trial, expected: Reply, i: int) -> str:
    if trial.request.cotangent is not None:
        names = [name for name, _ in inputs_of(trial.request.calls[0])]
        names += trial.request.state or ()
        return f"gradient for {names[i]}: " if i < len(names) else ""
    return f"call {i + 1}: " if len(expected.values) > 1 else ""


def _both_none(got: Data, want: Data) -> bool:
    """Whether neither has a gradient: zeros say the same as nothing at all."""
    return all(g is None or _is_zero(g) for g in (got, want))


def _is_zero(gradient: Data) -> bool:
    return isinstance(gradient, Tensor) and not gradient.is_meta and not gradient.count_nonzero()


def _has_gradients(reply: Reply, expected: Reply) -> bool:
    """Whether there are gradients, or a tensor that has none, and not what was returned instead."""
    alike = len(reply.values) == len(expected.values)
    return alike or isinstance(next(iter(reply.values), None), Tensor)


def _cut_off(trial: Trial, reply: Reply, got: Data) -> str:
    """Name a gradient that does not arrive, though those of other arguments do."""
    missing = trial.request.cotangent is not None and got is None and len(reply.values) > 1
    return "no gradient arrives" if missing else ""


def _tensor_difference(
    got: Data, want: Tensor, tolerance: float | None, sizes: Mapping[str, int], returns: str
) -> str | None:
    if not isinstance(got, Tensor):
        return _came_back(got, "one tensor was asked")
    if got.shape != want.shape:
        return f"shape {_lettered(got, sizes)} where {_lettered(want, sizes, returns)} was expected"
    if got.dtype != want.dtype:
        return f"dtype {_dtype(got)} where {_dtype(want)} was expected"
    if got.device != want.device:
        return f"the result is on {got.device.type}, but the inputs are on another device"
    return None if want.is_meta else _entry_difference(got, want, tolerance)


def _entry_difference(got: Tensor, want: Tensor, tolerance: float | None) -> str | None:
    if _near(got, want, tolerance):
        return None
    kinds = {"NaN": got.isnan() & ~want.isnan(), "infinite": got.isinf() & ~want.isinf()}
    for name, strange in kinds.items():
        if bool(strange.any()):
            but = " where a number was expected" if bool((~want.isfinite()).any()) else ""
            return f"{int(strange.sum())} of {got.numel()} values are {name}{but}"
    same, gap = _same_entries(got, want, tolerance)
    if want.dtype == torch.bool:
        first = [int(i) for i in (~same).nonzero()[0]]
        return f"{int((~same).sum())} of {got.numel()} differ, the first at {first}"
    gap = gap.masked_fill(same, -1.0)
    where = [int(i) for i in torch.unravel_index(gap.argmax(), gap.shape)] if gap.ndim else []
    place = f", most at {where}" if where else ""
    return f"{int((~same).sum())} of {got.numel()} values differ{place}, by {float(gap.max()):.2g}"


def _near(got: Tensor, want: Tensor, tolerance: float | None) -> bool:
    """Whether all entries are the same within the tolerance: quickly where all are finite."""
    if torch.equal(got, want):
        return True
    if want.is_floating_point():
        largest, gap = float(want.abs().max()), float((got - want).abs().max())
        if math.isfinite(largest) and math.isfinite(gap):
            return gap <= _scale(largest, want.dtype, tolerance)
    return bool(_same_entries(got, want, tolerance)[0].all())


def _same_entries(got: Tensor, want: Tensor, tolerance: float | None) -> tuple[Tensor, Tensor]:
    """Return which entries are the same, and by how much each differs."""
    gap = (_wide(got) - _wide(want)).abs()
    scale = _scale(_largest(want), want.dtype, tolerance)
    return (gap <= scale) | (got == want) | (got.isnan() & want.isnan()), gap


def _scale(largest: float, dtype: torch.dtype, tolerance: float | None) -> float:
    return max(largest * _allowed(dtype, tolerance), SMALLEST_GAP)


def _allowed(dtype: torch.dtype, tolerance: float | None) -> float:
    """A case's own tolerance is for the coarser dtypes; float64 has no need of it."""
    usual = TOLERANCE.get(dtype, 0.0)
    return usual if dtype == torch.float64 else tolerance or usual


def _wide(values: Tensor) -> Tensor:
    return values.to(torch.float64) if not values.is_complex() else values


def _largest(want: Tensor) -> float:
    finite = _wide(want[want.isfinite()])
    return float(finite.abs().max()) if finite.numel() else 0.0


def _tuple_difference(
    got: Data,
    want: tuple[Any, ...],
    tolerance: float | None,
    sizes: Mapping[str, int],
    returns: str,
) -> str | None:
    numbers = all(isinstance(item, (int, float)) for item in want)
    if numbers and isinstance(got, Tensor) and got.shape == (len(want),) and not got.is_meta:
        got = got.tolist()
    if not isinstance(got, (tuple, list)) or len(got) != len(want):
        parts = f" ({returns})" if returns else ""
        return _came_back(
            got, f"{len(want)} {'numbers' if numbers else 'things'}{parts} were asked"
        )
    names = [f"{name.strip()}: " for name in returns.split(",") if name]
    names = names if len(names) == len(want) else [""] * len(want)
    problems = [difference(a, b, tolerance, sizes) for a, b in zip(got, want, strict=True)]
    if numbers and not any(names):
        return _first_of(problems)
    return "; ".join(n + p for n, p in zip(names, problems, strict=True) if p) or None


def _first_of(problems: list[str | None]) -> str | None:
    """Tell of a row of numbers which is the first that is wrong, and how many more there are."""
    wrong = [(i, problem) for i, problem in enumerate(problems, start=1) if problem]
    if not wrong:
        return None
    place, problem = wrong[0]
    more = f"; {len(wrong) - 1} more of {len(problems)} are wrong" if len(wrong) > 1 else ""
    return f"number {place}: {problem}{more}"


def _number_difference(got: Data, want: float, tolerance: float | None) -> str | None:
    if isinstance(got, Tensor) and got.numel() == 1 and not got.is_meta:
        got = got.item()
    if isinstance(got, bool) or not isinstance(got, (int, float)):
        return _came_back(got, "a number was asked")
    if got == want:
        return None
    try:
        value = float(got)
    except OverflowError:
        return f"yours has {int(got).bit_length()} binary digits"
    if math.isnan(value) and math.isnan(want):
        return None
    allowed = 0.0 if isinstance(want, int) else abs(want) * (tolerance or NUMBER_TOLERANCE) + 1e-9
    near = math.isfinite(value) and abs(got - want) <= allowed
    return None if near else f"yours is {_shown(got, want)}"


def _shown(got: float, want: float) -> str:
    """Write a number; where a whole number is asked for, with all of its digits."""
    whole = isinstance(want, int) and abs(got) < EXACT and got == int(got)
    return f"{int(got):,}" if whole else f"{float(got):.6g}"


def _came_back(got: Data, asked: str) -> str:
    if got is None:
        return f"{named(got)} came back: is a `return` missing?"
    return f"{named(got)} came back where {asked}"


def _lettered(tensor: Tensor, sizes: Mapping[str, int], returns: str = "") -> str:
    """Write "(B, L, M) = (2, 3, 5)", naming each axis by the letter that has its size."""
    numbers = tuple(tensor.shape)
    letters = returns.split() if returns else _letters_of(numbers, sizes)
    known = len(letters) == len(numbers) and any(letter in sizes for letter in letters)
    return f"({', '.join(letters)}) = {numbers}" if known else f"{numbers}"


def _letters_of(shape: tuple[int, ...], sizes: Mapping[str, int]) -> list[str]:
    """Name each axis by the letter that has its size, or none if that would be a guess."""
    by_size = {size: letter for letter, size in sizes.items()}
    letters = [by_size[n] for n in shape if n in by_size and n > 1]
    sure = len(by_size) == len(sizes) and len({*letters}) == len(letters) == len(shape)
    return letters if sure else []


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
