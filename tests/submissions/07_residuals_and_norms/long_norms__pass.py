# Written out at length: loops, sums, three paths, no exercise leans on another.

# %%
def standardise(x, dims, eps=1e-5):
    axes = [dims] if isinstance(dims, int) else list(dims)
    count = 1
    for axis in axes:
        count = count * x.shape[axis]
    mean = x.sum(axes, keepdim=True) / count
    squares = ((x - mean) ** 2).sum(axes, keepdim=True)
    return (x - mean) / (squares / count + eps) ** 0.5

# %%
def layer_norm(x, weight, bias, eps=1e-5):
    d = x.shape[-1]
    rows = []
    for row in x.reshape(-1, d).to(torch.float64):
        centred = row - row.sum() / d
        root = torch.sqrt((centred * centred).sum() / d + eps)
        rows.append(centred / root * weight + bias)
    return torch.stack(rows).reshape(x.shape).to(x.dtype)

# %%
def rms_norm(x, weight, eps=1e-6):
    length = torch.linalg.vector_norm(x.double(), dim=-1, keepdim=True)
    root = torch.sqrt(length**2 / x.shape[-1] + eps)
    return (x.double() / root * weight.double()).to(x.dtype)

# %%
class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_model))
        self.bias = nn.Parameter(torch.empty(d_model))
        self.epsilon = eps
        nn.init.constant_(self.weight, 1.0)
        nn.init.constant_(self.bias, 0.0)

    def forward(self, x):
        wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        centred = wide - wide.mean(dim=-1, keepdim=True)
        variance = centred.pow(2).mean(dim=-1, keepdim=True)
        out = self.weight * (centred / torch.sqrt(variance + self.epsilon)) + self.bias
        return out.to(x.dtype)

# %%
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.variance_epsilon = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, hidden_states):
        dtype = hidden_states.dtype
        hidden_states = hidden_states.to(torch.promote_types(dtype, torch.float32))
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        return (self.weight * hidden_states.to(dtype)).to(dtype)

# %%
def layer_norm_backward(grad, x, weight, eps=1e-5):
    d = x.shape[-1]
    centred = x - x.mean(-1, keepdim=True)
    inverse = 1 / torch.sqrt((centred**2).mean(-1, keepdim=True) + eps)
    in_y = grad * weight
    in_variance = -0.5 * inverse**3 * (in_y * centred).sum(-1, keepdim=True)
    in_mean = -inverse * in_y.sum(-1, keepdim=True)
    in_x = in_y * inverse + in_variance * 2 * centred / d + in_mean / d
    in_weight, in_bias = torch.zeros_like(weight), torch.zeros_like(weight)
    rows = (grad * centred * inverse).reshape(-1, d)
    for row, one in zip(rows, grad.reshape(-1, d)):
        in_weight = in_weight + row
        in_bias = in_bias + one
    return [in_x, in_weight, in_bias]

# %%
def post_norm_block(x, attend, feed_forward, gains):
    first_gain, second_gain = gains
    heard = attend(x)
    middle = rms_norm(heard + x, first_gain, 1e-6)
    computed = feed_forward(middle)
    return rms_norm(computed + middle, second_gain, 1e-6)

# %%
def pre_norm_block(x, attend, feed_forward, gains):
    residual = x
    hidden = attend(rms_norm(x, gains[0]))
    hidden = residual + hidden
    residual = hidden
    hidden = feed_forward(rms_norm(hidden, gains[1]))
    return residual + hidden
