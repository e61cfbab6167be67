"""Exercise: gradients of limited length.

Out of scope: infinite gradients, numbers whose squares overflow float32.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_12 import CHAPTER
from autograder.inputs import described, normal, sizes, uniform
from autograder.slips import (
    always_float32,
    changed_in_place,
    float64_narrowed,
    on_the_cpu,
)
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere, in_dtypes
from autograder.wire import Request, call
from solutions.optimiser import clip_gradients

Clipped = tuple[list[Tensor], Tensor]
SHAPES = ("D F", "D", "", "B D F")
RETURNS = "gradients, length"


def _trial(
    rng: Generator, limit: float | None, share: float = 0.4, shapes: Sequence[str] = SHAPES
) -> Trial:
    """Draw gradients; without a limit, it is a share of their length."""
    of = sizes(rng, "B D F")
    drawn = [(i + 1) * normal(rng, axes, of) for i, axes in enumerate(shapes)]
    gradients = tuple(g if g.ndim else g + g.sign() for g in drawn)  # one number is not tiny
    if limit is None:
        limit = round(share * _length(gradients), 3)
    words = ", ".join(described(f"g{i}", axes, of) for i, axes in enumerate(shapes))
    return Trial(call(gradients, limit), f"{words}, limit = {limit}", of, RETURNS)


def _length(gradients: Sequence[Tensor]) -> float:
    return math.sqrt(sum(float(g.double().square().sum()) for g in gradients))


def too_long(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, None)
    yield _trial(rng, uniform(rng, 0.5, 2.0))


def short_enough(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, None, 3.0)
    yield _trial(rng, None, 1.05)
    yield _short(rng, 0.6, 0.7)


def slightly_too_long(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, None, 0.9)
    yield _trial(rng, None, 0.995)
    yield _short(rng, 0.6, 0.5)


def _short(rng: Generator, length: float, limit: float) -> Trial:
    """Give gradients of a length below 1, whose square is smaller than it."""
    trial = _trial(rng, limit)
    gradients, _ = trial.request.calls[0].args
    scale = length / _length(gradients)
    request = call(tuple(scale * g for g in gradients), limit)
    return replace(trial, request=request, inputs=f"{trial.inputs}, length = {length}")


def single(rng: Generator) -> Iterator[Trial]:
    for shapes in (("D F",), ("",), ("D", "F")):
        yield _trial(rng, None, shapes=shapes)


def all_zero(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng, 1.0)
    gradients, limit = trial.request.calls[0].args
    zeros = tuple(map(torch.zeros_like, gradients))
    yield replace(trial, request=call(zeros, limit), inputs=f"{trial.inputs}, all 0")


def other_sizes(rng: Generator) -> Iterator[Trial]:
    for scale in (1e-4, 1e4):
        trial = _trial(rng, None)
        gradients, limit = trial.request.calls[0].args
        request = call(tuple(scale * g for g in gradients), scale * limit)
        yield replace(trial, request=request, inputs=f"{trial.inputs}, times {scale:g}")


def half_precision(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng, 2.0)
    gradients, limit = trial.request.calls[0].args
    large = replace(trial, request=call(tuple(300 * g for g in gradients), limit))
    yield from in_dtypes(large, (torch.float16, torch.bfloat16))
    many = (torch.full((300, 40), 0.02), torch.full((7,), 0.3))
    words = "g0 (300, 40) of 0.02, g1 (7,) of 0.3, limit = 1.0"
    yield from in_dtypes(Trial(call(many, 1.0), words), (torch.bfloat16, torch.float16))


def precision(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng, None), (torch.float64,))
    trial = _trial(rng, None)
    gradients, limit = trial.request.calls[0].args
    large = call(tuple(1e40 * g.double() for g in gradients), 1e40 * limit)
    yield replace(trial, request=large, inputs=f"{trial.inputs}, float64, times 1e40")


def not_contiguous(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng, None, shapes=("D F", "F B"))
    gradients, limit = trial.request.calls[0].args
    request = call(tuple(g.T.contiguous().T for g in gradients), limit)
    yield replace(trial, request=request, inputs=f"{trial.inputs}, not contiguous")


def several_calls(rng: Generator) -> Iterator[Trial]:
    one, other = _trial(rng, None), _trial(rng, None, shapes=("F", "B D"))
    calls = (*one.request.calls, *other.request.calls, *one.request.calls)
    words = f"{one.inputs}; then {other.inputs}; then the first"
    yield replace(one, request=Request(calls), inputs=words)


def kept(rng: Generator) -> Iterator[Trial]:
    yield from too_long(rng)
    yield from short_enough(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, None))


CASES = (
    Case("what is too long is shortened to the limit", too_long, values, weight=2),
    Case("what is short enough stays as it is", short_enough, values, weight=2),
    Case("works just above the limit", slightly_too_long, values),
    Case("works for one tensor, and for single numbers", single, values),
    Case("gradients of 0 stay 0", all_zero, values),
    Case("works for tiny and huge gradients", other_sizes, values, tolerance=2e-3),
    Case("half precision is squared and summed in float32", half_precision, values, tolerance=8e-3),
    Case("float64 keeps its digits", precision, values),
    Case("works for tensors that are not contiguous", not_contiguous, values),
    Case("the second call does not depend on the first", several_calls, values),
    Case("nothing that was given is changed", kept, inputs_kept),
    Case("works on whatever device the gradients are on", devices, values),
)


def _whole(gradients: Sequence[Tensor]) -> Tensor:
    wide = torch.promote_types(gradients[0].dtype, torch.float32)
    return torch.cat([g.to(wide).flatten() for g in gradients])


def _scaled(gradients: Sequence[Tensor], factor: Tensor | float) -> list[Tensor]:
    return [(g * factor).to(g.dtype) for g in gradients]


def one_by_one(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """Each tensor is clipped by itself, and the direction changes: all of them are one long
    vector.
    """
    clipped = [clip_gradients([g], limit)[0][0] for g in gradients]
    return clipped, _whole(gradients).norm()


def entry_by_entry(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """Each number is clipped by itself. The long vector is shortened as a whole, and keeps its
    direction.
    """
    return [g.clamp(-limit, limit) for g in gradients], _whole(gradients).norm()


def always_scaled(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """Short gradients are made longer: they are always scaled to the limit. Leave them alone."""
    length = _whole(gradients).norm()
    return _scaled(gradients, limit / length.clamp(min=1e-30)), length


def never_scaled(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """The length is measured, and nothing is shortened."""
    return [g.clone() for g in gradients], _whole(gradients).norm()


def wrong_condition(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """Short gradients are scaled, long ones are not: the comparison is the wrong way round."""
    length = _whole(gradients).norm()
    return _scaled(gradients, (limit / length.clamp(min=1e-30)).clamp(min=1)), length


def square_compared(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """The square of the length is compared with the limit. Compare the length."""
    square = _whole(gradients).square().sum()
    length = square.sqrt()
    return _scaled(gradients, limit / length if square > limit else 1.0), length


def by_the_largest(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """The length is the largest entry. Here it is Euclid's: the root of the sum of the squares."""
    length = _whole(gradients).abs().max()
    return _scaled(gradients, limit / length.clamp(min=limit)), length


