# rest: einsum__pass
# hint: attention_weights.over_queries

# %%
def attention_weights(q, k):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return softmax(scores, dim=-2)

# %%
def scaled_dot_product_attention(q, k, v):
    return softmax(q @ k.mT / math.sqrt(q.shape[-1])) @ v
