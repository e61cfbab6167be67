# rest: loops_ch10__pass
# hint: windowed_attention.behind_a_mask

# %%
def windowed_attention(q, k, v, w):
    n = q.shape[2]
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    hidden = ~window_mask(n, n, w, q.device)
    return scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v
