"""Changed answers of chapter 04 that compute the same function, and why.

The changed line, exactly as it is printed -> the reason.
"""

PRODUCT = "a product of numbers has no order"
SUM = "a sum has no order"
SIGN = "a sign does not change a shape"
EXCHANGE = "an exchange has no order"
NEIGHBOURS = "next to each other, moving an axis is exchanging it"
FROM_THE_END = "axis 2 of four is also axis -2"
SHARE = "the width is a multiple of heads, so that the quotient is the same number"
EQUIVALENT: dict[str, dict[str, str]] = {
    "split_heads": {
        "batch, length, _ = (-x).shape": SIGN,
        "return pieces.movedim(1, 2)": NEIGHBOURS,
        "return pieces.transpose(2, 1)": EXCHANGE,
        "return pieces.transpose(1, -2)": FROM_THE_END,
    },
    "merge_heads": {
        "return x.movedim(1, 2).flatten(-2)": NEIGHBOURS,
        "return x.transpose(2, 1).flatten(-2)": EXCHANGE,
        "return x.transpose(1, -2).flatten(-2)": FROM_THE_END,
        "return x.transpose(1, 2).flatten(2)": FROM_THE_END,
    },
    "attention_parameters": {
        "d_k = d_model / heads if d_k is None else d_k": SHARE,
        "d_v = d_model / heads if d_v is None else d_v": SHARE,
        "return 2 * d_model * heads * d_v + 2 * d_model * heads * d_k": SUM,
        "return d_k * (2 * d_model * heads) + 2 * d_model * heads * d_v": PRODUCT,
        "return heads * (2 * d_model) * d_k + 2 * d_model * heads * d_v": PRODUCT,
        "return d_model * 2 * heads * d_k + 2 * d_model * heads * d_v": PRODUCT,
        "return 2 * d_model * heads * d_k + d_v * (2 * d_model * heads)": PRODUCT,
        "return 2 * d_model * heads * d_k + heads * (2 * d_model) * d_v": PRODUCT,
        "return 2 * d_model * heads * d_k + d_model * 2 * heads * d_v": PRODUCT,
    },
    "cross_attention": {
        "mask = padding_mask(lengths, (-memory).shape[1])": SIGN,
    },
    "head_contributions": {
        "heads, width = ((-answers).shape[1], answers.shape[-1])": SIGN,
        "heads, width = (answers.shape[1], (-answers).shape[-1])": SIGN,
    },
}
