"""Scores without ties, and experts chosen at random."""

from collections.abc import Mapping

import torch
from torch import Generator, Tensor


def scores(rng: Generator, axes: str, of: Mapping[str, int]) -> Tensor:
    """Draw scores whose last axis holds no two that are near each other, exact in any dtype."""
    shape = [of[letter] for letter in axes.split()]
    ranks = torch.rand(shape, generator=rng).argsort(-1)
    start = torch.randint(-8, 1, (*shape[:-1], 1), generator=rng)
    step = torch.randint(2, 5, (*shape[:-1], 1), generator=rng)
    return (step * ranks + start) / 4


def levels(rng: Generator, tokens: int) -> Tensor:
    """Draw a constant for each token, such that no two neighbours' are near each other."""
    return ((torch.arange(tokens) + torch.randint(3, (), generator=rng)) % 3 - 1)[:, None] * 1000.0


def choices(rng: Generator, tokens: int, experts: int, k: int) -> Tensor:
    """Draw k different experts for each token, the best first."""
    return torch.rand(tokens, experts, generator=rng).argsort(-1)[:, :k]
