# %%
def window_mask(n_q, n_k, w, device="cpu"):
    ones = torch.ones(n_q, n_k, dtype=torch.bool, device=device)
    return ones.tril(n_k - n_q) & ~ones.tril(n_k - n_q - min(w, n_k))


# %%
def sparse_mask(n, w, sinks, stride, device="cpu"):
    i, j = torch.meshgrid(
        torch.arange(n, device=device), torch.arange(n, device=device), indexing="ij"
    )
    return (j <= i) & ((j > i - w) | (j < sinks) | (i % stride == j % stride))


# %%
def layer_windows(layers, w, every):
    return (([w] * (every - 1) + [None]) * layers)[:layers]


# %%
def receptive_field(windows, n):
    return n if None in windows else min(n, 1 + sum(windows) - len(windows))


# %%
def windowed_attention(q, k, v, w):
    n = q.shape[2]
    w = min(w, n)
    at = torch.arange(n, device=q.device).unsqueeze(1) - torch.arange(w, device=q.device)
    kk, vv = k[:, :, at.clamp(min=0)], v[:, :, at.clamp(min=0)]
    s = (q.unsqueeze(3) * kk).sum(-1) / math.sqrt(q.shape[-1])
    p = s.masked_fill(at < 0, -math.inf).softmax(-1)
    return (p.unsqueeze(-1) * vv).sum(3)


# %%
def rolling_cache_step(q, k, v, cache, position):
    w = cache[0].shape[2]
    here = torch.arange(w, device=k.device).eq(position % w).view(1, 1, w, 1)
    keys, values = (torch.where(here, new, old) for new, old in zip((k, v), cache))
    held = torch.arange(w, device=k.device) <= position
    return masked_attention(q, keys, values, held), (keys, values)


# %%
def linear_attention(q, k, v, state=None):
    q = torch.nn.functional.elu(q) + 1
    k = torch.nn.functional.elu(k) + 1
    scores = (q @ k.mT).tril()
    top, bottom = scores @ v, scores.sum(-1, keepdim=True)
    S, z = k.mT @ v, k.sum(2)
    if state is not None:
        top, bottom = top + q @ state[0], bottom + q @ state[1].unsqueeze(-1)
        S, z = S + state[0], z + state[1]
    return top / bottom, (S, z)
