"""Keys and values that are kept, and what keeping them costs (chapter 05)."""

import torch
from torch import Tensor

from solutions.masked import masked_attention
from solutions.masks import causal_mask

KVCache = tuple[Tensor, Tensor]  # keys and values so far, each (B, G, M, K)


def extend_cache(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    """Append the keys and values of new tokens.

    cache  the pair (keys, values) so far, or None before the first token;
           it is left as it is
    k      (B, G, L, K)  keys of L new tokens
    v      (B, G, L, K)  their values
    ->     a new pair (keys, values), old tokens first

    Source: Shazeer 2019, section 2.

    >>> first = extend_cache(None, torch.zeros(1, 1, 2, 3),
    ...                      torch.zeros(1, 1, 2, 3))
    >>> keys, values = extend_cache(first, torch.ones(1, 1, 1, 3),
    ...                             torch.ones(1, 1, 1, 3))
    >>> keys[0, 0, :, 0]
    tensor([0., 0., 1.])
    """
    ### BEGIN SOLUTION
    if cache is None:
        return k, v
    keys, values = cache
    return torch.cat([keys, k], dim=2), torch.cat([values, v], dim=2)
    ### END SOLUTION


def cached_attention(
    q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None
) -> tuple[Tensor, KVCache]:
    """Attend causally from a chunk of new tokens to all tokens so far.

    q      (B, H, L, K)  queries of L new tokens
    k, v   (B, H, L, K)  their keys and values
    cache  the pair (keys, values) of all tokens before, or None
    ->     answers (B, H, L, K), and the cache with the new tokens in it

    Source: Shazeer 2019, section 2.

    >>> q = k = torch.zeros(1, 1, 1, 2)
    >>> _, cache = cached_attention(q, k, torch.zeros(1, 1, 1, 2))
    >>> answers, cache = cached_attention(q, k, torch.ones(1, 1, 1, 2), cache)
    >>> answers
    tensor([[[[0.5000, 0.5000]]]])
    """
    ### BEGIN SOLUTION
    keys, values = extend_cache(cache, k, v)
    mask = causal_mask(q.shape[2], keys.shape[2], q.device)  # (L, M)
    return masked_attention(q, keys, values, mask), (keys, values)
    ### END SOLUTION


def kv_cache_bytes(
    layers: int,
    kv_heads: int,
    head_width: int,
    tokens: int,
    *,
    batch: int = 1,
    bytes_per_number: int = 2,
) -> int:
    """Count the bytes that all keys and values of a model take.

    layers            how many attention layers
    kv_heads          key/value heads of each
    head_width        entries of one key, and of one value
    tokens            kept of each sequence
    batch             sequences at a time
    bytes_per_number  2 for bfloat16, 4 for float32
    ->                bytes

    Source: Pope et al. 2023.

    >>> kv_cache_bytes(32, 8, 128, 1)  # Llama 3 8B, one token
    131072
    """
    ### BEGIN SOLUTION
    numbers = 2 * layers * kv_heads * head_width * tokens * batch
    return numbers * bytes_per_number
    ### END SOLUTION
