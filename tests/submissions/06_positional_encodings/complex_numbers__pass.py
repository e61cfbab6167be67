# Turning is a product of complex numbers.

# %%
def position_angles(positions, width, base=10_000.0):
    speeds = torch.exp(-math.log(base) * torch.arange(0, width, 2, device=positions.device) / width)
    return positions[..., None] * speeds

# %%
def sinusoidal_encoding(angles):
    return torch.cat([angles.sin()[..., None], angles.cos()[..., None]], -1).flatten(-2)

# %%
def shift_matrix(turns):
    eye = torch.eye(len(turns), dtype=turns.dtype, device=turns.device)
    quarter = torch.tensor([[0, -1], [1, 0]], dtype=turns.dtype, device=turns.device)
    stay = torch.eye(2, dtype=turns.dtype, device=turns.device)
    return torch.kron(eye * turns.cos(), stay) + torch.kron(eye * turns.sin(), quarter)

# %%
class LearnedPositions(nn.Module):
    def __init__(self, length, d_model):
        super().__init__()
        self.table = nn.Embedding(length, d_model)

    def forward(self, x, start=0):
        return x + self.table.weight[start : start + x.shape[1]]

# %%
def apply_rope(x, angles):
    numbers = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    turned = numbers * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)

# %%
def interleaved_to_half_split(weight, heads):
    rows = torch.arange(len(weight), device=weight.device).reshape(heads, -1, 2)
    return weight[rows.transpose(1, 2).flatten()]

# %%
def rotary_attention(q, k, v, angles, cache=None):
    start = cache[0].shape[2] if cache else 0
    own = angles[start : start + q.shape[2]]
    q, k = apply_rope(q, own), apply_rope(k, own)
    if cache:
        k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
    place = torch.arange(k.shape[2], device=q.device)
    mask = place <= place[start:, None]
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask), (k, v)

# %%
def alibi_slopes(heads):
    power = 2 ** int(math.log2(heads))
    first = torch.arange(1, power + 1) / power
    rest = torch.arange(1, 2 * power, 2)[: heads - power] / (2 * power)
    return 2.0 ** (-8 * torch.cat([first, rest]))

# %%
def alibi_bias(slopes, n_q, n_k):
    place = torch.arange(n_k, device=slopes.device)
    back = place[n_k - n_q :, None] - place
    return torch.where(back < 0, -math.inf, -slopes[:, None, None] * back)
