# %%
def window_mask(n_q, n_k, w, device="cpu"):
    mask = torch.zeros(n_q, n_k, dtype=torch.bool, device=device)
    for i in range(n_q):
        p = i + n_k - n_q
        mask[i, max(p - w + 1, 0) : p + 1] = True
    return mask


# %%
def sparse_mask(n, w, sinks, stride, device="cpu"):
    mask = window_mask(n, n, w, device)
    for i in range(n):
        for j in range(i + 1):
            if j < sinks or (i - j) % stride == 0:
                mask[i, j] = True
    return mask


# %%
def layer_windows(layers, w, every):
    result = []
    for i in range(layers):
        result.append(None if i % every == every - 1 else w)
    return result


# %%
def receptive_field(windows, n):
    reach = 1
    for w in windows:
        if w is None:
            return n
        reach += w - 1
    return min(reach, n)


# %%
def windowed_attention(q, k, v, w):
    # one token after the other: w keys each
    out = []
    for i in range(q.shape[2]):
        s = max(0, i - w + 1)
        out.append(masked_attention(q[:, :, i : i + 1], k[:, :, s : i + 1], v[:, :, s : i + 1]))
    return torch.cat(out, dim=2)


# %%
def rolling_cache_step(q, k, v, cache, position):
    keys, values = cache[0].clone(), cache[1].clone()
    w = keys.shape[2]
    slot = position % w
    keys[:, :, slot : slot + 1] = k
    values[:, :, slot : slot + 1] = v
    n = position + 1 if position < w else w
    return masked_attention(q, keys[:, :, :n], values[:, :, :n]), (keys, values)


# %%
def linear_attention(q, k, v, state=None):
    f = lambda x: torch.nn.functional.elu(x) + 1
    if state is None:
        S = torch.zeros(*k.shape[:2], k.shape[-1], v.shape[-1], dtype=v.dtype, device=v.device)
        z = torch.zeros_like(k[:, :, 0])
    else:
        S, z = state
    out = []
    for i in range(q.shape[2]):
        S = S + f(k[:, :, i]).unsqueeze(-1) * v[:, :, i].unsqueeze(-2)
        z = z + f(k[:, :, i])
        a = (f(q[:, :, i]).unsqueeze(-2) @ S).squeeze(-2)
        out.append(a / (f(q[:, :, i]) * z).sum(-1, keepdim=True))
    return torch.stack(out, dim=2), (S, z)
