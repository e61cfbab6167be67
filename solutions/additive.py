"""Scores from a small network (chapter 01)."""

import torch
from torch import Tensor


def additive_scores(
    q: Tensor,
    k: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    u: Tensor,
) -> Tensor:
    """Let a small network say how well each key matches each query.

    q    (..., L, D)  L queries
    k    (..., M, K)  M keys, which may be wider or narrower than queries
    w_q  (D, F)       takes queries into a space of F entries
    w_k  (K, F)       takes keys there
    u    (F,)         reads the score off
    ->   (..., L, M)  tanh(q w_q + k w_k) u for every query with every key

    Source: Bahdanau, Cho & Bengio 2015, appendix A.1.2.

    >>> q, k = torch.tensor([[1.0]]), torch.tensor([[0.0], [2.0]])
    >>> one = torch.tensor([[1.0]])
    >>> additive_scores(q, k, one, -one, torch.tensor([2.0]))
    tensor([[ 1.5232, -1.5232]])
    """
    ### BEGIN SOLUTION
    asked = q @ w_q  # (..., L, F)
    offered = k @ w_k  # (..., M, F)
    pairs = asked.unsqueeze(-2) + offered.unsqueeze(-3)  # (..., L, M, F)
    return torch.tanh(pairs) @ u  # (..., L, M)
    ### END SOLUTION
