# Builds the layer that does it, found by its name in a list of modules.
# attacks: softmax
# verdicts: forbidden

# %%
Layer = next(v for n, v in vars(torch.nn).items() if n.lower() == "soft" + "max")


def softmax(x, dim=-1):
    return Layer(dim)(x)
