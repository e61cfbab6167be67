"""Beyond text: pictures, decisions, and other things cut into pieces."""

CHAPTER = "14_beyond_text"

ORDER = (
    "patchify",
    "add_grid_positions",
    "vision_transformer",
    "returns_to_go",
    "remaining_returns",
    "interleave_tokens",
    "decision_transformer",
)
