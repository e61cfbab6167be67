# Equal numbers in two matrices, which are not one.
# rest: long_ch11__pass
# hint: tie_weights.copied

# %%
def tie_weights(model):
    model.head.weight.data = model.embed.weight.data.clone()