def by_the_sum(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """The length is the sum of the sizes. Here it is Euclid's: the root of the sum of the
    squares.
    """
    length = _whole(gradients).abs().sum()
    return _scaled(gradients, limit / length.clamp(min=limit)), length


def no_root(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """The root is missing: this is the square of the length."""
    length = _whole(gradients).square().sum()
    return _scaled(gradients, limit / length.clamp(min=limit)), length


def root_of_the_mean(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """This is the root of the *mean* square, which does not grow with the number of weights. The
    length is that of the sum.
    """
    length = _whole(gradients).square().mean().sqrt()
    return _scaled(gradients, limit / length.clamp(min=limit)), length


def sum_of_lengths(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """You add up the lengths of the tensors. Add the squares, and take the root of all of it."""
    length = torch.stack([_whole([g]).norm() for g in gradients]).sum()
    return _scaled(gradients, limit / length.clamp(min=limit)), length


def mean_of_lengths(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """You take the mean of the lengths of the tensors. All of them are one long vector."""
    length = torch.stack([_whole([g]).norm() for g in gradients]).mean()
    return _scaled(gradients, limit / length.clamp(min=limit)), length


def first_tensor(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """The length is that of the first tensor alone."""
    length = _whole(gradients[:1]).norm()
    return _scaled(gradients, limit / length.clamp(min=limit)), length


def last_one_forgotten(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """The last tensor is not shortened."""
    clipped, length = clip_gradients(gradients, limit)
    return [*clipped[:-1], gradients[-1].clone()], length


def length_afterwards(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """The length is measured after the gradients were shortened. Asked is the one before: a curve
    of it shows when training becomes restless.
    """
    clipped, _ = clip_gradients(gradients, limit)
    return clipped, _whole(clipped).norm()


def unit_length(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """What is too long gets the length 1, whatever the limit is."""
    length = _whole(gradients).norm()
    return _scaled(gradients, 1 / length if length > limit else 1.0), length


def limit_squared(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """The factor is squared: what is too long becomes shorter than the limit."""
    length = _whole(gradients).norm()
    return _scaled(gradients, (limit / length.clamp(min=limit)) ** 2), length


def divided_by_zero(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """Where all gradients are 0 you divide 0 by 0."""
    length = _whole(gradients).norm()
    unit = _scaled(gradients, 1 / length)
    return _scaled(unit, length.clamp(max=limit)), length


def in_half(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """Squares are taken in half precision, where the square of 300 is infinite. Go to float32
    before.
    """
    length = torch.stack([g.square().sum() for g in gradients]).sum().sqrt().to(_whole(gradients))
    return _scaled(gradients, limit / length.clamp(min=limit)), length


def dropped_when_long(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """What is too long is set to 0, and nothing is learned. Shorten it."""
    length = _whole(gradients).norm()
    return _scaled(gradients, (length <= limit).to(length)), length


def only_gradients(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    """The length is not returned. Asked are the gradients and their length before."""
    return clip_gradients(gradients, limit)[0]


def as_one_vector(gradients: Sequence[Tensor], limit: float) -> tuple[Tensor, Tensor]:
    """The gradients come back as one long vector. Each tensor keeps its shape."""
    clipped, length = clip_gradients(gradients, limit)
    return torch.cat([g.flatten() for g in clipped]), length


def with_norms(gradients: Sequence[Tensor], limit: float) -> Clipped:
    wide = torch.promote_types(gradients[0].dtype, torch.float32)
    parts = [torch.linalg.vector_norm(g, dtype=wide) for g in gradients]
    length = torch.linalg.vector_norm(torch.stack(parts))
    factor = torch.clamp(limit / (length + 1e-12), max=1.0)
    return [torch.mul(g, factor).to(g.dtype) for g in gradients], length


def by_torch(gradients: Sequence[Tensor], limit: float) -> Clipped:
    """Torch's own function, on copies."""
    wide = torch.promote_types(gradients[0].dtype, torch.float32)
    copies = [torch.nn.Parameter(torch.zeros_like(g, dtype=wide)) for g in gradients]
    for copy, g in zip(copies, gradients, strict=True):
        copy.grad = g.to(wide, copy=True)
    length = torch.nn.utils.clip_grad_norm_(copies, limit)
    made = [copy.grad for copy in copies]
    return [m.to(g.dtype) for m, g in zip(made, gradients, strict=True) if m is not None], length


def with_a_loop(gradients: Sequence[Tensor], limit: float) -> Clipped:
    wide = torch.float64 if gradients[0].dtype == torch.float64 else torch.float32
    total = torch.zeros((), dtype=wide, device=gradients[0].device)
    for g in gradients:
        total = total + g.to(wide).pow(2).sum()
    length = total**0.5
    if length <= limit:
        return [g.clone() for g in gradients], length
    return [(g.to(wide) / length * limit).to(g.dtype) for g in gradients], length


EXERCISE = Exercise(
    solution=clip_gradients,
    chapter=CHAPTER,
    title="Gradients of limited length",
    points=2,
    minutes=8,
    difficulty=2,
    statement=(
        "Take all gradients of a model as one long vector. If it is longer than the limit, shorten "
        "it to the limit and keep its direction. Return its length as it was, too: you will want "
        "to see it."
    ),
    example=(
        "Two tensors, (3) and (0, 4). All together the length is the root of 9 + 16, which is 5. "
        "With the limit 1 all of it is multiplied by 1/5: (0.6) and (0, 0.8). With the limit 10 "
        "nothing changes."
    ),
    conventions=(
        "One length and one factor for all tensors.",
        "What is short enough stays as it is, and so do gradients of 0.",
        "Squares and sums are in float32 at least, and so is the length. Each gradient keeps its "
        "dtype.",
        "The given tensors are not changed.",
        "Limits in the checks, and lengths other than 0, are between 0.001 and a million, in "
        "float64 up to 1e42. "
        "torch's `clip_grad_norm_` works in place and adds 1e-6 to the length before it divides; "
        "in this range the tolerance has room for that.",
    ),
    hints=(
        "The square of the length is a sum over all tensors.",
        "The factor is never more than 1: it is the limit, divided by the larger of two numbers.",
    ),
    cases=CASES,
    mistakes=(
        one_by_one,
        entry_by_entry,
        always_scaled,
        never_scaled,
        wrong_condition,
        square_compared,
        by_the_largest,
        by_the_sum,
        no_root,
        root_of_the_mean,
        sum_of_lengths,
        mean_of_lengths,
        first_tensor,
        last_one_forgotten,
        length_afterwards,
        unit_length,
        limit_squared,
        divided_by_zero,
        in_half,
        dropped_when_long,
        only_gradients,
        as_one_vector,
        on_the_cpu(clip_gradients),
        always_float32(clip_gradients),
        float64_narrowed(clip_gradients),
        changed_in_place(clip_gradients),
    ),
    alternatives=(with_norms, by_torch, with_a_loop),
)
