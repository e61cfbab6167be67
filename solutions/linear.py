"""Attention without a softmax, as a state of fixed size (chapter 10)."""

from torch import Tensor
from torch.nn.functional import elu

State = tuple[Tensor, Tensor]  # sums of k v^T (B, H, K, W), of k (B, H, K)


def linear_attention(
    q: Tensor, k: Tensor, v: Tensor, state: State | None = None
) -> tuple[Tensor, State]:
    """Attend causally with weights in proportion to f(q) . f(k).

    f is elu(x) + 1, entry by entry: x + 1 above 0, exp(x) below. Either
    way to compute it will do: only where x is below -15 or so does the
    first lose the digits of the second in float32, and there is no such
    x here. The scores are not divided by sqrt(K).

    q      (B, H, L, K)  queries of L new tokens
    k      (B, H, L, K)  their keys
    v      (B, H, L, W)  their values; W need not be K
    state  (S, z) of all tokens before, or None: S (B, H, K, W) is the sum
           of f(k) v^T and z (B, H, K) the sum of f(k)
    ->     answers (B, H, L, W): f(q)^T S / (f(q) . z), with the token
           itself in S and z; and the state after the last token

    Source: Katharopoulos et al. 2020, section 3.4, eq. (16) to (20).

    >>> import torch
    >>> q = k = torch.zeros(1, 1, 3, 2)
    >>> v = torch.tensor([0.0, 3.0, 6.0]).view(1, 1, 3, 1)
    >>> answers, (S, z) = linear_attention(q, k, v)
    >>> answers.flatten(), S.flatten(), z.flatten()
    (tensor([0.0000, 1.5000, 3.0000]), tensor([9., 9.]), tensor([3., 3.]))
    """
    ### BEGIN SOLUTION
    q, k = elu(q) + 1, elu(k) + 1
    table = (k[..., None] * v[..., None, :]).cumsum(2)  # (B, H, L, K, W)
    total = k.cumsum(2)
    if state is not None:
        table = table + state[0][:, :, None]
        total = total + state[1][:, :, None]
    top = (q[..., None, :] @ table).squeeze(-2)
    answers = top / (q * total).sum(-1, keepdim=True)
    return answers, (table[:, :, -1], total[:, :, -1])
    ### END SOLUTION
