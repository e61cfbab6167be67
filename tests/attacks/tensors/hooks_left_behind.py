# Leaves hooks on its inputs that would forge the gradient, and tensors that still want one.
# attacks: scaled_dot_product_attention
# verdicts: wrong, exception

# %%
kept = []


def scaled_dot_product_attention(q, k, v):
    for one in (q, k, v):
        if one.is_floating_point():
            one.requires_grad_()
            one.register_hook(lambda grad: torch.zeros_like(grad))
            kept.append(one)
    return (q.sum() + k.sum()) * torch.ones(*q.shape[:-1], v.shape[-1])
