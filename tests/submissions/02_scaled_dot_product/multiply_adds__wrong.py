# rest: einsum__pass
# hint: attention_cost.once_per_term

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    operations = n_q * n_k * d_k + n_q * n_k * d_v
    return operations, n_q * n_k * bytes_per_number
