"""Positions as rotations of queries and keys (chapter 06)."""

import torch
from torch import Tensor

from solutions.cache import KVCache, cached_attention


def apply_rope(x: Tensor, angles: Tensor) -> Tensor:
    """Turn the pairs of every vector by the angles of its position.

    x       (..., L, K)    queries or keys; K is even
    angles  (L, K/2)       by how much; leading axes, if any, broadcast
                           to those of x
    ->      (..., L, K)    pair i, entries 2i and 2i + 1, turned by angle i:
                           from the first axis towards the second

    Source: Su et al. 2021, section 3.2.

    >>> quarter = torch.tensor([[torch.pi / 2]])
    >>> apply_rope(torch.tensor([[3.0, 1.0]]), quarter).round(decimals=4)
    tensor([[-1.,  3.]])
    """
    ### BEGIN SOLUTION
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)
    return turned.flatten(-2).to(x.dtype)
    ### END SOLUTION


def interleaved_to_half_split(weight: Tensor, heads: int) -> Tensor:
    """Reorder a projection for code that pairs entry i with i + K/2.

    weight  (D, D)  w_q or w_k of a model whose pairs are (2i, 2i + 1),
                    laid out as in nn.Linear: row r makes entry r
    heads   how many; head 0 owns the first K = D / heads rows, and so on
    ->      (D, D)  in each head, the first entries of all pairs, then the
                    second ones

    Source: Hugging Face's conversion of Llama's weights.

    >>> rows = torch.arange(12).reshape(6, 2)
    >>> interleaved_to_half_split(rows, heads=1)[:, 0]
    tensor([ 0,  4,  8,  2,  6, 10])
    """
    ### BEGIN SOLUTION
    pairs = weight.reshape(heads, -1, 2, weight.shape[1])  # (H, K/2, 2, D)
    return pairs.transpose(1, 2).flatten(0, 2)
    ### END SOLUTION


def rotary_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    angles: Tensor,
    cache: KVCache | None = None,
) -> tuple[Tensor, KVCache]:
    """Attend causally, with rotary positions, to all tokens so far.

    q       (B, H, L, K)  queries of L new tokens, not rotated yet
    k, v    (B, H, L, K)  their keys and values
    angles  (N, K/2)      of the positions 0 .. N-1, enough for all tokens
    cache   the pair (keys, values) of the tokens before, or None; its keys
            have been rotated
    ->      answers (B, H, L, K), and the cache with the new tokens in it

    Source: Su et al. 2021, section 3.2.

    >>> q = k = torch.ones(1, 1, 1, 2)
    >>> angles = torch.tensor([[0.0], [torch.pi / 2]])
    >>> _, cache = rotary_attention(q, k, k, angles)
    >>> _, (keys, _) = rotary_attention(q, k, k, angles, cache)
    >>> keys[0, 0].round(decimals=4)
    tensor([[ 1.,  1.],
            [-1.,  1.]])
    """
    ### BEGIN SOLUTION
    start = 0 if cache is None else cache[0].shape[2]
    own = angles[start : start + q.shape[2]]  # (L, K/2)
    return cached_attention(apply_rope(q, own), apply_rope(k, own), v, cache)
    ### END SOLUTION
