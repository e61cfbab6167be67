"""Attention to what is near by (chapter 10)."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from solutions.masked import masked_attention

KVCache = tuple[Tensor, Tensor]  # keys and values in w slots, (B, H, w, K)


def window_mask(
    n_q: int,
    n_k: int,
    w: int,
    device: torch.device | str = "cpu",
) -> Tensor:
    """Let each query see itself and the w - 1 keys before it.

    n_q     number of queries: the last n_q positions of the sequence
    n_k     number of keys, at least n_q
    w       width of the window, at least 1; may be larger than n_k
    device  where the mask is made
    ->      (L, M) bool, True where query i may attend to key j. The query
            stands at p = i + n_k - n_q and sees p - w + 1, ..., p

    Source: Child et al. 2019; Beltagy et al. 2020, section 3.1.

    >>> window_mask(3, 4, 2)
    tensor([[ True,  True, False, False],
            [False,  True,  True, False],
            [False, False,  True,  True]])
    """
    ### BEGIN SOLUTION
    places = torch.arange(n_k, device=device)
    distance = places[n_k - n_q :, None] - places  # (L, M)
    return (distance >= 0) & (distance < w)
    ### END SOLUTION


def windowed_attention(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """Attend causally within a window, with work in proportion to n w.

    q   (B, H, L, K)  queries of all L tokens
    k   (B, H, L, K)  their keys
    v   (B, H, L, W)  their values; W need not be K
    w   width of the window: token i attends to i - w + 1, ..., i, as far
        as these exist; it may be larger than L
    ->  (B, H, L, W)  softmax(q k^T / sqrt(K)) v, over the window alone.
                      Nothing is computed for pairs that are much further
                      apart than w

    Source: Beltagy et al. 2020, section 3.1 and appendix A.

    >>> import torch
    >>> q = k = torch.zeros(1, 1, 5, 2)
    >>> v = torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0]).view(1, 1, 5, 1)
    >>> windowed_attention(q, k, v, w=2).flatten()
    tensor([0.0000, 0.5000, 1.5000, 2.5000, 3.5000])
    """
    ### BEGIN SOLUTION
    n = q.shape[2]
    w = min(w, n)
    q, k, v = (pad(x, (0, 0, 0, -n % w)) for x in (q, k, v))
    q = q.unfold(2, w, w).mT  # (B, H, N, w, K), N blocks of w queries
    # a block sees itself and the one before; before the first are zeros
    k, v = (pad(x, (0, 0, w, 0)).unfold(2, 2 * w, w).mT for x in (k, v))
    seen = window_mask(w, 2 * w, w, q.device).repeat(q.shape[2], 1, 1)
    seen[0, :, :w] = False
    answers = masked_attention(q, k, v, seen)  # (B, H, N, w, W)
    return answers.flatten(2, 3)[:, :, :n]
    ### END SOLUTION


def rolling_cache_step(
    q: Tensor, k: Tensor, v: Tensor, cache: KVCache, position: int
) -> tuple[Tensor, KVCache]:
    """Attend from one new token, with a cache that has room for w.

    q         (B, H, 1, K)  its query
    k         (B, H, 1, K)  its key
    v         (B, H, 1, W)  its value
    cache     the pair (keys, values), (B, H, w, K) and (B, H, w, W). The
              token at position j lies in slot j mod w. Slots that were
              never written hold any finite numbers
    position  how many tokens came before
    ->        the answer (B, H, 1, W), from this token and the w - 1 before
              it, as far as these exist; and a new cache with the token in
              its slot. The cache that came in is left as it is

    Source: Jiang et al. 2023 (Mistral), section 2.

    >>> import torch
    >>> one = torch.ones(1, 1, 1, 1)
    >>> cache = torch.zeros(1, 1, 2, 1), torch.zeros(1, 1, 2, 1)
    >>> _, cache = rolling_cache_step(one, one, 3 * one, cache, 0)
    >>> _, cache = rolling_cache_step(one, one, 5 * one, cache, 1)
    >>> answer, cache = rolling_cache_step(one, one, 7 * one, cache, 2)
    >>> answer.item(), cache[1].flatten()
    (6.0, tensor([7., 5.]))
    """
    ### BEGIN SOLUTION
    keys, values = (slots.clone() for slots in cache)
    w = keys.shape[2]
    keys[:, :, position % w] = k[:, :, 0]
    values[:, :, position % w] = v[:, :, 0]
    held = min(position + 1, w)
    answer = masked_attention(q, keys[:, :, :held], values[:, :, :held])
    return answer, (keys, values)
    ### END SOLUTION
