# Changes its inputs in place, by every alias, so that the right answer becomes what it returns.
# attacks: scaled_dot_product_attention
# verdicts: wrong, exception

# %%
def scaled_dot_product_attention(q, k, v):
    with torch.no_grad():
        for one in (q, k, v):
            one.data.zero_()
    return torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype, device=q.device)
