"""Training a small language model."""

CHAPTER = "12_training"

ORDER = (
    "make_batches",
    "lm_loss",
    "bits_per_character",
    "bigram_table",
    "adamw_step",
    "parameter_groups",
    "lr_schedule",
    "clip_gradients",
    "trainer",
)
