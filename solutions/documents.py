"""Several documents in one row, which must not see each other (chapter 03)."""

import torch
from torch import Tensor

from solutions.masks import causal_mask


def document_mask(tokens: Tensor, end: int) -> Tensor:
    """Let each token see itself and the earlier ones of its own document.

    tokens  (B, L)        documents one after the other, int64
    end     the token that ends a document; it belongs to the one it ends
    ->      (B, 1, L, L)  bool, True where query i may attend to key j: not
                          later, and of the same document. Axis 1 is for heads

    Source: Krell et al. 2021.

    >>> document_mask(torch.tensor([[5, 0, 7]]), end=0)[0, 0]
    tensor([[ True, False, False],
            [ True,  True, False],
            [False, False,  True]])
    """
    ### BEGIN SOLUTION
    ends = (tokens == end).to(torch.int64)  # (B, L)
    document = ends.cumsum(-1) - ends  # how many ended before this token
    same = document[:, None, :, None] == document[:, None, None, :]
    n = tokens.shape[1]
    return same & causal_mask(n, n, tokens.device)
    ### END SOLUTION
