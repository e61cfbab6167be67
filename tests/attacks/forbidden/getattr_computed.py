# Uses torch's softmax by names that are put together while it runs.
# attacks: softmax
# verdicts: forbidden
# says: torch.softmax

# %%
def softmax(x, dim=-1):
    return getattr(torch, "".join(["so", "ft", "max"]))(x, dim)
