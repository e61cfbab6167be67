"""Distance as a penalty on the scores (chapter 06)."""

import math

import torch
from torch import Tensor

from solutions.masks import causal_mask


def alibi_slopes(heads: int) -> tuple[float, ...]:
    """Say how steeply each head forgets.

    heads  how many, h
    ->     one slope for each head. If h is a power of 2: 2^(-8 i/h) for
           i = 1 .. h. Otherwise the slopes for the next smaller power of
           2, followed by the first, third, fifth ... of those for the
           next larger one, until there are h

    Source: Press et al. 2022, and their published code.

    >>> alibi_slopes(3)
    (0.0625, 0.00390625, 0.25)
    """
    ### BEGIN SOLUTION
    smaller = 2 ** math.floor(math.log2(heads))
    slopes = [2.0 ** (-8 * i / smaller) for i in range(1, smaller + 1)]
    between = [2.0 ** (-4 * i / smaller) for i in range(1, 2 * smaller, 2)]
    return (*slopes, *between[: heads - smaller])
    ### END SOLUTION


def alibi_bias(slopes: Tensor, n_q: int, n_k: int) -> Tensor:
    """Make the additive mask: the further away, the less is seen.

    slopes  (H,)
    n_q     number of queries: the last n_q positions of the sequence
    n_k     number of keys; n_k >= n_q
    ->      (H, L, M)  dtype and device of slopes: minus slope times
                       distance, -inf where the key is in the future

    Source: Press et al. 2022, section 3.

    >>> alibi_bias(torch.tensor([0.5]), 2, 3)
    tensor([[[-0.5000,  0.0000,    -inf],
             [-1.0000, -0.5000,  0.0000]]])
    """
    ### BEGIN SOLUTION
    queries = torch.arange(n_k - n_q, n_k, device=slopes.device)
    keys = torch.arange(n_k, device=slopes.device)
    steps = keys - queries[:, None]  # (L, M): how far ahead the key is
    bias = slopes[:, None, None] * steps
    future = ~causal_mask(n_q, n_k, slopes.device)
    return bias.masked_fill(future, -math.inf)
    ### END SOLUTION
