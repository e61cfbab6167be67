"""Encoder, decoder, encoder-decoder."""

CHAPTER = "11_encoder_decoder"

ORDER = (
    "count_parameters",
    "gpt2_parameters",
    "encoder_block",
    "decoder_block",
    "transformer_lm",
    "tie_weights",
    "init_residual_scale",
    "cross_block",
    "encoder_decoder",
)
