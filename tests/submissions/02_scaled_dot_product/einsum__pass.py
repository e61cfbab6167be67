# Everything by einsum.

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    second_q = var_q + mean_q**2
    second_k = var_k + mean_k**2
    return d_k * mean_q * mean_k, d_k * (second_q * second_k - (mean_q * mean_k) ** 2)

# %%
def softmax(x, dim=-1):
    e = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return e / e.sum(dim=dim, keepdim=True)

# %%
def attention_weights(q, k):
    scores = torch.einsum("...lk,...mk->...lm", q, k)
    return softmax(scores * q.shape[-1] ** -0.5)

# %%
def softmax_jacobian(p):
    eye = torch.eye(p.shape[-1], dtype=p.dtype, device=p.device)
    return torch.einsum("...j,jm->...jm", p, eye) - torch.einsum("...j,...m->...jm", p, p)

# %%
def scaled_dot_product_attention(q, k, v):
    return torch.einsum("...lm,...mw->...lw", attention_weights(q, k), v)

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return n_q * n_k * 2 * (d_k + d_v), n_q * n_k * bytes_per_number
