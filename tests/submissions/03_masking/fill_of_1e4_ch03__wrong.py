# rest: compare_and_loop_ch03__pass
# hint: masked_softmax.minus_1e4_zeroed

# %%
def masked_softmax(scores, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -1e4), dim=-1)
    return weights * mask
