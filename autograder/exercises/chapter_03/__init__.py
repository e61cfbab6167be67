"""Masking."""

CHAPTER = "03_masking"

ORDER = (
    "causal_mask",
    "padding_mask",
    "combine_masks",
    "additive_mask",
    "masked_softmax",
    "masked_attention",
    "document_mask",
    "find_leak",
)
