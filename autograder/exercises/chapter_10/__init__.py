"""Sliding-window and sparse attention."""

CHAPTER = "10_sparse_attention"

ORDER = (
    "window_mask",
    "sparse_mask",
    "layer_windows",
    "receptive_field",
    "windowed_attention",
    "rolling_cache_step",
    "linear_attention",
)
