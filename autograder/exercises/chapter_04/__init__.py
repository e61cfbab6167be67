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
