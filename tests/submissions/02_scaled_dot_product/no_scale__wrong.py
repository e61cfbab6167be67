# rest: einsum__pass
# hint: attention_weights.no_scale

# %%
def attention_weights(q, k):
    return softmax(q @ k.mT)

# %%
def scaled_dot_product_attention(q, k, v):
    return softmax(q @ k.mT / math.sqrt(q.shape[-1])) @ v
