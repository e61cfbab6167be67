"""Softmax and its derivative (chapter 02)."""

import torch
from torch import Tensor


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Turn scores into positive weights that sum to 1 along one axis.

    x    (...)  scores of any size, any float dtype; some may be -inf
    dim  the axis along which the weights sum to 1
    ->   shape, dtype and device of x

    softmax(x)_j = exp(x_j) / sum_m exp(x_m)

    Source: Bridle 1990; computed safely, Blanchard, Higham & Higham 2021.

    >>> softmax(torch.tensor([0.0, 1.0986123]))  # 1.0986123 is ln 3
    tensor([0.2500, 0.7500])
    """
    ### BEGIN SOLUTION
    shifted = x - x.amax(dim=dim, keepdim=True)
    weights = shifted.exp()
    return weights / weights.sum(dim=dim, keepdim=True)
    ### END SOLUTION


def softmax_jacobian(p: Tensor) -> Tensor:
    """Differentiate softmax: how does weight j move when score m moves?

    p    (..., M)     weights that softmax returned, along the last axis
    ->   (..., M, M)  J[j, m] = d p_j / d x_m, written with p alone

    Source: Bridle 1990.

    >>> softmax_jacobian(torch.tensor([0.25, 0.75]))
    tensor([[ 0.1875, -0.1875],
            [-0.1875,  0.1875]])
    """
    ### BEGIN SOLUTION
    outer = p.unsqueeze(-1) * p.unsqueeze(-2)  # (..., M, M)
    return torch.diag_embed(p) - outer
    ### END SOLUTION
