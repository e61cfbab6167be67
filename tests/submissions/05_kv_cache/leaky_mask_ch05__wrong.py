# A mask that fills with a low number, good for small scores alone.
# rest: direct_ch05__pass
# hint: grouped_query_attention.fill_not_low_enough

# %%
def grouped_query_attention(q, k, v, mask=None):
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        return scores.softmax(-1) @ v
    weights = scores.masked_fill(~mask, -10_000.0).softmax(-1)
    return weights @ v * mask.any(-1, keepdim=True)
