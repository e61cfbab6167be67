"""Attention as messages along the edges of a graph (chapter 01)."""

import math

import torch
from torch import Tensor


def message_passing(
    scores: Tensor,
    messages: Tensor,
    edges: Tensor,
) -> Tensor:
    """Let each node average what the nodes that it hears send.

    scores    (..., L, L)  how much node i wants to listen to node j
    messages  (..., L, W)  what each node sends, the same to all
    edges     (L, L)       bool, True at [i, j] where node i hears node j
    ->        (..., L, W)  softmax-weighted mean over the nodes heard;
                           zeros for a node that hears nobody

    Source: Gilmer et al. 2017 (messages); the weights are attention's.

    >>> scores = torch.zeros(3, 3)
    >>> messages = torch.tensor([[6.0], [12.0], [30.0]])
    >>> edges = torch.tensor([[False, True, True], [True, False, False],
    ...                       [False, False, False]])
    >>> message_passing(scores, messages, edges)
    tensor([[21.],
            [ 6.],
            [ 0.]])
    """
    ### BEGIN SOLUTION
    heard = scores.masked_fill(edges.logical_not(), -math.inf)  # (..., L, L)
    shares = torch.softmax(heard, dim=-1)
    return torch.where(edges, shares, 0.0) @ messages  # (..., L, W)
    ### END SOLUTION
