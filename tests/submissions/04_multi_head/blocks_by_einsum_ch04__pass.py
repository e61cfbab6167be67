# Einsum, one matrix for each head, and nothing imported from the exercise before.

# %%
def split_heads(x: Tensor, heads: int) -> Tensor:
    return torch.stack(x.chunk(heads, dim=-1), dim=1)


# %%
def merge_heads(x: Tensor) -> Tensor:
    return torch.cat([x[:, i] for i in range(x.shape[1])], dim=-1)


# %%
def attention_parameters(
    d_model: int, heads: int, d_k: int | None = None, d_v: int | None = None
) -> int:
    share, _ = divmod(d_model, heads)
    k = share if d_k is None else d_k
    v = share if d_v is None else d_v
    total = heads * v * d_model  # w_o
    for width in (k, k, v):
        total += heads * d_model * width
    return total


# %%
def multi_head_attention(x, memory, weights, heads, mask=None):
    width = x.shape[-1] // heads
    w_q, w_k, w_v = (w.reshape(heads, width, -1) for w in weights[:3])
    q = torch.einsum("bld,hkd->bhlk", x, w_q)
    k = torch.einsum("bmd,hkd->bhmk", memory, w_k)
    v = torch.einsum("bmd,hkd->bhmk", memory, w_v)
    scores = torch.einsum("bhlk,bhmk->bhlm", q, k) * width**-0.5
    if mask is not None:
        low = torch.finfo(scores.dtype).min
        scores = torch.where(mask, scores, low)
    attention = scores.softmax(dim=-1)
    if mask is not None:
        attention = torch.where(mask, attention, 0)
    w_o = weights[3].reshape(-1, heads, width)
    return torch.einsum("bhlm,bhmk,ohk->blo", attention, v, w_o)


# %%
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.n_heads = heads
        for name in ("w_q", "w_k", "w_v", "w_o"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, memory=None, mask=None):
        source = x if memory is None else memory
        given = tuple(
            layer.weight for layer in (self.w_q, self.w_k, self.w_v, self.w_o)
        )
        return multi_head_attention(x, source, given, self.n_heads, mask=mask)


# %%
def cross_attention(x, memory, lengths, weights, heads):
    places = torch.arange(memory.size(1), device=memory.device)
    real = places < lengths.reshape(-1, 1, 1, 1)
    return multi_head_attention(
        x=x, memory=memory, weights=weights, heads=heads, mask=real
    )


# %%
def head_contributions(answers: Tensor, w_o: Tensor) -> Tensor:
    blocks = w_o.chunk(answers.shape[1], dim=1)
    parts = [linear(a, w) for a, w in zip(answers.unbind(dim=1), blocks)]
    return torch.stack(parts, dim=1)
