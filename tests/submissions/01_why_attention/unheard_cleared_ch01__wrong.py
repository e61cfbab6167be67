# rest: loops_ch01__pass
# hint: message_passing.unheard_cleared

# %%
def message_passing(scores, messages, edges):
    weights = torch.nan_to_num(scores.masked_fill(~edges, -math.inf).softmax(-1))
    unheard = ~edges.any(0)
    return (weights @ messages).masked_fill(unheard[:, None], 0.0)
