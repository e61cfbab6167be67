# Up to the layers; the rest is left for another day.

# %%
def window_mask(n_q, n_k, w, device="cpu"):
    i = torch.arange(n_k - n_q, n_k, device=device)[:, None]
    j = torch.arange(n_k, device=device)
    return (j <= i) & (i - j < w)


# %%
def sparse_mask(n, w, sinks, stride, device="cpu"):
    d = torch.arange(n, device=device)[:, None] - torch.arange(n, device=device)
    first = torch.arange(n, device=device) < sinks
    return ((d < w) | first | (d % stride == 0)).tril()


# %%
def layer_windows(layers, w, every):
    return [w if (i + 1) % every else None for i in range(layers)]


# %%
def receptive_field(windows, n):
    return min([n] + [1 + sum(w - 1 for w in windows)] if all(windows) else [n])
