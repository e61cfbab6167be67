"""Causal self-attention as whole models use it: chapters 04, 05 and 06 in one layer."""

import torch
from torch import Tensor, nn

from solutions.cache import KVCache, extend_cache
from solutions.grouped import grouped_query_attention
from solutions.heads import merge_heads, split_heads
from solutions.masks import causal_mask
from solutions.positions import position_angles
from solutions.rotary import apply_rope


class CausalSelfAttention(nn.Module):
    """Several heads, rotary positions, shared keys and values, a cache.

    d_model   width of the vectors, a multiple of heads
    heads     query heads; each is d_model / heads wide, an even number
    kv_heads  key/value heads of the same width; divides heads. None means
              as many as there are query heads

    Weights, no bias: w_q and w_o are nn.Linear(d_model, d_model); w_k and
    w_v are nn.Linear(d_model, kv_heads * d_model / heads).

    Source: Vaswani et al. 2017; Ainslie et al. 2023; Su et al. 2021.

    >>> attend = CausalSelfAttention(d_model=12, heads=6, kv_heads=3)
    >>> answers, (keys, values) = attend(torch.zeros(1, 5, 12))
    >>> answers.shape, keys.shape
    (torch.Size([1, 5, 12]), torch.Size([1, 3, 5, 2]))
    """

    def __init__(self, d_model: int, heads: int, kv_heads: int | None = None) -> None:
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads or heads
        self.width = d_model // heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, self.kv_heads * self.width, bias=False)
        self.w_v = nn.Linear(d_model, self.kv_heads * self.width, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)

    def forward(
        self,
        x: Tensor,
        cache: KVCache | None = None,
        keep: Tensor | None = None,
    ) -> tuple[Tensor, KVCache]:
        """Attend from new tokens to themselves and to all before them.

        x      (B, L, D)  new tokens
        cache  the pair (keys, values), each (B, G, M, K), of the tokens
               before, or None; its keys have been turned
        keep   (B, N)     bool, False at padding, of the tokens before and of
                          the new ones; None means that all are real
        ->     answers (B, L, D), and the cache with the new tokens in it
        """
        k = split_heads(self.w_k(x), self.kv_heads)  # (B, G, L, K)
        v = split_heads(self.w_v(x), self.kv_heads)  # (B, G, L, K)
        q = split_heads(self.w_q(x), self.heads)  # (B, H, L, K)
        start = 0 if cache is None else cache[0].shape[2]
        places = torch.arange(start, start + x.shape[1], device=x.device)
        angles = position_angles(places, self.width)  # (L, K/2)
        keys, values = extend_cache(cache, apply_rope(k, angles), v)
        mask = causal_mask(x.shape[1], keys.shape[2], x.device)  # (L, N)
        if keep is not None:
            mask = mask & keep[:, None, None, :]  # (B, 1, L, N)
        answers = grouped_query_attention(apply_rope(q, angles), keys, values, mask)
        mixed: Tensor = self.w_o(merge_heads(answers))  # (B, L, D)
        return mixed, (keys, values)
