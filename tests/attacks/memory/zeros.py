# Asks torch for 40 GB and touches them.
# attacks: attention_cost
# verdicts: memory, exception, exited

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return torch.ones(10**10).sum().item(), n_k
