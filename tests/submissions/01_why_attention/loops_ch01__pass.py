# One after another, with einsum where it helps.

# %%
def hard_lookup(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = torch.einsum("...lk,...mk->...lm", q, k)
    place = scores.max(dim=-1).indices
    chosen = F.one_hot(place, num_classes=k.size(-2)).to(dtype=v.dtype)
    return torch.einsum("...lm,...mw->...lw", chosen, v)


# %%
def soft_lookup(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    scores = torch.einsum("...lk,...mk->...lm", q, k) * sharpness
    top = scores.amax(dim=-1, keepdim=True)
    e = torch.exp(scores - top)
    return torch.einsum("...lm,...mw->...lw", e, v) / e.sum(dim=-1, keepdim=True)


# %%
def squared_distances(a, b):
    total = 0
    for f in range(a.shape[-1]):
        difference = a[..., f].unsqueeze(-1) - b[..., f].unsqueeze(-2)
        total = total + difference * difference
    return total


def kernel_attention(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    d2 = squared_distances(q, k)
    nearest = d2.min(dim=-1, keepdim=True).values
    kernel = torch.exp((nearest - d2) / (2 * bandwidth * bandwidth))
    return torch.matmul(kernel / kernel.sum(dim=-1, keepdim=True), v)


# %%
def local_attention_weights(scores: Tensor, radius: int) -> Tensor:
    rows = []
    count = scores.shape[-1]
    for i in range(scores.shape[-2]):
        first, last = max(i - radius, 0), min(i + radius, count - 1)
        seen = torch.softmax(scores[..., i, first : last + 1], dim=-1)
        rows.append(F.pad(seen, (first, count - 1 - last)))
    return torch.stack(rows, dim=-2)


# %%
def additive_scores(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    keys = torch.matmul(k, w_k)
    columns = []
    for one in torch.matmul(q, w_q).unbind(dim=-2):
        columns.append((torch.tanh(keys + one.unsqueeze(-2)) * u).sum(dim=-1))
    return torch.stack(columns, dim=-2)


# %%
def message_passing(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    heard = []
    for i in range(scores.shape[-1]):
        who = edges[i]
        if who.any():
            weights = torch.softmax(scores[..., i, who], dim=-1)
            mean = (weights.unsqueeze(-1) * messages[..., who, :]).sum(dim=-2)
        else:
            mean = torch.zeros_like(messages[..., i, :])
        heard.append(mean)
    return torch.stack(heard, dim=-2)
