# Answers tensors of the right shape on the device that has no numbers.
# attacks: softmax_jacobian, attention_cost
# verdicts: wrong

# %%
def softmax_jacobian(p):
    return torch.empty(*p.shape, p.shape[-1], dtype=p.dtype, device="meta")

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return torch.empty(2, device="meta")
