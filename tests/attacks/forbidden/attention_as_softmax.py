# Has torch's attention, or a distribution, compute the softmax on its way.
# attacks: softmax
# verdicts: forbidden, wrong, exception

# %%
def softmax(x, dim=-1):
    moved = x.movedim(dim, -1)
    logits = torch.distributions.Categorical(logits=moved)
    return logits.probs.movedim(-1, dim)
