# %%
def patchify(pictures, size):
    b, c, rows, columns = pictures.shape
    patches = []
    for i in range(rows // size):
        for j in range(columns // size):
            piece = pictures[:, :, i * size : (i + 1) * size, j * size : (j + 1) * size]
            patches.append(piece.reshape(b, c * size * size))
    return torch.stack(patches, dim=1)


# %%
def add_grid_positions(tokens, columns):
    half = tokens.shape[-1] // 2
    out = tokens.clone()
    for i in range(tokens.shape[1]):
        place = torch.tensor([i // columns, i % columns], device=tokens.device)
        code = sinusoidal_encoding(position_angles(place, half)).to(tokens.dtype)
        out[:, i] = tokens[:, i] + torch.cat([code[0], code[1]])
    return out


# %%
class ViT(nn.Module):
    def __init__(self, shape, size, classes, *, d_model, layers, heads):
        super().__init__()
        channels, rows, columns = shape
        self.size = size
        count = (rows // size) * (columns // size)
        self.embed = nn.Linear(channels * size * size, d_model)
        self.class_token = nn.Parameter(torch.zeros(d_model))
        self.positions = nn.Parameter(torch.randn(count + 1, d_model) * 0.02)
        self.blocks = nn.ModuleList()
        for _ in range(layers):
            self.blocks.append(EncoderBlock(d_model, heads, 2 * d_model))
        self.norm = RMSNorm(d_model)
        self.head = nn.Linear(d_model, classes)

    def forward(self, pictures):
        tokens = self.embed(patchify(pictures, self.size))
        ask = self.class_token.repeat(tokens.shape[0], 1, 1)
        x = torch.cat((ask, tokens), dim=1)
        x = x + self.positions
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return self.head(x[:, 0])


# %%
def returns_to_go(rewards, last):
    out = torch.zeros_like(rewards)
    for t in reversed(range(rewards.shape[1])):
        out[:, t] = rewards[:, t]
        if t + 1 < rewards.shape[1]:
            out[:, t] += torch.where(last[:, t], 0, out[:, t + 1])
    return out


# %%
def remaining_returns(target, rewards):
    left = [target]
    for t in range(rewards.shape[1]):
        left.append(left[-1] - rewards[:, t])
    return torch.stack(left, dim=1)


# %%
def interleave_tokens(*kinds):
    tokens = []
    for t in range(kinds[0].shape[1]):
        for kind in kinds:
            tokens.append(kind[:, t])
    return torch.stack(tokens, dim=1)


# %%
class DecisionTransformer(nn.Module):
    def __init__(self, state_width, actions, d_model, *, layers, heads, steps):
        super().__init__()
        self.embed_return = nn.Linear(1, d_model)
        self.embed_state = nn.Linear(state_width, d_model)
        self.embed_action = nn.Embedding(actions, d_model)
        self.embed_step = nn.Embedding(steps, d_model)
        self.blocks = nn.ModuleList(
            [DecoderBlock(d_model, heads, 2 * d_model) for _ in range(layers)]
        )
        self.norm = RMSNorm(d_model)
        self.head = nn.Linear(d_model, actions)

    def forward(self, returns, states, chosen, steps):
        b, n = returns.shape
        time = self.embed_step(steps)
        r = self.embed_return(returns.unsqueeze(-1)) + time
        s = self.embed_state(states) + time
        a = self.embed_action(chosen) + time
        x = interleave_tokens(r, s, a)
        for block in self.blocks:
            x, cache = block(x)
        x = self.head(self.norm(x)).reshape(b, n, 3, -1)
        return x[:, :, 1]
