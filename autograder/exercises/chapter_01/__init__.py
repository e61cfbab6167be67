"""Why attention: lookups, kernels, neighbourhoods, messages."""

CHAPTER = "01_why_attention"

ORDER = (
    "hard_lookup",
    "soft_lookup",
    "kernel_attention",
    "local_attention_weights",
    "additive_scores",
    "message_passing",
)
