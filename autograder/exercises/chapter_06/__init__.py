"""Positions: clocks, rotations, penalties on distance."""

CHAPTER = "06_positional_encodings"

ORDER = (
    "position_angles",
    "sinusoidal_encoding",
    "shift_matrix",
    "learned_positions",
    "apply_rope",
    "interleaved_to_half_split",
    "rotary_attention",
    "alibi_slopes",
    "alibi_bias",
)
