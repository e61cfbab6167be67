# rest: tables_ch01__pass
# hint: kernel_attention.root_then_square

# %%
def kernel_attention(q, k, v, bandwidth):
    gap = q.unsqueeze(-2) - k.unsqueeze(-3)
    distance = gap.pow(2).sum(-1).sqrt()
    return torch.softmax(-((distance / bandwidth) ** 2) / 2, dim=-1) @ v
