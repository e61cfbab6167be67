# Uses a neighbour of the forbidden function and undoes the difference.
# attacks: softmax
# verdicts: forbidden
# says: torch.log_softmax

# %%
def softmax(x, dim=-1):
    return getattr(torch, "log_" + "soft" + "max")(x, dim).exp()
