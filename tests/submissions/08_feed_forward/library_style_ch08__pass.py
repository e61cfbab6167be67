# As in libraries: functional forms, layers made in the constructor.

# %%
def gelu(x):
    return 0.5 * x * (1.0 + torch.erf(x * 0.7071067811865476))

# %%
def swish(x, beta=1.0):
    return x * (x * beta).sigmoid()

# %%
def dead_units(x, w_in, b_in):
    pre = functional.linear(x, w_in, b_in)
    return (pre <= 0).flatten(0, -2).all(0) if pre.ndim > 1 else pre <= 0

# %%
def feed_forward(x, weights, activation):
    up, up_bias, down, down_bias = weights
    return functional.linear(activation(functional.linear(x, up, up_bias)), down, down_bias)

# %%
def glu(fused, activation):
    half = fused.size(-1) // 2
    return activation(fused[..., :half]) * fused[..., half:]

# %%
def matched_hidden_width(d_ff, multiple=1):
    return math.ceil(2 * d_ff / 3 / multiple) * multiple

# %%
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w_gate = nn.Linear(d_model, d_ff, bias=False)
        self.w_up = nn.Linear(d_model, d_ff, bias=False)
        self.w_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.w_down(functional.silu(self.w_gate(x)) * self.w_up(x))
