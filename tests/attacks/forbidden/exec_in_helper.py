# Defines the answer by exec in a helper cell, where no definition is to be read.
# attacks: softmax
# verdicts: forbidden

# %%
exec("helper = lambda x, dim: torch." + "soft" + "max(x, dim)")

# %%
def softmax(x, dim=-1):
    return helper(x, dim)
