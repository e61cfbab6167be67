"""Changed answers of chapter 14 that compute the same function, and why.

The changed line, exactly as it is printed -> the reason.
"""

SIGN = "a sign does not change a shape, dtype or device"
SUM = "a sum has no order"
PRODUCT = "a product of numbers has no order"
AXES = "the same axis, counted from the other end"
LAST = "of two axes, the second is the last"
EQUAL = "numbers of episodes are compared with each other alone"
LATER = "only later steps count, and no later step has a smaller number"
WHOLE = "a whole number as a float is the same width"

INITIAL = "the model may begin with any weights"

# The class token and the positions of a ViT: drawn in one line each.
FIRST = (
    "0.02 + {}",
    "0.02 - {}",
    "0.02 / {}",
    "0.02 // {}",
    "0.02 % {}",
    "0.02 ** {}",
    "{}",
    "{} * 0.02",
    "-(0.02 * {})",
    "-0.98 * {}",
    "1.02 * {}",
    "-0.02 * {}",
    "0.02 * -{}",
)
TOKEN, TABLE = "torch.randn(d_model)", "torch.randn(1 + patches, d_model)"

EQUIVALENT: dict[str, dict[str, str]] = {
    "patchify": {
        "batch, channels, rows, columns = (-pictures).shape": SIGN,
        "together = cut.permute(0, 2, 4, 1, -3, 5)": AXES,
        "return together.flatten(-3).flatten(1, 2)": AXES,
        "return together.flatten(3).flatten(1, -2)": AXES,
    },
    "add_grid_positions": {
        "place = torch.arange((-tokens).shape[1], device=tokens.device)": SIGN,
        "place = torch.arange(tokens.shape[1], device=(-tokens).device)": SIGN,
        "grid = torch.stack([place // columns, place % columns], 1)": LAST,
        "angles = position_angles(grid, tokens.shape[2] / 2)": WHOLE,
        "angles = position_angles(grid, (-tokens).shape[2] // 2)": SIGN,
        "return code.to(tokens.dtype) + tokens": SUM,
        "return tokens + code.to((-tokens).dtype)": SIGN,
    },
    "returns_to_go": {
        "episode = last.long() - last.cumsum(1)": EQUAL,
        "episode = -(last.cumsum(1) - last.long())": EQUAL,
        "episode = last.cumsum(-1) - last.long()": LAST,
        "same = episode[:, :, None] >= episode[:, None, :]": LATER,
        "return (rewards[:, None, :] * to_come).sum(2)": PRODUCT,
    },
    "remaining_returns": {
        "return torch.cat([whole, whole - rewards.cumsum(-1)], dim=1)": LAST,
        "return torch.cat([whole, whole - rewards.cumsum(1)], dim=-1)": LAST,
    },
    "interleave_tokens": {
        "return torch.stack(kinds, dim=-2).flatten(1, 2)": AXES,
        "return torch.stack(kinds, dim=2).flatten(1, -2)": AXES,
    },
    "ViT": {
        **{f"self.class_token = nn.Parameter({one.format(TOKEN)})": INITIAL for one in FIRST},
        **{f"self.positions = nn.Parameter({one.format(TABLE)})": INITIAL for one in FIRST},
        "patches = columns // size * (rows // size)": PRODUCT,
        "self.embed = nn.Linear(size ** 2 * channels, d_model)": PRODUCT,
        "self.embed = nn.Linear(channels * (-size) ** 2, d_model)": "a square has no sign",
        "self.positions = nn.Parameter(0.02 * torch.randn(patches + 1, d_model))": SUM,
        "self.blocks = nn.ModuleList((EncoderBlock(d_model, heads, d_model * 2)"
        " for _ in range(layers)))": PRODUCT,
        "first = self.class_token.expand(len(pictures), 1, -1)": "as many as patches: a batch",
        "first = self.class_token.expand(len(-patches), 1, -1)": SIGN,
        "x = self.positions + torch.cat([first, patches], dim=1)": SUM,
    },
    "DecisionTransformer": {
        "self.blocks = nn.ModuleList((DecoderBlock(d_model, heads, d_model * 2)"
        " for _ in range(layers)))": PRODUCT,
        "wanted = when + self.embed_return(returns[..., None])": SUM,
        "seen = when + self.embed_state(states)": SUM,
        "done = when + self.embed_action(chosen)": SUM,
    },
}
