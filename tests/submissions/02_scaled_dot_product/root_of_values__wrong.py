# rest: einsum__pass
# hint: scaled_dot_product_attention.root_of_values

# %%
def scaled_dot_product_attention(q, k, v):
    scores = q @ k.mT / math.sqrt(v.shape[-1])
    return softmax(scores) @ v
