"""Draws that exercises of this chapter share: caches, and heads in groups."""

import torch
from torch import Generator, Tensor

from autograder.inputs import normal

GROUPS = ((2, 3), (3, 2), (2, 4), (4, 2))  # key/value heads, query heads for each
Sizes = dict[str, int]


def grouped_sizes(rng: Generator, letters: str) -> Sizes:
    """Draw G, H (a multiple of G) and the given sizes: all different, and none is H / G."""
    g, share = GROUPS[int(torch.randint(len(GROUPS), (), generator=rng))]
    of = {"G": g, "H": g * share}
    rest = [n for n in range(3, 11) if n not in (g, share, g * share)]
    order = torch.randperm(len(rest), generator=rng).tolist()
    return of | {letter: rest[i] for letter, i in zip(letters.split(), order, strict=False)}


def pair(rng: Generator, axes: str, of: Sizes) -> tuple[Tensor, Tensor]:
    """Draw keys and values."""
    return normal(rng, axes, of), normal(rng, axes, of)


def cache_of(rng: Generator, heads: str, of: Sizes, tokens: int) -> tuple[Tensor, Tensor]:
    """Draw the keys and values of tokens that came before."""
    return pair(rng, f"B {heads} L K", {**of, "L": tokens})


def far_apart(q: Tensor, k: Tensor, rng: Generator) -> tuple[Tensor, Tensor]:
    """Make queries and keys like these, with scores of thousands of both signs, none near another.

    So far apart that one key takes all the weight, in whatever order one rounds.
    """
    length, tokens = q.shape[2], k.shape[2]
    signs = 1 - 2 * (torch.arange(length) % 2)
    far_q, far_k = torch.zeros_like(q), torch.zeros_like(k)
    far_q[..., 0] = signs * (500.0 + 100.0 * torch.arange(length))
    order = torch.rand(*k.shape[:2], tokens, generator=rng).argsort(-1)
    far_k[..., 0] = 20.0 + 20.0 * order
    return far_q, far_k


def far_below(q: Tensor, k: Tensor, order: Tensor) -> tuple[Tensor, Tensor]:
    """Make queries and keys like these, with scores below -30,000, the lower the higher the order.

    Far below what a mask is often filled with, and far from one another.
    """
    low_q, low_k = torch.zeros_like(q), torch.zeros_like(k)
    low_q[..., 0] = -1000.0 - 100.0 * torch.arange(q.shape[2])
    low_k[..., 0] = 100.0 + 100.0 * order
    return low_q, low_k
