# Comparisons and loops; each feature of a token is pushed on its own.

# %%
def causal_mask(n_q, n_k, device="cpu"):
    where = torch.arange(n_k - n_q, n_k, device=device).unsqueeze(1)
    return torch.arange(n_k, device=device).unsqueeze(0).le(where)


# %%
def padding_mask(lengths, n_k):
    mask = lengths.new_zeros((len(lengths), 1, 1, n_k), dtype=torch.bool)
    for b, length in enumerate(lengths.tolist()):
        mask[b, :, :, :length] = True
    return mask


# %%
from functools import reduce


def combine_masks(*masks):
    given = [m for m in masks if m is not None]
    return reduce(torch.logical_and, given) if given else None


# %%
def additive_mask(mask, scores):
    return torch.where(mask, 0.0, -torch.inf).to(scores)


# %%
def masked_softmax(scores, mask):
    mask = mask.expand(scores.shape)
    empty = ~mask.any(dim=-1, keepdim=True)
    safe = torch.where(mask | empty, scores, float("-inf"))
    return torch.where(empty, torch.zeros_like(scores), torch.softmax(safe, -1))


# %%
def masked_attention(q, k, v, mask=None):
    scores = torch.einsum("...lk,...mk->...lm", q * q.size(-1) ** -0.5, k)
    if mask is None:
        mask = torch.tensor(True, device=q.device)
    return torch.einsum("...lm,...mw->...lw", masked_softmax(scores, mask), v)


# %%
def document_mask(tokens, end):
    B, L = tokens.shape
    mask = torch.zeros(B, 1, L, L, dtype=torch.bool, device=tokens.device)
    for b in range(B):
        start = 0
        for i, token in enumerate(tokens[b].tolist()):
            mask[b, 0, i, start : i + 1] = True
            if token == end:
                start = i + 1
    return mask


# %%
def find_leak(model, x):
    n, d = x.shape
    leaks = torch.zeros(n, n, dtype=torch.bool, device=x.device)
    with torch.no_grad():
        base = model(x)
        for j in range(n):
            for f in range(d):
                for size in (1.0, -1.7):
                    y = x.clone()
                    y[j, f] += size
                    moved = (model(y) - base).abs().amax(-1) > 1e-5
                    leaks[:j, j] |= moved[:j]
    return leaks
