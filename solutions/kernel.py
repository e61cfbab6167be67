"""Kernel regression, the first attention (chapter 01)."""

import torch
from torch import Tensor


def kernel_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bandwidth: float,
) -> Tensor:
    """Average the values by how near their keys are to each query.

    q          (..., L, K)  L points at which an answer is wanted
    k          (..., M, K)  M points that were observed
    v          (..., M, W)  what was observed there
    bandwidth  the distance b over which a point counts; positive
    ->         (..., L, W)  weights in proportion to exp(-|q-k|^2 / (2 b^2)),
                            summing to 1 for each query, however far it is

    Source: Nadaraya 1964; Watson 1964.

    >>> k = torch.tensor([[0.0], [3.0]])
    >>> v = torch.tensor([[10.0], [20.0]])
    >>> kernel_attention(torch.tensor([[1.0]]), k, v, bandwidth=1.0)
    tensor([[11.8243]])
    """
    ### BEGIN SOLUTION
    gaps = q.unsqueeze(-2) - k.unsqueeze(-3)  # (..., L, M, K)
    nearness = -gaps.square().sum(dim=-1) / (2 * bandwidth**2)  # (..., L, M)
    return torch.softmax(nearness, dim=-1) @ v  # (..., L, W)
    ### END SOLUTION
