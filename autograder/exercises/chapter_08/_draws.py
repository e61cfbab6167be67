"""Draws that exercises of this chapter share: tensors of any shape, and numbers far from 0."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.inputs import described, normal, sizes

SHAPES = ("L", "B L", "X B L D")
Drawn = tuple[Tensor, str, dict[str, int]]


def drawn(rng: Generator, axes: str = "B L D", std: float = 2.0) -> Drawn:
    """Draw x, and say what it is."""
    of = sizes(rng, axes)
    return normal(rng, axes, of, std=std), described("x", axes, of), of


def small(rng: Generator) -> Drawn:
    """Draw numbers where activations bend: half precision tells their values there apart."""
    return drawn(rng, std=0.7)


def any_shape(rng: Generator) -> Iterator[Drawn]:
    """Draw x of other shapes: a single number, sizes 1 and 0, not contiguous."""
    for axes in SHAPES:
        yield drawn(rng, axes)
    single = normal(rng, "", {})
    yield single, f"x = {single:.3f}, a tensor without axes", {}
    yield normal(rng, "B L", {"B": 1, "L": 1}), "x (1, 1)", {}
    yield normal(rng, "B L", {"B": 3, "L": 0}), "x (3, 0), without a number", {}
    x, words, of = drawn(rng, "B L")
    yield x.mT, f"{words}, transposed", {"B": of["L"], "L": of["B"]}


def of_size(rng: Generator, size: float) -> Drawn:
    """Draw x about as large as size, of both signs."""
    of = sizes(rng, "L")
    signs = 1 - 2 * (torch.arange(of["L"]) % 2)
    x = signs * size * (1 + 0.2 * torch.rand(of["L"], generator=rng))
    return x, f"{described('x', 'L', of)}, entries near {size:g} and {-size:g}", of
