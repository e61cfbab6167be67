# Answers with gigabytes that take no memory until they are written out.
# attacks: attention_cost, softmax_jacobian
# verdicts: wrong, memory, output, exited, exception, time

# %%
def softmax_jacobian(p):
    return torch.zeros(1).expand(10**6, 10**6)

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return [["x" * 10**6] * 10**5] * 10**5
