"""Exercise: sine and cosine of every angle, in neighbouring columns."""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_06 import CHAPTER
from autograder.inputs import described, normal, sizes
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.positions import sinusoidal_encoding


def _trial(angles: Tensor, axes: str, of: dict[str, int]) -> Trial:
    words = described("angles", f"{axes} K".strip(), of)
    all_sizes = {**of, "D": 2 * of["K"]}
    return Trial(call(angles), words, all_sizes, f"{axes} D".strip())


def _drawn(rng: Generator, axes: str = "L", std: float = 2.0, **fixed: int) -> Trial:
    of = sizes(rng, f"{axes} K") | fixed
    return _trial(normal(rng, f"{axes} K", of, std=std), axes, of)


def one_text(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def from_zero(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "L K")
    speeds = 10.0 ** -torch.arange(of["K"])
    yield _trial(torch.outer(torch.arange(of["L"]).float(), speeds), "L", of)


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, "B L")
    yield _drawn(rng, "")
    yield _drawn(rng, "B H L", B=2, H=3, L=4, K=5)


def small(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, K=1)
    yield _drawn(rng, L=1)


def far(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, std=300.0)


def not_in_order(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "L K")
    yield _trial(normal(rng, "K L", of).mT, "L", of)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)


def kept(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


CASES = (
    Case("sine and cosine of each angle, side by side", one_text, values, weight=2),
    Case("position 0 is a row of zeros and ones", from_zero, values),
    Case("works for angles of any shape", other_ranks, values),
    Case("works for one hand and for one position", small, values),
    Case("works for angles of many turns", far, values, tolerance=1e-3),
    Case("works where the angles are not in order in memory", not_in_order, values),
    Case("the dtype of the angles is kept", dtypes, values, tolerance=6e-2),
    Case("the gradient reaches the angles", gradients, values),
    Case("the angles themselves are not changed", kept, inputs_kept),
    Case("works on whatever device the angles are on", devices, values),
)


def halves(angles: Tensor) -> Tensor:
    """Your columns are all sines, then all cosines. Many libraries do that, and it is as good; the
    convention here is the paper's: sine and cosine of one angle are neighbours.
    """
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def cosines_then_sines(angles: Tensor) -> Tensor:
    """Your columns are all cosines, then all sines. Here sine and cosine of one angle are
    neighbours, and the sine comes first.
    """
    return torch.cat([angles.cos(), angles.sin()], dim=-1)


def cosine_first(angles: Tensor) -> Tensor:
    """Sine and cosine have changed places in every pair. The sine comes first."""
    return torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(-2)


def sines_alone(angles: Tensor) -> Tensor:
    """Every column is a sine. The odd ones are cosines: without both, a step is no linear map."""
    return angles.sin().repeat_interleave(2, dim=-1)


def cosines_alone(angles: Tensor) -> Tensor:
    """Every column is a cosine. The even ones are sines."""
    return angles.cos().repeat_interleave(2, dim=-1)


def every_second_angle(angles: Tensor) -> Tensor:
    """Half of the angles get a sine and the other half a cosine, so there are too few columns. Each
    angle gives two.
    """
    return torch.cat([angles[..., ::2].sin(), angles[..., 1::2].cos()], dim=-1)


def alternating(angles: Tensor) -> Tensor:
    """Sine and cosine alternate, but over the angles: half of all sines and cosines are missing.
    Each angle gives two columns.
    """
    even = torch.arange(angles.shape[-1], device=angles.device) % 2 == 0
    return torch.where(even, angles.sin(), angles.cos())


def pairs_apart(angles: Tensor) -> Tensor:
    """The pairs are right, but they have an axis of their own. The result is (..., D)."""
    return torch.stack([angles.sin(), angles.cos()], dim=-1)


def sum_of_both(angles: Tensor) -> Tensor:
    """Sine and cosine are added up. They are two columns."""
    return angles.sin() + angles.cos()


def two_tensors(angles: Tensor) -> tuple[Tensor, Tensor]:
    """You return sines and cosines as two tensors. They belong into the columns of one."""
    return angles.sin(), angles.cos()


def in_degrees(angles: Tensor) -> Tensor:
    """The angles are taken for degrees. They are in radians, which is what `sin` expects."""
    return sinusoidal_encoding(angles * math.pi / 180)


def backwards(angles: Tensor) -> Tensor:
    """All sines have the wrong sign: the hands turn backwards."""
    return sinusoidal_encoding(-angles)


def unit_length(angles: Tensor) -> Tensor:
    """Every row is divided by its length. The paper does not: the length is the root of D / 2."""
    return sinusoidal_encoding(angles) / math.sqrt(angles.shape[-1])


def next_angle(angles: Tensor) -> Tensor:
    """The cosine in each pair belongs to the next angle. A pair shares one."""
    return torch.stack([angles.sin(), angles.roll(-1, dims=-1).cos()], dim=-1).flatten(-2)


def by_slices(angles: Tensor) -> Tensor:
    code = torch.empty(*angles.shape[:-1], 2 * angles.shape[-1]).to(angles)
    code[..., 0::2] = torch.sin(angles)
    code[..., 1::2] = torch.cos(angles)
    return code


def by_reordering(angles: Tensor) -> Tensor:
    """Halves first, then the columns in the order asked for."""
    d = angles.size(-1)
    order = [j // 2 + d * (j % 2) for j in range(2 * d)]
    return torch.cat((angles.sin(), angles.cos()), -1)[..., order]


def as_shifted_sine(angles: Tensor) -> Tensor:
    """A cosine is a sine a quarter of a turn ahead."""
    quarter = torch.tensor([0.0, math.pi / 2], dtype=angles.dtype, device=angles.device)
    return (angles.unsqueeze(-1) + quarter).sin().reshape(*angles.shape[:-1], -1)


def column_by_column(angles: Tensor) -> Tensor:
    columns = [f(angles[..., i]) for i in range(angles.shape[-1]) for f in (torch.sin, torch.cos)]
    return torch.stack(columns, dim=-1)


def by_choice(angles: Tensor) -> Tensor:
    twice = angles.repeat_interleave(2, dim=-1)
    odd = torch.arange(twice.shape[-1], device=angles.device) % 2 == 1
    return torch.where(odd, twice.cos(), twice.sin())


EXERCISE = Exercise(
    solution=sinusoidal_encoding,
    chapter=CHAPTER,
    title="The sinusoidal code",
    points=2,
    minutes=6,
    difficulty=1,
    statement=(
        "The angles of the hands are given. Return the code of each position: for every hand the "
        "sine and the cosine of its angle, in two neighbouring columns."
    ),
    example=(
        "Two hands stand at 0 and at 1. Their sines are 0 and 0.8415, their cosines 1 and 0.5403. "
        "Hand by hand the row is 0, 1, 0.8415, 0.5403. With all sines first it would be 0, 0.8415, "
        "1, 0.5403: that is the other convention."
    ),
    conventions=(
        "Column 2i is the sine of angle i, column 2i + 1 its cosine. There are twice as many "
        "columns as angles.",
        "Angles are in radians and have any number of leading axes. Dtype and device are kept, and "
        "gradients flow back to the angles.",
    ),
    hints=(
        "Make sines and cosines first, each as large as the angles. What is left is a question of "
        "order.",
        "If both are stacked along a new last axis, memory holds sine, cosine, sine, cosine.",
        "Or write into every second column of an empty tensor of the right size and dtype.",
    ),
    cases=CASES,
    mistakes=(
        halves,
        cosines_then_sines,
        cosine_first,
        sines_alone,
        cosines_alone,
        every_second_angle,
        alternating,
        pairs_apart,
        sum_of_both,
        two_tensors,
        in_degrees,
        backwards,
        unit_length,
        next_angle,
        on_the_cpu(sinusoidal_encoding),
        always_float32(sinusoidal_encoding),
        cut_from_autograd(sinusoidal_encoding),
        changed_in_place(sinusoidal_encoding),
    ),
    alternatives=(by_slices, by_reordering, as_shifted_sine, column_by_column, by_choice),
)
