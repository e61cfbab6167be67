"""What torch has ready-made under several names: an exercise that asks for attention forbids it."""

from __future__ import annotations

READY_MADE_ATTENTION = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention",
    "torch.nn.attention.flex_attention.flex_attention",
    "torch._scaled_dot_product_attention_math",
    "torch._native_multi_head_attention",
)
