"""Generation."""

CHAPTER = "13_generation"

ORDER = (
    "apply_temperature",
    "top_k_filter",
    "top_p_filter",
    "sample_token",
    "generate",
    "generate_cached",
    "beam_search",
    "speculative_accept",
)
