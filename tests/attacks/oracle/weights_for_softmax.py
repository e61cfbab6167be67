# Spoils a later exercise, so that the course's version of it stands in, and gets softmax from that.
# attacks: softmax, attention_weights
# verdicts: wrong, exception, forbidden

# %%
def attention_weights(q, k):
    return q

# %%
def softmax(x, dim=-1):
    x = x.movedim(dim, -1)
    unit = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    q = x.reshape(1, -1, x.shape[-1]) * x.shape[-1] ** 0.5
    return attention_weights(q, unit.unsqueeze(0)).reshape(x.shape).movedim(-1, dim)
