"""Changed answers of chapter 02 that compute the same function, and why.

The changed line, exactly as it is printed -> the reason.
"""

PRODUCT = "a product of numbers has no order"
SUM = "a sum has no order"
SQUARE = "a square has no sign"
EQUIVALENT: dict[str, dict[str, str]] = {
    "product_moments": {
        "mean = mean_k * mean_q": PRODUCT,
        "variance = mean_q ** 2 * var_k + (var_q * var_k + var_q * mean_k ** 2)": SUM,
        "variance = var_q * mean_k ** 2 + var_q * var_k + mean_q ** 2 * var_k": SUM,
        "variance = var_k * var_q + var_q * mean_k ** 2 + mean_q ** 2 * var_k": PRODUCT,
        "variance = var_q * var_k + mean_k ** 2 * var_q + mean_q ** 2 * var_k": PRODUCT,
        "variance = var_q * var_k + var_q * (-mean_k) ** 2 + mean_q ** 2 * var_k": SQUARE,
        "variance = var_q * var_k + var_q * mean_k ** 2 + var_k * mean_q ** 2": PRODUCT,
        "variance = var_q * var_k + var_q * mean_k ** 2 + (-mean_q) ** 2 * var_k": SQUARE,
        "return (mean * d_k, d_k * variance)": PRODUCT,
        "return (d_k * mean, variance * d_k)": PRODUCT,
    },
    "softmax": {
        "weights = shifted.exp_()": "writes into a tensor of its own, not the caller's",
        "weights = -shifted.exp()": "the sign is in numerator and denominator",
    },
    "attention_weights": {
        "scores = q @ k.movedim(-2, -1) / math.sqrt(q.shape[-1])": (
            "next to each other, moving an axis is exchanging it"
        ),
        "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])": "an exchange has no order",
        "scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])": "q and k are equally wide",
        "scores = q @ k.transpose(-2, -1) / math.sqrt((-q).shape[-1])": (
            "a sign does not change a shape"
        ),
        "return softmax(scores)": "-1 is softmax's own default",
    },
    "softmax_jacobian": {
        "outer = p.unsqueeze(-1) @ p.unsqueeze(-2)": "column times row, by a product of matrices",
        "outer = p.unsqueeze(-2) * p.unsqueeze(-1)": PRODUCT,
    },
    "attention_cost": {
        "score_flops = d_k * (2 * n_q * n_k)": PRODUCT,
        "score_flops = n_k * (2 * n_q) * d_k": PRODUCT,
        "score_flops = n_q * 2 * n_k * d_k": PRODUCT,
        "mix_flops = d_v * (2 * n_q * n_k)": PRODUCT,
        "mix_flops = n_k * (2 * n_q) * d_v": PRODUCT,
        "mix_flops = n_q * 2 * n_k * d_v": PRODUCT,
        "return (mix_flops + score_flops, n_q * n_k * bytes_per_number)": SUM,
        "return (score_flops + mix_flops, bytes_per_number * (n_q * n_k))": PRODUCT,
        "return (score_flops + mix_flops, n_k * n_q * bytes_per_number)": PRODUCT,
    },
}
