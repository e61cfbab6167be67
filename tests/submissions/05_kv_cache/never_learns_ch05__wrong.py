# Everything is right but the training: the query matrix is used without its gradient.
# rest: loops_and_einsum_ch05__pass
# hint: GroupedQueryAttention.QueryMatrixCut

# %%
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        small = kv_heads * (d_model // heads)
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, small, bias=False)
        self.w_v = nn.Linear(d_model, small, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        q = split_heads(x @ self.w_q.weight.data.T, self.heads)
        k = split_heads(self.w_k(x), self.kv_heads)
        v = split_heads(self.w_v(x), self.kv_heads)
        cache = extend_cache(cache, k, v)
        mask = causal_mask(x.shape[1], cache[0].shape[2], x.device)
        return self.w_o(merge_heads(grouped_query_attention(q, *cache, mask))), cache
