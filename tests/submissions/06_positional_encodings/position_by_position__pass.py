# Loops where others broadcast.

# %%
def position_angles(positions, width, base=10_000.0):
    hands = [positions.float() / base ** (2 * i / width) for i in range(width // 2)]
    return torch.stack(hands, dim=-1)

# %%
def sinusoidal_encoding(angles):
    columns = []
    for i in range(angles.shape[-1]):
        columns += [torch.sin(angles[..., i]), torch.cos(angles[..., i])]
    return torch.stack(columns, dim=-1)

# %%
def shift_matrix(turns):
    d = 2 * len(turns)
    matrix = torch.zeros(d, d, dtype=turns.dtype, device=turns.device)
    for i in range(len(turns)):
        c, s = torch.cos(turns[i]), torch.sin(turns[i])
        matrix[2 * i, 2 * i] = c
        matrix[2 * i, 2 * i + 1] = -s
        matrix[2 * i + 1, 2 * i] = s
        matrix[2 * i + 1, 2 * i + 1] = c
    return matrix

# %%
class LearnedPositions(nn.Module):
    def __init__(self, length, d_model):
        super().__init__()
        self.table = nn.Embedding(length, d_model)

    def forward(self, x, start=0):
        places = torch.arange(x.shape[1], device=x.device) + start
        return x + self.table(places)[None]

# %%
def apply_rope(x, angles):
    c, s = angles.cos(), angles.sin()
    out = torch.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * c - x[..., 1::2] * s
    out[..., 1::2] = x[..., 1::2] * c + x[..., 0::2] * s
    return out

# %%
def interleaved_to_half_split(weight, heads):
    width = len(weight) // heads
    parts = []
    for h in range(heads):
        head = weight[h * width : (h + 1) * width]
        parts += [head[0::2], head[1::2]]
    return torch.cat(parts)

# %%
def rotary_attention(q, k, v, angles, cache=None):
    keys, values = (k[:, :, :0], v[:, :, :0]) if cache is None else cache
    answers = []
    for i in range(q.shape[2]):
        own = angles[keys.shape[2]].unsqueeze(0)
        keys = torch.cat([keys, apply_rope(k[:, :, [i]], own)], dim=2)
        values = torch.cat([values, v[:, :, [i]]], dim=2)
        scores = apply_rope(q[:, :, [i]], own) @ keys.transpose(2, 3) / math.sqrt(q.shape[3])
        answers.append(scores.softmax(-1) @ values)
    return torch.cat(answers, dim=2), (keys, values)

# %%
def alibi_slopes(heads):
    power = 1
    while 2 * power <= heads:
        power *= 2
    larger = [2 ** (-8 * i / (2 * power)) for i in range(1, 2 * power + 1)]
    return larger[1::2] + larger[0::2][: heads - power]

# %%
def alibi_bias(slopes, n_q, n_k):
    bias = torch.full((len(slopes), n_q, n_k), -math.inf, dtype=slopes.dtype, device=slopes.device)
    for i in range(n_q):
        for j in range(n_k - n_q + i + 1):
            bias[:, i, j] = slopes * (j - (n_k - n_q + i))
    return bias
