"""Attention that obeys a mask, and a detector of leaks (chapter 03)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from solutions.softmax import softmax


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Share the weight of each query among the keys that it may see.

    scores  (..., L, M)  of any size; those at hidden keys do not matter
    mask    bool, True where attending is allowed; broadcasts to scores
    ->      (..., L, M)  exactly 0 at hidden keys; the rest sums to 1, or
                         is 0 where a query sees nothing

    Source: Vaswani et al. 2017, section 3.2.3; the zeros, PyTorch 2.5.

    >>> masked_softmax(torch.zeros(2, 3),
    ...                torch.tensor([[True, True, False], [False] * 3]))
    tensor([[0.5000, 0.5000, 0.0000],
            [0.0000, 0.0000, 0.0000]])
    """
    ### BEGIN SOLUTION
    visible = scores.masked_fill(~mask, -math.inf)  # (..., L, M)
    return softmax(visible).masked_fill(~mask, 0.0)
    ### END SOLUTION


def masked_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
) -> Tensor:
    """Answer each query from the keys that it may see.

    q     (..., L, K)  L queries of K entries
    k     (..., M, K)  M keys
    v     (..., M, W)  a value for each key
    mask  bool, True where attending is allowed; broadcasts to (..., L, M).
          None hides nothing
    ->    (..., L, W)  zeros for a query that sees nothing

    Source: Vaswani et al. 2017, section 3.2.3.

    >>> q, k = torch.zeros(2, 1), torch.zeros(2, 1)
    >>> v = torch.tensor([[10.0], [20.0]])
    >>> masked_attention(q, k, v, torch.ones(2, 2).tril().bool())
    tensor([[10.],
            [15.]])
    """
    ### BEGIN SOLUTION
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (..., L, M)
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ v
    ### END SOLUTION


def find_leak(model: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Find the outputs of a black box that hear from later tokens.

    model  maps (..., L, D) to (..., L, D), one output for each token
    x      (L, D)  tokens to try it on
    ->     (L, L)  bool, True at [i, j] where j comes after i and changing
                   token j changes output i

    Source: this course.

    >>> find_leak(lambda x: x.flip(0), torch.rand(3, 2))
    tensor([[False, False,  True],
            [False, False, False],
            [False, False, False]])
    """
    ### BEGIN SOLUTION
    before = model(x)
    moved = []
    for j in range(x.shape[0]):
        changed = x.clone()
        changed[j] += 1 + torch.rand_like(x[j])  # no feature like another
        moved.append((model(changed) != before).any(-1))  # (L,)
    return torch.stack(moved, dim=1).triu(1)
    ### END SOLUTION
