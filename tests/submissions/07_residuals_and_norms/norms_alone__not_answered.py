# The functions are there, the modules and blocks are as given out.

# %%
def standardise(x, dims, eps=1e-5):
    centred = x - x.mean(dims, keepdim=True)
    return centred / (centred.pow(2).mean(dims, keepdim=True) + eps).sqrt()

# %%
def layer_norm(x, weight, bias, eps=1e-5):
    wide = x if x.dtype == torch.float64 else x.float()
    return (standardise(wide, -1, eps) * weight + bias).to(x.dtype)

# %%
def rms_norm(x, weight, eps=1e-6):
    wide = x if x.dtype == torch.float64 else x.float()
    return (wide / (wide.pow(2).mean(-1, keepdim=True) + eps).sqrt() * weight).to(x.dtype)
