# Split, attend, merge, step by step.

# %%
def split_heads(x: Tensor, heads: int) -> Tensor:
    b, l, d = x.shape
    return x.reshape(b, l, heads, d // heads).transpose(1, 2)


# %%
def merge_heads(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


# %%
def attention_parameters(
    d_model: int, heads: int, d_k: int | None = None, d_v: int | None = None
) -> int:
    if d_k is None:
        d_k = d_model // heads
    if d_v is None:
        d_v = d_model // heads
    return 2 * heads * d_model * (d_k + d_v)


# %%
def multi_head_attention(x, memory, weights, heads, mask=None):
    w_q, w_k, w_v, w_o = weights
    q = split_heads(linear(x, w_q), heads)
    k = split_heads(linear(memory, w_k), heads)
    v = split_heads(linear(memory, w_v), heads)
    return linear(merge_heads(masked_attention(q, k, v, mask)), w_o)


# %%
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, memory=None, mask=None):
        if memory is None:
            memory = x
        q = split_heads(self.w_q(x), self.heads)
        k = split_heads(self.w_k(memory), self.heads)
        v = split_heads(self.w_v(memory), self.heads)
        return self.w_o(merge_heads(masked_attention(q, k, v, mask)))


# %%
def cross_attention(x, memory, lengths, weights, heads):
    mask = padding_mask(lengths, memory.shape[1])
    return multi_head_attention(x, memory, weights, heads, mask)


# %%
def head_contributions(answers: Tensor, w_o: Tensor) -> Tensor:
    b, h, l, k = answers.shape
    blocks = w_o.reshape(-1, h, k)
    return torch.einsum("bhlk,ohk->bhlo", answers, blocks)
