# Spoils attention and gets the weights from the course's version of it.
# attacks: attention_weights, scaled_dot_product_attention
# verdicts: wrong, exception, forbidden

# %%
def attention_weights(q, k):
    unit = torch.eye(k.shape[-2], dtype=k.dtype, device=k.device)
    values = unit.expand(*k.shape[:-1], k.shape[-2])
    return scaled_dot_product_attention(q, k, values)

# %%
def scaled_dot_product_attention(q, k, v):
    return q
