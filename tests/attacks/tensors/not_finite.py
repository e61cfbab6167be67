# Answers NaN and infinity, for which many comparisons come out as "no difference".
# attacks: softmax_jacobian, product_moments, attention_cost
# verdicts: wrong

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return float("nan"), float("inf")

# %%
def softmax_jacobian(p):
    return torch.full((*p.shape, p.shape[-1]), float("nan"), dtype=p.dtype, device=p.device)

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return float("-inf"), float("nan")
