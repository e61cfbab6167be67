"""Exercise: one half of a fused projection gates the other.

Out of scope: the projections themselves (the last exercise), widths that are odd.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values, zeros_kept
from autograder.exercises.chapter_08 import CHAPTER
from autograder.inputs import described, normal, sizes
from autograder.lent import TorchFunction
from autograder.slips import (
    always_float32,
    changed_in_place,
    cut_from_autograd,
    float64_narrowed,
    on_the_cpu,
)
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.feedforward import glu

Activation = Callable[[Tensor], Tensor]
Sizes = dict[str, int]


def _sizes(rng: Generator, tokens: str) -> Sizes:
    """Draw sizes of which 2F is none other."""
    of = sizes(rng, f"{tokens} F".strip())
    half = of["F"] + 8
    return of | {"F": half, "2F": 2 * half}


def _of(fused: Tensor, of: Sizes, tokens: str, name: str) -> Trial:
    words = f"{described('fused', f'{tokens} 2F'.strip(), of)}, activation {name}"
    return Trial(call(fused, TorchFunction(name)), words, of, f"{tokens} F".strip())


def _drawn(rng: Generator, tokens: str = "B L", name: str = "silu") -> Trial:
    of = _sizes(rng, tokens)
    return _of(normal(rng, f"{tokens} 2F".strip(), of), of, tokens, name)


def ordinary(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def activations(rng: Generator) -> Iterator[Trial]:
    for name in ("relu", "sigmoid", "gelu", "tanh"):
        yield _drawn(rng, name=name)


def closed_gates(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, "L")
    fused = normal(rng, "L 2F", of)
    fused[:, : of["F"]] -= 1.0
    yield _of(fused, of, "L", "relu")


def ranks(rng: Generator) -> Iterator[Trial]:
    for tokens in ("", "L", "X B L"):
        yield _drawn(rng, tokens)
    of = _sizes(rng, "B L")
    turned = normal(rng, "L B 2F", of).transpose(0, 1)
    trial = _of(turned, of, "B L", "silu")
    yield Trial(trial.request, f"{trial.inputs}, not contiguous", of, trial.returns)


def large(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, "B L")
    fused = normal(rng, "B L 2F", of)
    for size, dtype in ((1e3, torch.float32), (1e50, torch.float64)):
        trial = _of(size * fused.to(dtype), of, "B L", "silu")
        yield Trial(trial.request, f"{trial.inputs}, near {size:g}", of, trial.returns)


def special_sizes(rng: Generator) -> Iterator[Trial]:
    for of in (
        {"B": 3, "L": 4, "F": 1, "2F": 2},
        {"B": 1, "L": 1, "F": 3, "2F": 6},
        {"B": 4, "L": 4, "F": 2, "2F": 4},
    ):
        yield _of(normal(rng, "B L 2F", of), of, "B L", "silu")
    single = {"F": 1, "2F": 2}
    yield _of(normal(rng, "2F", single), single, "", "silu")
    of = _sizes(rng, "L")
    yield _of(normal(rng, "2F L", of).mT, of, "L", "silu")  # not contiguous


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng))


def kept(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng, name="relu")


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


CASES = (
    Case("the first half, activated, gates the second", ordinary, values, weight=3),
    Case("any activation may be given", activations, values, weight=2),
    Case("where the gate is closed, nothing passes", closed_gates, zeros_kept),
    Case("works for one token and for batches of batches", ranks, values),
    Case("large numbers stay as they are", large, values),
    Case("works where sizes are equal, or 1", special_sizes, values),
    Case("the gradient reaches both halves", gradients, values),
    Case("the dtype is kept", dtypes, values, tolerance=6e-2),
    Case("the input itself is not changed", kept, inputs_kept),
    Case("works on whatever device the input is on", devices, values),
)


def value_first(fused: Tensor, activation: Activation) -> Tensor:
    """The second half is taken for the gate. That is the order of `torch.nn.functional.glu`; here
    the gate comes first.
    """
    value, gate = fused.chunk(2, dim=-1)
    return activation(gate) * value


def interleaved(fused: Tensor, activation: Activation) -> Tensor:
    """Gate and value are taken in turn, from even and odd entries, as gpt-oss keeps them. Here they
    are two halves.
    """
    return activation(fused[..., ::2]) * fused[..., 1::2]


def first_axis(fused: Tensor, activation: Activation) -> Tensor:
    """The cut is along the first axis, which holds examples or tokens. Cut the features, the last
    axis.
    """
    gate, value = fused.chunk(2)
    return activation(gate) * value


def second_axis(fused: Tensor, activation: Activation) -> Tensor:
    """The cut is along axis 1. That is the last one for two axes only: count from the end."""
    gate, value = fused.chunk(2, dim=1)
    return activation(gate) * value


def third_axis(fused: Tensor, activation: Activation) -> Tensor:
    """The cut is along axis 2, which is the last one of three axes only. Count from the end."""
    gate, value = fused.chunk(2, dim=2)
    return activation(gate) * value


def not_activated(fused: Tensor, activation: Activation) -> Tensor:
    """The activation is not used: this is the bilinear layer."""
    return glu(fused, lambda gate: gate)


def sigmoid_always(fused: Tensor, activation: Activation) -> Tensor:
    """The gate always goes through a sigmoid, as in the first GLU. Use the activation given."""
    return glu(fused, torch.sigmoid)


def swish_always(fused: Tensor, activation: Activation) -> Tensor:
    """The gate always goes through Swish. Use the activation that is given."""
    return glu(fused, F.silu)


def both_activated(fused: Tensor, activation: Activation) -> Tensor:
    """Both halves go through the activation. The value stays as it is, so that it can have any
    sign.
    """
    return glu(activation(fused), lambda gate: gate)


def product_activated(fused: Tensor, activation: Activation) -> Tensor:
    """The activation comes after the product. It belongs on the gate, before."""
    return activation(glu(fused, lambda gate: gate))


def summed(fused: Tensor, activation: Activation) -> Tensor:
    """Gate and value are added. A gate multiplies."""
    gate, value = fused.chunk(2, dim=-1)
    return activation(gate) + value


def value_unused(fused: Tensor, activation: Activation) -> Tensor:
    """You return the activated gate. The second half, the value, is not used."""
    return activation(fused.chunk(2, dim=-1)[0])


def one_added(fused: Tensor, activation: Activation) -> Tensor:
    """1 is added to the value, as in gpt-oss. Here it is multiplied as it is."""
    gate, value = fused.chunk(2, dim=-1)
    return activation(gate) * (value + 1)


def one_minus(fused: Tensor, activation: Activation) -> Tensor:
    """The gate also lets in what is left of the other half, as in a highway or a GRU: g v +
    (1 - g) u. Here it only multiplies the value.
    """
    gate, value = fused.chunk(2, dim=-1)
    opened = activation(gate)
    return opened * value + (1 - opened) * gate


def clamped(fused: Tensor, activation: Activation) -> Tensor:
    """Gate and value are cut off at 7, as in gpt-oss. Here they are used as they are."""
    gate, value = fused.chunk(2, dim=-1)
    return activation(gate.clamp(max=7)) * value.clamp(-7, 7)


def in_pairs(fused: Tensor, activation: Activation) -> tuple[Tensor, Tensor]:
    """You return two tensors. Their product was asked."""
    gate, value = fused.chunk(2, dim=-1)
    return activation(gate), value


def gate_detached(fused: Tensor, activation: Activation) -> Tensor:
    """The gate is cut off from autograd: it would never learn when to open."""
    gate, value = fused.chunk(2, dim=-1)
    return activation(gate.detach()) * value


def by_slices(fused: Tensor, activation: Activation) -> Tensor:
    half = fused.shape[-1] // 2
    return fused[..., half:] * activation(fused[..., :half])


def by_reshape(fused: Tensor, activation: Activation) -> Tensor:
    pair = fused.reshape(*fused.shape[:-1], 2, -1)
    return torch.mul(activation(pair[..., 0, :]), pair[..., 1, :])


def by_split(fused: Tensor, activation: Activation) -> Tensor:
    width = int(fused.size(-1) / 2)
    gate, value = torch.split(fused, [width, width], dim=-1)
    return torch.einsum("...f,...f->...f", activation(gate), value)


def by_unflatten(fused: Tensor, activation: Activation) -> Tensor:
    gate, value = torch.unflatten(fused, -1, (2, -1)).unbind(-2)
    return value * activation(gate)


def one_by_one(fused: Tensor, activation: Activation) -> Tensor:
    width = fused.shape[-1] // 2
    products = [activation(fused[..., i]) * fused[..., i + width] for i in range(width)]
    return torch.stack(products, dim=-1)


EXERCISE = Exercise(
    solution=glu,
    chapter=CHAPTER,
    title="A gate for every value",
    points=3,
    minutes=7,
    difficulty=2,
    statement=(
        "A token's projections to gate and value lie side by side in one tensor, as many models "
        "compute them. Cut it in two and let the activated gate multiply the value, entry by "
        "entry. The activation is an argument; torch's own GLU is not allowed."
    ),
    example=(
        "(2, -1, 10, 20) has the gate (2, -1) and the value (10, 20). ReLU makes the gate (2, 0), "
        "and the result is (2 x 10, 0 x 20) = (20, 0)."
    ),
    conventions=(
        "The gate is the first half of the last axis, the value the second. With the order of "
        "`torch.nn.functional.glu`, value first, the example would give (20, -20).",
        "The gate alone is activated. Nothing is cut off, however large: the result is computed in "
        "the dtype that comes in.",
        "Any number of axes before the last, which has an even size; half of it is left.",
    ),
    hints=(
        "`chunk`, `split` or two slices cut an axis. Which axis holds the features, however many "
        "there are?",
        "Which of the two pieces goes through the activation?",
    ),
    cases=CASES,
    mistakes=(
        value_first,
        interleaved,
        first_axis,
        second_axis,
        third_axis,
        not_activated,
        sigmoid_always,
        swish_always,
        both_activated,
        product_activated,
        summed,
        value_unused,
        one_added,
        one_minus,
        clamped,
        in_pairs,
        gate_detached,
        on_the_cpu(glu),
        always_float32(glu),
        float64_narrowed(glu),
        cut_from_autograd(glu),
        changed_in_place(glu),
    ),
    alternatives=(by_slices, by_reshape, by_split, by_unflatten, one_by_one),
    forbidden=("torch.nn.functional.glu", "torch.nn.GLU", "torch._C._nn.glu"),
)
