# The masks are done, attention is as it was given out.

# %%
def causal_mask(n_q, n_k, device="cpu"):
    return torch.ones(n_q, n_k, device=device).tril(n_k - n_q).bool()


# %%
def padding_mask(lengths, n_k):
    return torch.arange(n_k, device=lengths.device) < lengths.view(-1, 1, 1, 1)


# %%
def combine_masks(*masks):
    combined = None
    for m in masks:
        if m is None:
            continue
        combined = m if combined is None else combined & m
    return combined


# %%
def additive_mask(mask, scores):
    return torch.where(mask, 0.0, -math.inf).to(scores.dtype)
