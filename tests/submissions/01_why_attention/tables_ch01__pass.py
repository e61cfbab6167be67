# All at once, with masks and tables.

# %%
def hard_lookup(q, k, v):
    best = (q @ k.transpose(-1, -2)).argmax(-1, keepdim=True)
    return torch.take_along_dim(v, best, dim=-2)


# %%
def soft_lookup(q, k, v, sharpness=1.0):
    weights = (sharpness * (q @ k.transpose(-1, -2))).softmax(-1)
    return weights @ v


# %%
def kernel_attention(q, k, v, bandwidth):
    apart = q.unsqueeze(-2) - k.unsqueeze(-3)
    exponent = -apart.square().sum(-1) / (2 * bandwidth**2)
    return exponent.softmax(-1) @ v


# %%
def local_attention_weights(scores, radius):
    rows, columns = scores.shape[-2:]
    i = torch.arange(rows, device=scores.device)[:, None]
    j = torch.arange(columns, device=scores.device)
    far = (i - j).abs() > radius
    return scores.masked_fill(far, -math.inf).softmax(-1)


# %%
def additive_scores(q, k, w_q, w_k, u):
    table = (q @ w_q).unsqueeze(-2) + (k @ w_k).unsqueeze(-3)
    return torch.tanh(table) @ u


# %%
def message_passing(scores, messages, edges):
    deaf = ~edges.any(-1, keepdim=True)
    safe = scores.masked_fill(~(edges | deaf), -math.inf)
    weights = safe.softmax(-1).masked_fill(deaf, 0.0)
    return weights @ messages
