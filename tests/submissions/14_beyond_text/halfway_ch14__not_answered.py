# The decisions are left for another day.

# %%
def patchify(pictures, size):
    b, c, h, w = pictures.shape
    x = pictures.view(b, c, h // size, size, w // size, size)
    return x.permute(0, 2, 4, 1, 3, 5).reshape(b, (h // size) * (w // size), c * size * size)


# %%
def add_grid_positions(tokens, columns):
    i = torch.arange(tokens.shape[1], device=tokens.device)
    half = tokens.shape[2] // 2
    row = sinusoidal_encoding(position_angles(i // columns, half))
    column = sinusoidal_encoding(position_angles(i % columns, half))
    return tokens + torch.cat([row, column], dim=-1).to(tokens.dtype)
