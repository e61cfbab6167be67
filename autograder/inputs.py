"""Seeded inputs: tensors whose axes have letters and sizes that all differ."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import torch
from torch import Tensor

SMALLEST, LARGEST = 2, 9


def generator(*parts: object) -> torch.Generator:
    """Make a generator whose state depends on the given parts alone, not on what ran before."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:6], "big"))


def sizes(rng: torch.Generator, letters: str) -> dict[str, int]:
    """Draw a size of 2 to 9 for each letter of "B L M", no two equal."""
    names = letters.split()
    order = torch.randperm(LARGEST - SMALLEST + 1, generator=rng)[: len(names)] + SMALLEST
    return dict(zip(names, order.tolist(), strict=True))


def normal(
    rng: torch.Generator,
    axes: str,
    of: Mapping[str, int],
    *,
    mean: float = 0.0,
    std: float = 1.0,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Draw independent normal entries for the axes "B L K"."""
    shape = [of[letter] for letter in axes.split()]
    return (mean + std * torch.randn(shape, generator=rng)).to(dtype)


def uniform(rng: torch.Generator, low: float, high: float) -> float:
    """Draw a number between low and high, rounded to two decimals so that it can be retyped."""
    return round(low + (high - low) * float(torch.rand((), generator=rng)), 2)


def integer(rng: torch.Generator, low: int, high: int) -> int:
    """Draw an integer from low to high, both included."""
    return int(torch.randint(low, high + 1, (), generator=rng))


def described(name: str, axes: str, of: Mapping[str, int]) -> str:
    """Write "q (B, L, K) = (2, 3, 5)"."""
    letters = axes.split()
    numbers = ", ".join(str(of[letter]) for letter in letters)
    comma = "," if len(letters) == 1 else ""
    return f"{name} ({', '.join(letters)}{comma}) = ({numbers}{comma})"
