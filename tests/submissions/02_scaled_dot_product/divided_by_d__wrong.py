# rest: einsum__pass
# hint: attention_weights.divided_by_width

# %%
def attention_weights(q, k):
    d = q.shape[-1]
    return softmax(q @ k.transpose(-2, -1) / d)

# %%
def scaled_dot_product_attention(q, k, v):
    return softmax(q @ k.mT / math.sqrt(q.shape[-1])) @ v
