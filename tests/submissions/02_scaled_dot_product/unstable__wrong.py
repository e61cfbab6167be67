# rest: einsum__pass
# hint: softmax.no_shift

# %%
def softmax(x, dim=-1):
    e = torch.exp(x)
    return e / e.sum(dim=dim, keepdim=True)

# %%
def safe_softmax(x):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)

# %%
def attention_weights(q, k):
    return safe_softmax(q @ k.mT / math.sqrt(q.shape[-1]))
