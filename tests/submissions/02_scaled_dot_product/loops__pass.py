# One entry after another, nothing clever.

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    mean = 0.0
    variance = 0.0
    for _ in range(d_k):
        mean += mean_q * mean_k
        variance += var_q * var_k + var_q * mean_k**2 + var_k * mean_q**2
    return mean, variance

# %%
def softmax(x, dim=-1):
    largest = x.max(dim=dim, keepdim=True).values
    powers = torch.exp(x - largest)
    total = torch.zeros_like(largest)
    for i in range(x.shape[dim]):
        total = total + powers.select(dim, i).unsqueeze(dim)
    return powers / total

# %%
def attention_weights(q, k):
    rows = []
    for i in range(q.shape[-2]):
        query = q[..., i, :]
        scores = []
        for j in range(k.shape[-2]):
            scores.append((query * k[..., j, :]).sum(-1) / math.sqrt(q.shape[-1]))
        rows.append(softmax(torch.stack(scores, dim=-1)))
    return torch.stack(rows, dim=-2)

# %%
def softmax_jacobian(p):
    rows = []
    for j in range(p.shape[-1]):
        row = []
        for m in range(p.shape[-1]):
            same = 1.0 if j == m else 0.0
            row.append(p[..., j] * (same - p[..., m]))
        rows.append(torch.stack(row, dim=-1))
    return torch.stack(rows, dim=-2)

# %%
def scaled_dot_product_attention(q, k, v):
    weights = attention_weights(q, k)
    answers = []
    for i in range(q.shape[-2]):
        answer = 0
        for j in range(k.shape[-2]):
            answer = answer + weights[..., i, j].unsqueeze(-1) * v[..., j, :]
        answers.append(answer)
    return torch.stack(answers, dim=-2)

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    flops = 0
    flops += n_q * n_k * d_k * 2
    flops += n_q * d_v * n_k * 2
    return flops, n_q * n_k * bytes_per_number
