# Everything spelt out, with helpers of its own and annotations.

# %%
def gelu(x):
    standard = torch.distributions.Normal(torch.zeros_like(x), torch.ones_like(x))
    return x * standard.cdf(x)

# %%
def gate_of(z):
    return (1 + torch.tanh(z / 2)) / 2

# %%
def swish(x: Tensor, beta: float = 1.0) -> Tensor:
    return x * gate_of(beta * x)

# %%
def dead_units(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    columns = []
    for weights, bias in zip(w_in, b_in):
        columns.append(~((x @ weights + bias) > 0).any())
    return torch.stack(columns)

# %%
def feed_forward(x, weights, activation):
    w_in, b_in, w_out, b_out = weights
    total = b_out
    for i in range(len(b_in)):
        fires = activation(x @ w_in[i] + b_in[i])
        total = total + fires.unsqueeze(-1) * w_out[:, i]
    return total

# %%
def glu(fused: Tensor, activation: Callable[[Tensor], Tensor]) -> Tensor:
    gate, value = torch.tensor_split(fused, 2, dim=-1)
    return value * activation(gate)

# %%
def matched_hidden_width(d_ff: int, multiple: int = 1) -> int:
    width = multiple
    while 3 * width < 2 * d_ff:
        width += multiple
    return width

# %%
class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_down = nn.Linear(d_ff, d_model, bias=False)
        self.w_up, self.w_gate = [nn.Linear(d_model, d_ff, bias=False) for _ in range(2)]

    def forward(self, x: Tensor) -> Tensor:
        return self.w_down(glu(torch.cat([self.w_gate(x), self.w_up(x)], dim=-1), swish))
