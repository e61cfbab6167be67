"""Random masks."""

from collections.abc import Mapping

import torch
from torch import Generator, Tensor


def some(rng: Generator, axes: str, of: Mapping[str, int]) -> Tensor:
    """Draw a mask in which about two pairs of three are visible."""
    shape = [of[letter] for letter in axes.split()]
    return torch.rand(shape, generator=rng) < 0.65


def none_empty(mask: Tensor) -> Tensor:
    """Let every row see the last key, and hide the first key if there are two."""
    mask = mask.clone()
    mask[..., 0], mask[..., -1] = False, True
    return mask


def some_empty(mask: Tensor) -> Tensor:
    """Hide everything from the first of the rows, and nothing from the last."""
    mask = mask.clone()
    mask[..., 0, :] = False
    mask[..., -1, :] = True
    return mask
