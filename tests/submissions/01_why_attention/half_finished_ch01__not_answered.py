# The first three exercises are done, the others are as given out.

# %%
def hard_lookup(q, k, v):
    best = (q @ k.mT).argmax(-1, keepdim=True)
    return v.take_along_dim(best, -2)


# %%
def soft_lookup(q, k, v, sharpness=1.0):
    return F.softmax(sharpness * q @ k.mT, -1) @ v


# %%
def kernel_attention(q, k, v, bandwidth):
    d2 = ((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(-1)
    return F.softmax(-d2 / (2 * bandwidth**2), -1) @ v
