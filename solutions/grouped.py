"""Query heads that share keys and values (chapter 05)."""

from torch import Tensor, nn

from solutions.cache import KVCache, extend_cache
from solutions.heads import merge_heads, split_heads
from solutions.masked import masked_attention
from solutions.masks import causal_mask


def grouped_query_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
) -> Tensor:
    """Let groups of neighbouring query heads share a key/value head.

    q     (B, H, L, K)  queries; H is a multiple of G
    k, v  (B, G, M, K)  keys and values of G shared heads: query head i
                        uses key/value head i // (H / G)
    mask  bool, True where attending is allowed; broadcasts to
          (B, H, L, M). None hides nothing
    ->    (B, H, L, K)

    Source: Ainslie et al. 2023; G = 1 is Shazeer 2019.

    >>> import torch
    >>> v = torch.tensor([1.0, 2.0]).reshape(1, 2, 1, 1)
    >>> q, k = torch.zeros(1, 4, 1, 1), torch.zeros(1, 2, 1, 1)
    >>> grouped_query_attention(q, k, v).flatten()
    tensor([1., 1., 2., 2.])
    """
    ### BEGIN SOLUTION
    share = q.shape[1] // k.shape[1]
    keys = k.repeat_interleave(share, dim=1)  # (B, H, M, K)
    values = v.repeat_interleave(share, dim=1)  # (B, H, M, K)
    return masked_attention(q, keys, values, mask)
    ### END SOLUTION


class GroupedQueryAttention(nn.Module):
    """Causal self-attention with shared key/value heads and a cache.

    d_model   width of the vectors, a multiple of heads
    heads     query heads; each is d_model / heads wide
    kv_heads  key/value heads of the same width; divides heads

    Weights, no bias: w_q and w_o are nn.Linear(d_model, d_model); w_k and
    w_v are nn.Linear(d_model, kv_heads * d_model / heads).

    Source: Ainslie et al. 2023.

    >>> import torch
    >>> attend = GroupedQueryAttention(d_model=12, heads=6, kv_heads=3)
    >>> answers, (keys, values) = attend(torch.zeros(1, 5, 12))
    >>> answers.shape, keys.shape
    (torch.Size([1, 5, 12]), torch.Size([1, 3, 5, 2]))
    """

    def __init__(self, d_model: int, heads: int, kv_heads: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.heads, self.kv_heads = heads, kv_heads
        shared = kv_heads * (d_model // heads)
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, shared, bias=False)
        self.w_v = nn.Linear(d_model, shared, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)
        ### END SOLUTION

    def forward(
        self,
        x: Tensor,
        cache: KVCache | None = None,
    ) -> tuple[Tensor, KVCache]:
        """Attend from new tokens to themselves and to all before them.

        x      (B, L, D)  new tokens
        cache  the pair (keys, values), each (B, G, M, K), of the tokens
               before, or None
        ->     answers (B, L, D), and the cache with the new tokens in it
        """
        ### BEGIN SOLUTION
        k = split_heads(self.w_k(x), self.kv_heads)  # (B, G, L, K)
        v = split_heads(self.w_v(x), self.kv_heads)  # (B, G, L, K)
        keys, values = extend_cache(cache, k, v)
        q = split_heads(self.w_q(x), self.heads)  # (B, H, L, K)
        mask = causal_mask(x.shape[1], keys.shape[2], x.device)  # (L, M)
        answers = grouped_query_attention(q, keys, values, mask)
        mixed: Tensor = self.w_o(merge_heads(answers))  # (B, L, D)
        return mixed, (keys, values)
        ### END SOLUTION


def pool_kv_heads(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """Turn the key (or value) matrix of all heads into one of shared heads.

    w         (D, D)  w_k or w_v of multi-head attention in nn.Linear's
                      layout: the rows of head 0 first
    heads     how many heads w has
    kv_heads  how many to keep; divides heads
    ->        (kv_heads * D / heads, D)  each the mean of its group of
              neighbouring heads

    Source: Ainslie et al. 2023, section 2.1.

    >>> import torch
    >>> w = torch.tensor([[1., 0., 0., 0.], [3., 0., 0., 0.],
    ...                   [5., 2., 0., 0.], [5., 4., 0., 0.]])
    >>> pool_kv_heads(w, heads=4, kv_heads=2)
    tensor([[2., 0., 0., 0.],
            [5., 3., 0., 0.]])
    """
    ### BEGIN SOLUTION
    share = heads // kv_heads
    groups = w.reshape(kv_heads, share, -1, w.shape[-1])
    return groups.mean(dim=1).flatten(0, 1)
    ### END SOLUTION
