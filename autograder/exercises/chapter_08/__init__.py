"""Activations and the gated feed-forward."""

CHAPTER = "08_feed_forward"

ORDER = (
    "gelu",
    "swish",
    "dead_units",
    "feed_forward",
    "glu",
    "matched_hidden_width",
    "swiglu_module",
)
