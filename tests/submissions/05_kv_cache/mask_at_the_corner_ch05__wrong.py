# A causal mask that begins at the top left corner.
# rest: direct_ch05__pass
# hint: cached_attention.top_left

# %%
def cached_attention(q, k, v, cache=None):
    keys, values = extend_cache(cache, k, v)
    seen = torch.ones(q.shape[2], keys.shape[2], dtype=torch.bool, device=q.device).tril()
    return masked_attention(q, keys, values, seen), (keys, values)
