# One line each; written by someone used to numpy.

# %%
import numpy as np

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k): return (
    d_k * mean_q * mean_k,
    d_k * float(np.dot([var_q, var_q, mean_q**2], [var_k, mean_k**2, var_k])),
)

# %%
def stable_exp(x, axis):
    return (x - x.amax(axis, True)).exp()

# %%
def softmax(x, dim=-1): return (lambda e: e / e.sum(dim, True))(stable_exp(x, dim))

# %%
def attention_weights(q, k): return softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]).item())

# %%
def softmax_jacobian(p): return p.diag_embed() - p[..., :, None] * p[..., None, :]

# %%
def scaled_dot_product_attention(q, k, v): return attention_weights(q, k) @ v

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4): return 2 * n_q * n_k * (d_k + d_v), n_q * n_k * bytes_per_number
