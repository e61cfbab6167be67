# No earlier function is used: loops, einsum and a buffer that is filled.

# %%
def extend_cache(cache, k, v):
    def joined(old, new):
        b, g, m, width = old.shape
        room = new.new_empty(b, g, m + new.shape[-2], width)
        room[..., :m, :] = old
        room[..., m:, :] = new
        return room

    return (k.clone(), v.clone()) if not cache else tuple(map(joined, cache, (k, v)))

# %%
def cached_attention(q, k, v, cache=None):
    if cache is not None:
        k, v = [torch.cat(pair, -2) for pair in zip(cache, (k, v))]
    new, total = q.size(-2), k.size(-2)
    answers = []
    for i in range(new):
        upto = total - new + i + 1
        s = torch.einsum("bhk,bhmk->bhm", q[:, :, i], k[:, :, :upto])
        s = s * q.size(-1) ** -0.5
        s = (s - s.max(-1, keepdim=True).values).exp()
        a = torch.einsum("bhm,bhmk->bhk", s, v[:, :, :upto])
        answers.append(a / s.sum(-1, keepdim=True))
    return torch.stack(answers, 2), (k, v)

# %%
def kv_cache_bytes(layers, kv_heads, head_width, tokens, *, batch=1, bytes_per_number=2):
    total = 0
    for _kind in ("keys", "values"):
        total += math.prod((layers, kv_heads, head_width, tokens, batch)) * bytes_per_number
    return total

# %%
def grouped_query_attention(q, k, v, mask=None):
    b, h, n, width = q.shape
    g, m = k.shape[1], k.shape[2]
    grouped = q.reshape(b, g, h // g, n, width)
    scores = torch.einsum("bgrlk,bgmk->bgrlm", grouped, k) / math.sqrt(width)
    if mask is not None:
        seen = mask.expand(b, h, n, m).reshape(b, g, h // g, n, m)
        scores = torch.where(seen, scores, -math.inf)
        weights = torch.nan_to_num(scores, neginf=torch.finfo(scores.dtype).min).softmax(-1) * seen
    else:
        weights = scores.softmax(-1)
    return torch.einsum("bgrlm,bgmk->bgrlk", weights, v).reshape(b, h, n, width)

# %%
def pool_kv_heads(w, heads, kv_heads):
    matrices = w.chunk(heads)
    size = heads // kv_heads
    rows = []
    for j in range(kv_heads):
        rows.append(sum(matrices[j * size : (j + 1) * size]) / size)
    return torch.cat(rows)

# %%
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, heads, kv_heads):
        super().__init__()
        self.d_head = d_model // heads
        widths = {"w_q": heads, "w_k": kv_heads, "w_v": kv_heads, "w_o": heads}
        for name, count in widths.items():
            setattr(self, name, nn.Linear(d_model, count * self.d_head, bias=False))

    def forward(self, x, cache=None):
        b, n, d = x.shape
        cut = lambda t: t.view(b, n, -1, self.d_head).permute(0, 2, 1, 3)
        q, k, v = cut(self.w_q(x)), cut(self.w_k(x)), cut(self.w_v(x))
        if cache:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        m, g = k.shape[2], k.shape[1]
        owner = torch.arange(q.shape[1], device=x.device) // (q.shape[1] // g)
        s = q @ k[:, owner].transpose(-1, -2) / self.d_head**0.5
        i = torch.arange(n, device=x.device)[:, None]
        s = s.masked_fill(torch.arange(m, device=x.device)[None] > i + (m - n), float("-inf"))
        out = torch.softmax(s, -1) @ v[:, owner]
        return self.w_o(out.permute(0, 2, 1, 3).reshape(b, n, d)), (k, v)
