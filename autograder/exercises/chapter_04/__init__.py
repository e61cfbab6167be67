"""Multi-head attention and cross-attention."""

CHAPTER = "04_multi_head"

ORDER = (
    "split_heads",
    "merge_heads",
    "attention_parameters",
    "multi_head_attention",
    "multi_head_module",
    "cross_attention",
    "head_contributions",
)

# Ready-made attention, which would be the answer.
READY_MADE = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention",
    "torch.nn.attention.flex_attention.flex_attention",
    "torch._scaled_dot_product_attention_math",
    "torch._native_multi_head_attention",
)
