# rest: complex_numbers__pass
# hint: rotary_attention.starts_at_zero

# %%
def rotary_attention(q, k, v, angles, cache=None):
    own = angles[: q.shape[2]]
    q, k = apply_rope(q, own), apply_rope(k, own)
    if cache is not None:
        k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
    mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device)
    mask = mask.tril(k.shape[2] - q.shape[2])
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask), (k, v)
