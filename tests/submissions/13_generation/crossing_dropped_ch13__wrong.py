# rest: loops_ch13__pass
# hint: top_p_filter.can_be_empty

# %%
def top_p_filter(logits, p):
    best = logits.sort(-1, descending=True)
    late = best.values.softmax(-1).cumsum(-1) > p
    hide = torch.zeros_like(late).scatter(-1, best.indices, late)
    return logits.masked_fill(hide, -torch.inf)
