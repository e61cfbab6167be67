# The first four exercises are done, the others are as given out.

# %%
def gelu(x):
    return x * (1 + torch.erf(x / math.sqrt(2))) / 2

# %%
def swish(x, beta=1.0):
    return x * torch.sigmoid(beta * x)

# %%
def dead_units(x, w_in, b_in):
    pre = x @ w_in.T + b_in
    return pre.reshape(-1, pre.shape[-1]).amax(0) <= 0

# %%
def feed_forward(x, weights, activation):
    w_in, b_in, w_out, b_out = weights
    return activation(x @ w_in.T + b_in) @ w_out.T + b_out
