"""Draws that exercises of this chapter share: queries, keys and values, and odd layouts of them."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.inputs import described, normal

AXES = {"q": "B H L K", "k": "B H L K", "v": "B H L W"}
Sizes = dict[str, int]


def drawn_sizes(rng: Generator, **fixed: int) -> Sizes:
    """Draw B, H, K and W from 2 to 6, all different and none equal to one that is fixed."""
    drawn = (torch.randperm(5, generator=rng) + 2).tolist()
    free = [size for size in drawn if size not in fixed.values()]
    return {**dict(zip("BHKW", free, strict=False)), **fixed}


def qkv(rng: Generator, of: Sizes, mean: float = 0.0, std: float = 1.0) -> list[Tensor]:
    """Draw queries, keys and values."""
    return [normal(rng, axes, of, mean=mean, std=std) for axes in AXES.values()]


def words(of: Sizes) -> str:
    """Describe queries, keys and values."""
    return f"{described('q and k', AXES['k'], of)}, W = {of['W']}"


def turned(tensors: list[Tensor]) -> list[Tensor]:
    """Give them the layout of split heads: tokens before heads in memory."""
    return [x.transpose(1, 2).contiguous().transpose(1, 2) for x in tensors]


def layouts(tensors: list[Tensor]) -> Iterator[tuple[str, list[Tensor]]]:
    """Give the same numbers in layouts that are not contiguous."""
    yield "not contiguous", turned(tensors)
    yield "every second row of a larger tensor", [_spread(x) for x in tensors]


def _spread(x: Tensor) -> Tensor:
    return torch.stack([x, x], dim=-2).flatten(-3, -2)[..., ::2, :]
