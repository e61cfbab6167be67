"""Training a small language model."""

CHAPTER = "12_training"

ORDER = (
    "bits_per_character",
    "make_batches",
    "lm_loss",
    "bigram_table",
    "lr_schedule",
    "adamw_step",
    "parameter_groups",
    "clip_gradients",
    "trainer",
)
