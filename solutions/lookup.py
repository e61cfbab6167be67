"""Attention as search: one key that matches best, or all by how well (chapter 01)."""

import torch
from torch import Tensor


def hard_lookup(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Give each query the value of the key that matches it best.

    q    (..., L, K)  L queries of K entries
    k    (..., M, K)  M keys; no two match a query equally well
    v    (..., M, W)  a value of W entries for each key
    ->   (..., L, W)  the value of the key with the largest inner product

    Source: Xu et al. 2015, section 4.1, where the choice is learned.

    >>> q = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
    >>> k = torch.tensor([[3.0, 1.0], [1.0, 2.0]])
    >>> hard_lookup(q, k, torch.tensor([[10.0], [20.0]]))
    tensor([[10.],
            [20.]])
    """
    ### BEGIN SOLUTION
    best = (q @ k.transpose(-2, -1)).argmax(dim=-1)  # (..., L)
    return v.take_along_dim(best.unsqueeze(-1), dim=-2)  # (..., L, W)
    ### END SOLUTION


def soft_lookup(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    sharpness: float = 1.0,
) -> Tensor:
    """Give each query an average of all values, weighted by the match.

    q          (..., L, K)  L queries of K entries
    k          (..., M, K)  M keys
    v          (..., M, W)  a value of W entries for each key
    sharpness  multiplies the inner products; 0 weights all keys alike
    ->         (..., L, W)  softmax(sharpness * q k^T) v

    Source: Luong, Pham & Manning 2015, eq. (7) and (8), the dot score.

    >>> q = torch.tensor([[1.0, 0.0]])
    >>> k = torch.tensor([[1.0986123, 0.0], [0.0, 1.0]])  # ln 3
    >>> v = torch.tensor([[10.0], [20.0]])
    >>> soft_lookup(q, k, v)
    tensor([[12.5000]])
    >>> soft_lookup(q, k, v, sharpness=2.0)
    tensor([[11.]])
    """
    ### BEGIN SOLUTION
    scores = sharpness * (q @ k.transpose(-2, -1))  # (..., L, M)
    return torch.softmax(scores, dim=-1) @ v  # (..., L, W)
    ### END SOLUTION
