# Patches by unfolding, returns by matrices, sequences by writing into zeros.

# %%
def patchify(pictures, size):
    return nn.functional.unfold(pictures, size, stride=size).transpose(1, 2)


# %%
def grid_code(positions, width):
    return sinusoidal_encoding(position_angles(positions, width))


# %%
def add_grid_positions(tokens, columns):
    index = torch.arange(tokens.size(1), device=tokens.device)
    half = tokens.size(2) // 2
    code = torch.cat([grid_code(index // columns, half), grid_code(index % columns, half)], -1)
    return tokens + code.type_as(tokens)


# %%
class ViT(nn.Module):
    def __init__(self, shape, size, classes, *, d_model, layers, heads):
        super().__init__()
        self.p = size
        numbers, patches = shape[0] * size**2, shape[1] * shape[2] // size**2
        self.embed = nn.Linear(numbers, d_model)
        self.class_token = nn.Parameter(torch.randn(d_model))
        self.positions = nn.Parameter(torch.randn(patches + 1, d_model))
        self.blocks = nn.Sequential(
            *(EncoderBlock(d_model, heads, 2 * d_model) for _ in range(layers))
        )
        self.norm, self.head = RMSNorm(d_model), nn.Linear(d_model, classes)

    def forward(self, pictures):
        patches = self.embed(patchify(pictures, self.p)) + self.positions[1:]
        first = (self.class_token + self.positions[0]).expand(pictures.shape[0], 1, -1)
        seen = self.blocks(torch.cat([first, patches], 1))
        return self.head(self.norm(seen[:, 0]))


# %%
def returns_to_go(rewards, last):
    number = nn.functional.pad(last.long().cumsum(1), (1, -1))
    steps = torch.arange(rewards.shape[1], device=rewards.device)
    counts = (number[:, :, None] == number[:, None, :]) & (steps >= steps[:, None])
    return torch.einsum("btu,bu->bt", counts.to(rewards.dtype), rewards)


# %%
def remaining_returns(target, rewards):
    got = nn.functional.pad(rewards.cumsum(-1), (1, 0))
    return target.unsqueeze(-1) - got


# %%
def interleave_tokens(*kinds):
    b, n, d = kinds[0].shape
    out = torch.zeros(b, n, len(kinds), d, dtype=kinds[0].dtype, device=kinds[0].device)
    for i, kind in enumerate(kinds):
        out[:, :, i] = kind
    return out.reshape(b, -1, d)


# %%
class DecisionTransformer(nn.Module):
    def __init__(self, state_width, actions, d_model, *, layers, heads, steps):
        super().__init__()
        self.embed_return, self.embed_state = nn.Linear(1, d_model), nn.Linear(state_width, d_model)
        self.embed_action, self.embed_step = (nn.Embedding(n, d_model) for n in (actions, steps))
        self.blocks = nn.ModuleList(DecoderBlock(d_model, heads, 2 * d_model) for _ in range(layers))
        self.norm, self.head = RMSNorm(d_model), nn.Linear(d_model, actions)

    def forward(self, returns, states, chosen, steps):
        t = self.embed_step(steps)
        kinds = self.embed_return(returns[..., None]), self.embed_state(states)
        x = interleave_tokens(*(k + t for k in (*kinds, self.embed_action(chosen))))
        for block in self.blocks:
            x = block(x)[0]
        return self.head(self.norm(x[:, 1::3]))
