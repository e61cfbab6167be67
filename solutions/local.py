"""Attention that looks around itself only (chapter 01)."""

import math

import torch
from torch import Tensor


def local_attention_weights(scores: Tensor, radius: int) -> Tensor:
    """Share each query's weight among the keys near its own position.

    scores  (..., L, M)  any size; those out of reach do not matter
    radius  query i sees the keys from i - radius to i + radius, as far as
            there are any; there is at least one for each query
    ->      (..., L, M)  rows sum to 1; exactly 0 out of reach

    Source: Luong, Pham & Manning 2015, section 3.2 (their D).

    >>> local_attention_weights(torch.zeros(3, 3), radius=1)
    tensor([[0.5000, 0.5000, 0.0000],
            [0.3333, 0.3333, 0.3333],
            [0.0000, 0.5000, 0.5000]])
    """
    ### BEGIN SOLUTION
    n_q, n_k = scores.shape[-2:]
    i = torch.arange(n_q, device=scores.device).unsqueeze(-1)
    j = torch.arange(n_k, device=scores.device)
    far = (i - j).abs() > radius  # (L, M)
    return torch.softmax(scores.masked_fill(far, -math.inf), dim=-1)
    ### END SOLUTION
