"""Scaled dot-product attention."""

CHAPTER = "02_scaled_dot_product"

ORDER = (
    "product_moments",
    "softmax",
    "attention_weights",
    "softmax_jacobian",
    "scaled_dot_product_attention",
    "attention_cost",
)
