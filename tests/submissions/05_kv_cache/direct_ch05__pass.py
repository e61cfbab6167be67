# The direct way: earlier functions do the work.

# %%
def extend_cache(cache: KVCache | None, k: Tensor, v: Tensor) -> KVCache:
    if cache is None:
        return k, v
    keys, values = cache
    return torch.cat([keys, k], dim=2), torch.cat([values, v], dim=2)

# %%
def cached_attention(
    q: Tensor, k: Tensor, v: Tensor, cache: KVCache | None = None
) -> tuple[Tensor, KVCache]:
    keys, values = extend_cache(cache, k, v)
    mask = causal_mask(q.shape[2], keys.shape[2], q.device)
    return masked_attention(q, keys, values, mask), (keys, values)

# %%
def kv_cache_bytes(
    layers: int,
    kv_heads: int,
    head_width: int,
    tokens: int,
    *,
    batch: int = 1,
    bytes_per_number: int = 2,
) -> int:
    return 2 * layers * kv_heads * head_width * tokens * batch * bytes_per_number

# %%
def grouped_query_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
) -> Tensor:
    group = q.shape[1] // k.shape[1]
    k = k.repeat_interleave(group, dim=1)
    v = v.repeat_interleave(group, dim=1)
    return masked_attention(q, k, v, mask)

# %%
def pool_kv_heads(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    width = w.shape[0] // heads
    parts = w.reshape(kv_heads, heads // kv_heads, width, w.shape[1])
    return parts.mean(dim=1).reshape(kv_heads * width, w.shape[1])

# %%
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model: int, heads: int, kv_heads: int) -> None:
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        small = kv_heads * d_model // heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, small, bias=False)
        self.w_v = nn.Linear(d_model, small, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)

    def forward(
        self,
        x: Tensor,
        cache: KVCache | None = None,
    ) -> tuple[Tensor, KVCache]:
        q = split_heads(self.w_q(x), self.heads)
        k = split_heads(self.w_k(x), self.kv_heads)
        v = split_heads(self.w_v(x), self.kv_heads)
        cache = extend_cache(cache, k, v)
        keys, values = cache
        mask = causal_mask(x.shape[1], keys.shape[2], x.device)
        answers = grouped_query_attention(q, keys, values, mask)
        return self.w_o(merge_heads(answers)), cache
