# The formulas are done, the models are left for another day.

# %%
def count_parameters(vocabulary, d_model, *, layers, heads, d_ff, kv_heads=None, tied=False):
    kv = (kv_heads or heads) * d_model // heads
    block = 2 * d_model * (d_model + kv) + 3 * d_model * d_ff + 2 * d_model
    return (1 if tied else 2) * vocabulary * d_model + layers * block + d_model


# %%
def gpt2_parameters(vocabulary, positions, d_model, layers):
    return (vocabulary + positions + 2) * d_model + layers * (12 * d_model**2 + 13 * d_model)
