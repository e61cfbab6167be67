"""Changed answers of chapter 06 that compute the same function, and why.

The changed line, exactly as it is printed -> the reason.
"""

SUM = "a sum has no order"
PRODUCT = "a product of numbers has no order"
EVEN = "the cosine of an angle has no sign"
SIGN = "a sign does not change a shape, a dtype, nor a device"
ZERO = "0 and -0 are the same number"
SQUARE = "the matrix is square"
EXCHANGE = "an exchange has no order, and next to each other it is a move"
FROM_BEHIND = "of four axes, one can be counted from behind"
AS_MANY = "there are as many new keys and values as new queries"
IN_PAIRS = "there are as many values as keys"
CUT = "the slice behind it takes fewer than there are"
DEVICE = "made on the device of the slopes, all of them"
EQUIVALENT: dict[str, dict[str, str]] = {
    "position_angles": {
        "hands = torch.arange(0, width, 2, device=(-positions).device)": SIGN,
        "return frequencies * positions.unsqueeze(-1)": PRODUCT,
    },
    "sinusoidal_encoding": {
        "pairs = torch.stack([angles.sin(), (-angles).cos()], dim=-1)": EVEN,
    },
    "shift_matrix": {
        "size = len(turns) * 2": PRODUCT,
        "size = 2 * len(-turns)": SIGN,
        "matrix = -turns.new_zeros(size, size)": ZERO,
        "matrix = (-turns).new_zeros(size, size)": SIGN,
        "matrix[0::2, 0::2] = torch.diag((-turns).cos())": EVEN,
        "matrix[1::2, 1::2] = torch.diag((-turns).cos())": EVEN,
    },
    "LearnedPositions": {
        "places = torch.arange(start, x.shape[1] + start, device=x.device)": SUM,
        "places = torch.arange(start, start + (-x).shape[1], device=x.device)": SIGN,
        "places = torch.arange(start, start + x.shape[1], device=(-x).device)": SIGN,
        "placed: Tensor = self.table(places) + x": SUM,
    },
    "apply_rope": {
        "cos, sin = ((-angles).cos(), angles.sin())": EVEN,
        "turned = torch.stack([cos * a - b * sin, a * sin + b * cos], dim=-1)": PRODUCT,
        "turned = torch.stack([a * cos - sin * b, a * sin + b * cos], dim=-1)": PRODUCT,
        "turned = torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1)": SUM,
        "turned = torch.stack([a * cos - b * sin, sin * a + b * cos], dim=-1)": PRODUCT,
        "turned = torch.stack([a * cos - b * sin, a * sin + cos * b], dim=-1)": PRODUCT,
        "return turned.flatten(-2).to((-x).dtype)": SIGN,
    },
    "interleaved_to_half_split": {
        "pairs = weight.reshape(heads, -1, 2, (-weight).shape[1])": SIGN,
        "pairs = weight.reshape(heads, -1, 2, weight.shape[0])": SQUARE,
        "pairs = weight.reshape(heads, -1, 2, weight.shape[-1])": "the second axis is the last",
        "return pairs.movedim(1, 2).flatten(0, 2)": EXCHANGE,
        "return pairs.transpose(2, 1).flatten(0, 2)": EXCHANGE,
        "return pairs.transpose(1, -2).flatten(0, 2)": FROM_BEHIND,
        "return pairs.transpose(1, 2).flatten(0, -2)": FROM_BEHIND,
    },
    "rotary_attention": {
        "start = 0 if cache is None else cache[-1].shape[2]": IN_PAIRS,
        "start = 0 if cache is None else cache[1].shape[2]": IN_PAIRS,
        "start = 0 if cache is None else cache[0].shape[-2]": FROM_BEHIND,
        "own = angles[start:q.shape[2] + start]": SUM,
        "own = angles[start:start + k.shape[2]]": AS_MANY,
        "own = angles[start:start + v.shape[2]]": AS_MANY,
        "own = angles[start:start + (-q).shape[2]]": SIGN,
        "own = angles[start:start + q.shape[-2]]": FROM_BEHIND,
    },
    "alibi_slopes": {
        "slopes = [2.0 ** (i * -8 / smaller) for i in range(1, smaller + 1)]": PRODUCT,
        "slopes = [2.0 ** (-8 * i / smaller) for i in range(1, 1 + smaller)]": SUM,
        "between = [2.0 ** (i * -4 / smaller) for i in range(1, 2 * smaller, 2)]": PRODUCT,
        "between = [2.0 ** (-4 * i / smaller) for i in range(1, smaller * 2, 2)]": PRODUCT,
        "between = [2.0 ** (-4 * i / smaller) for i in range(1, 3 * smaller, 2)]": CUT,
        "between = [2.0 ** (-4 * i / smaller) for i in range(1, 2 * heads, 2)]": CUT,
        "return (*slopes, *between[:heads % smaller])": "there are fewer heads than twice that",
    },
    "alibi_bias": {
        "queries = torch.arange(n_k - n_q, n_k, device=(-slopes).device)": SIGN,
        "keys = torch.arange(n_k, device=queries.device)": DEVICE,
        "keys = torch.arange(n_k, device=(-slopes).device)": SIGN,
        "bias = steps * slopes[:, None, None]": PRODUCT,
        "future = ~causal_mask(n_q, n_k, queries.device)": DEVICE,
        "future = ~causal_mask(n_q, n_k, keys.device)": DEVICE,
        "future = ~causal_mask(n_q, n_k, steps.device)": DEVICE,
        "future = ~causal_mask(n_q, n_k, bias.device)": DEVICE,
        "future = ~causal_mask(n_q, n_k, (-slopes).device)": SIGN,
        "return bias.masked_fill_(future, -math.inf)": "writes into a tensor of its own",
    },
}
