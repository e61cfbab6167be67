"""Changed answers of chapter 05 that compute the same function, and why.

The changed line, exactly as it is printed -> the reason.
"""

PRODUCT = "a product of numbers has no order"
SIGN = "a sign does not change a shape, nor a device"
FROM_BEHIND = "of four axes, the third is the last but one"
AS_MANY = "there are as many new keys and values as new queries, all on one device"
IN_PAIRS = "there are as many values as keys"
LAST = "of two axes, the second is the last"
SQUARE = "the matrix is square"
EQUIVALENT: dict[str, dict[str, str]] = {
    "extend_cache": {
        "return (torch.cat([keys, k], dim=-2), torch.cat([values, v], dim=2))": FROM_BEHIND,
        "return (torch.cat([keys, k], dim=2), torch.cat([values, v], dim=-2))": FROM_BEHIND,
    },
    "cached_attention": {
        "mask = causal_mask(k.shape[2], keys.shape[2], q.device)": AS_MANY,
        "mask = causal_mask(v.shape[2], keys.shape[2], q.device)": AS_MANY,
        "mask = causal_mask((-q).shape[2], keys.shape[2], q.device)": SIGN,
        "mask = causal_mask(q.shape[-2], keys.shape[2], q.device)": FROM_BEHIND,
        "mask = causal_mask(q.shape[2], keys.shape[-2], q.device)": FROM_BEHIND,
        "mask = causal_mask(q.shape[2], keys.shape[2], k.device)": AS_MANY,
        "mask = causal_mask(q.shape[2], keys.shape[2], v.device)": AS_MANY,
        "mask = causal_mask(q.shape[2], keys.shape[2], (-q).device)": SIGN,
    },
    "kv_cache_bytes": {
        "numbers = batch * (2 * layers * kv_heads * head_width * tokens)": PRODUCT,
        "numbers = tokens * (2 * layers * kv_heads * head_width) * batch": PRODUCT,
        "numbers = head_width * (2 * layers * kv_heads) * tokens * batch": PRODUCT,
        "numbers = kv_heads * (2 * layers) * head_width * tokens * batch": PRODUCT,
        "numbers = layers * 2 * kv_heads * head_width * tokens * batch": PRODUCT,
        "return bytes_per_number * numbers": PRODUCT,
    },
    "grouped_query_attention": {
        "share = (-q).shape[1] // k.shape[1]": SIGN,
        "share = q.shape[1] // v.shape[1]": IN_PAIRS,
        "share = q.shape[1] // (-k).shape[1]": SIGN,
    },
    "pool_kv_heads": {
        "groups = w.reshape(kv_heads, share, -1, (-w).shape[-1])": SIGN,
        "groups = w.reshape(kv_heads, share, -1, w.shape[-2])": SQUARE,
        "groups = w.reshape(kv_heads, share, -1, w.shape[0])": SQUARE,
        "groups = w.reshape(kv_heads, share, -1, w.shape[1])": LAST,
    },
    "GroupedQueryAttention": {
        "shared = d_model // heads * kv_heads": PRODUCT,
        "mask = causal_mask((-x).shape[1], keys.shape[2], x.device)": SIGN,
        "mask = causal_mask(x.shape[1], keys.shape[-2], x.device)": FROM_BEHIND,
        "mask = causal_mask(x.shape[1], keys.shape[2], k.device)": AS_MANY,
        "mask = causal_mask(x.shape[1], keys.shape[2], v.device)": AS_MANY,
        "mask = causal_mask(x.shape[1], keys.shape[2], q.device)": AS_MANY,
        "mask = causal_mask(x.shape[1], keys.shape[2], (-x).device)": SIGN,
    },
}
