# The cache and its size are done, the others are as given out.

# %%
def extend_cache(cache, k, v):
    if cache is None:
        return k, v
    return torch.cat((cache[0], k), -2), torch.cat((cache[1], v), -2)

# %%
def cached_attention(q, k, v, cache=None):
    keys, values = extend_cache(cache, k, v)
    return masked_attention(q, keys, values, causal_mask(q.shape[2], keys.shape[2], q.device)), (keys, values)

# %%
def kv_cache_bytes(layers, kv_heads, head_width, tokens, *, batch=1, bytes_per_number=2):
    return 2 * layers * kv_heads * head_width * tokens * batch * bytes_per_number
