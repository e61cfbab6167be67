# The filters and the draw are there; the loops are left for another day.

# %%
def apply_temperature(logits, temperature):
    if temperature == 0:
        return logits.masked_fill(logits < logits.max(-1, keepdim=True).values, -torch.inf)
    return logits / temperature


# %%
def top_k_filter(logits, k):
    least = logits.sort(-1, descending=True).values[..., :k][..., -1:]
    return torch.where(logits >= least, logits, -torch.inf)


# %%
def sample_token(logits, uniform):
    sums = logits.softmax(-1).cumsum(-1)
    return (sums <= uniform[..., None] * sums[..., -1:]).sum(-1)
