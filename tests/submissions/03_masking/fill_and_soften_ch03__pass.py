# Fill, soften, fill again: torch's own operations, short.

# %%
def causal_mask(n_q, n_k, device="cpu"):
    return torch.ones(n_q, n_k, dtype=torch.bool, device=device).tril(n_k - n_q)


# %%
def padding_mask(lengths, n_k):
    numbers = torch.arange(n_k, device=lengths.device)
    return (numbers < lengths[:, None])[:, None, None, :]


# %%
def combine_masks(*masks):
    result = None
    for mask in masks:
        if mask is not None:
            result = mask if result is None else result & mask
    return result


# %%
def additive_mask(mask, scores):
    zeros = torch.zeros(mask.shape, dtype=scores.dtype, device=mask.device)
    return zeros.masked_fill(~mask, -math.inf)


# %%
def masked_softmax(scores, mask):
    weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
    return weights.masked_fill(~mask, 0.0)


# %%
def masked_attention(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    weights = scores.softmax(-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v


# %%
def document_mask(tokens, end):
    ended = (tokens == end).long()
    number = ended.cumsum(-1) - ended
    same = number[:, :, None] == number[:, None, :]
    n = tokens.shape[1]
    return (same & causal_mask(n, n, tokens.device))[:, None]


# %%
def find_leak(model, x):
    before = model(x.clone()).clone()
    columns = []
    g = torch.Generator().manual_seed(0)
    for j in range(x.shape[0]):
        changed = x.clone()
        push = torch.randn(x.shape[1], generator=g).to(x) + 3
        changed[j] = x[j] + push
        after = model(changed)
        columns.append(((after - before).abs() > 1e-5).any(-1))
    return torch.stack(columns, dim=1).triu(1)
