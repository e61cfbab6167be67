"""Masks: who may attend to whom, and how scores learn of it (chapter 03)."""

import math

import torch
from torch import Tensor


def causal_mask(
    n_q: int,
    n_k: int,
    device: torch.device | str = "cpu",
) -> Tensor:
    """Let each query see the keys up to its own position.

    n_q     number of queries: the last n_q positions of the sequence
    n_k     number of keys, at least n_q
    device  where the mask is made
    ->      (L, M) bool, True where query i may attend to key j:
            j <= i + n_k - n_q

    Source: Vaswani et al. 2017, section 3.2.3.

    >>> causal_mask(2, 4)
    tensor([[ True,  True,  True, False],
            [ True,  True,  True,  True]])
    """
    ### BEGIN SOLUTION
    everything = torch.ones(n_q, n_k, dtype=torch.bool, device=device)  # (L, M)
    return everything.tril(n_k - n_q)
    ### END SOLUTION


def padding_mask(lengths: Tensor, n_k: int) -> Tensor:
    """Hide the padding behind each sequence of a batch.

    lengths  (B,)          how many real tokens each sequence has, int64
    n_k      the length that all were padded to, at the end
    ->       (B, 1, 1, M)  bool, True at real keys; the axes of size 1 are
                           for heads and queries, which all see the same

    Source: Devlin et al. 2019, in whose code padded keys are masked.

    >>> padding_mask(torch.tensor([1, 3]), 3)[:, 0, 0]
    tensor([[ True, False, False],
            [ True,  True,  True]])
    """
    ### BEGIN SOLUTION
    positions = torch.arange(n_k, device=lengths.device)
    return positions < lengths[:, None, None, None]
    ### END SOLUTION


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    """Let a query see what every mask lets it see.

    masks  bool, True where attending is allowed; their shapes broadcast.
           None stands for a mask that hides nothing
    ->     bool, of the common shape; None if no mask hides anything

    Source: nn.MultiheadAttention merges its masks so, where True hides.

    >>> combine_masks(torch.tensor([True, True, False]), None,
    ...               torch.tensor([[True], [False]]))
    tensor([[ True,  True, False],
            [False, False, False]])
    """
    ### BEGIN SOLUTION
    combined = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined & mask
    return combined
    ### END SOLUTION


def additive_mask(mask: Tensor, scores: Tensor) -> Tensor:
    """Translate a mask into numbers that can be added to scores.

    mask    bool, True where attending is allowed; its shape broadcasts to
            that of the scores
    scores  whose dtype the numbers get
    ->      shape of mask: 0 where allowed, -inf where not

    Source: Devlin et al. 2019 add to the scores, though not -inf.

    >>> additive_mask(torch.tensor([True, False]), torch.zeros(3, 2))
    tensor([0., -inf])
    """
    ### BEGIN SOLUTION
    return scores.new_zeros(mask.shape).masked_fill(~mask, -math.inf)
    ### END SOLUTION
