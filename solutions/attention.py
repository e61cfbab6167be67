"""Scaled dot-product attention (chapter 02)."""

import math

from torch import Tensor

from solutions.softmax import softmax


def attention_weights(q: Tensor, k: Tensor) -> Tensor:
    """Say how much each query listens to each key.

    q    (..., L, K)  L queries of K entries
    k    (..., M, K)  M keys; M may differ from L
    ->   (..., L, M)  softmax(q k^T / sqrt(K)); a query's weights sum to 1

    Source: Vaswani et al. 2017, eq. (1).

    >>> import torch
    >>> q = torch.tensor([[2.0, 0.0, 0.0, 0.0]])
    >>> attention_weights(q, torch.eye(2, 4))
    tensor([[0.7311, 0.2689]])
    """
    ### BEGIN SOLUTION
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (..., L, M)
    return softmax(scores, dim=-1)
    ### END SOLUTION


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Answer each query with the values, averaged by how well keys match.

    q    (..., L, K)  L queries of K entries
    k    (..., M, K)  M keys
    v    (..., M, W)  a value of W entries for each key; W need not be K
    ->   (..., L, W)  softmax(q k^T / sqrt(K)) v

    Source: Vaswani et al. 2017, eq. (1).

    >>> import torch
    >>> q = torch.tensor([[2.0, 0.0, 0.0, 0.0]])
    >>> v = torch.tensor([[10.0], [20.0]])
    >>> scaled_dot_product_attention(q, torch.eye(2, 4), v)
    tensor([[12.6894]])
    """
    ### BEGIN SOLUTION
    return attention_weights(q, k) @ v  # (..., L, W)
    ### END SOLUTION
