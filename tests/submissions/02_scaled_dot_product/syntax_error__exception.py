# rest: einsum__pass

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    flops = 2 * n_q * n_k * (d_k + d_v
    return flops, n_q * n_k * bytes_per_number
