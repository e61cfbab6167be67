# Answers lists of tensors, whose comparison with == is neither true nor false.
# attacks: attention_cost, product_moments, softmax_jacobian
# verdicts: wrong

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return [torch.ones(2), torch.ones(2)]

# %%
def softmax_jacobian(p):
    return [p, p]

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return [torch.tensor([1.0, 2.0]), {"a": torch.ones(2)}]
