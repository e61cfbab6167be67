# The first three exercises are done, the others are as given out.

# %%
def position_angles(positions, width, base=10_000.0):
    hands = torch.arange(width // 2, device=positions.device)
    return positions.unsqueeze(-1) * base ** (-2 * hands / width)

# %%
def sinusoidal_encoding(angles):
    code = angles.new_empty(*angles.shape[:-1], 2 * angles.shape[-1])
    code[..., 0::2], code[..., 1::2] = angles.sin(), angles.cos()
    return code

# %%
def shift_matrix(turns):
    size = 2 * len(turns)
    matrix = turns.new_zeros(size, size)
    even = torch.arange(0, size, 2)
    matrix[even, even] = matrix[even + 1, even + 1] = turns.cos()
    matrix[even + 1, even] = turns.sin()
    matrix[even, even + 1] = -turns.sin()
    return matrix
