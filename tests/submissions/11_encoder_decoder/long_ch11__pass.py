# Everything written out, parts in another order.

# %%
def count_parameters(vocabulary, d_model, *, layers, heads, d_ff, kv_heads=None, tied=False):
    if kv_heads is None:
        kv_heads = heads
    width = d_model // heads
    attention = d_model * d_model * 2 + 2 * kv_heads * width * d_model
    total = layers * (attention + 3 * d_ff * d_model + 2 * d_model)
    total += d_model + vocabulary * d_model
    return total if tied else total + vocabulary * d_model


# %%
def gpt2_parameters(vocabulary, positions, d_model, layers):
    def linear(a, b):
        return a * b + b

    d = d_model
    block = 4 * linear(d, d) + linear(d, 4 * d) + linear(4 * d, d) + 4 * d
    return vocabulary * d + positions * d + layers * block + 2 * d


# %%
class EncoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff):
        super().__init__()
        self.attend = MultiHeadAttention(d_model, heads)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1 = RMSNorm(d_model)
        self.norm_2 = RMSNorm(d_model)

    def forward(self, x, mask=None):
        copy = self.norm_1(x)
        x = x + self.attend(copy, copy, mask)
        copy = self.norm_2(x)
        x = x + self.feed_forward(copy)
        return x


# %%
class DecoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff, kv_heads=None):
        super().__init__()
        self.attend = CausalSelfAttention(d_model, heads, kv_heads)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1 = RMSNorm(d_model)
        self.norm_2 = RMSNorm(d_model)

    def forward(self, x, cache=None, keep=None):
        heard, new_cache = self.attend(self.norm_1(x), cache=cache, keep=keep)
        x = x + heard
        x = x + self.feed_forward(self.norm_2(x))
        return x, new_cache


# %%
class TransformerLM(nn.Module):
    def __init__(self, vocabulary, d_model, *, layers, heads, d_ff, kv_heads=None):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, d_model)
        self.blocks = nn.ModuleList(
            [DecoderBlock(d_model, heads, d_ff, kv_heads) for _ in range(layers)]
        )
        self.norm = RMSNorm(d_model)
        self.head = nn.Linear(d_model, vocabulary, bias=False)

    def forward(self, tokens, caches=None, keep=None):
        x = self.embed(tokens)
        new = []
        for i in range(len(self.blocks)):
            cache = None
            if caches is not None:
                cache = caches[i]
            x, cache = self.blocks[i](x, cache, keep)
            new.append(cache)
        x = self.norm(x)
        return self.head(x), new


# %%
def tie_weights(model):
    model.head.weight = model.embed.weight


# %%
def init_residual_scale(model, std=0.02):
    n = 2 * len(model.blocks)
    for name, p in model.named_parameters():
        if p.dim() == 2:
            if name.endswith("w_o.weight") or name.endswith("w_down.weight"):
                torch.nn.init.normal_(p, 0.0, std / math.sqrt(n))
            else:
                torch.nn.init.normal_(p, 0.0, std)


# %%
class CrossBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff):
        super().__init__()
        self.norm_1 = RMSNorm(d_model)
        self.norm_2 = RMSNorm(d_model)
        self.norm_3 = RMSNorm(d_model)
        self.attend = MultiHeadAttention(d_model, heads)
        self.cross = MultiHeadAttention(d_model, heads)
        self.feed_forward = SwiGLU(d_model, d_ff)

    def forward(self, x, memory, mask=None):
        n = x.shape[1]
        x = x + self.attend(self.norm_1(x), None, causal_mask(n, n, x.device))
        x = x + self.cross(self.norm_2(x), memory, mask)
        return x + self.feed_forward(self.norm_3(x))


# %%
class EncoderDecoder(nn.Module):
    def __init__(self, vocabulary, d_model, *, layers, heads, d_ff):
        super().__init__()
        self.d = d_model
        self.embed = nn.Embedding(vocabulary, d_model)
        self.encoder = nn.ModuleList([EncoderBlock(d_model, heads, d_ff) for _ in range(layers)])
        self.encoder_norm = RMSNorm(d_model)
        self.decoder = nn.ModuleList([CrossBlock(d_model, heads, d_ff) for _ in range(layers)])
        self.norm = RMSNorm(d_model)
        self.head = nn.Linear(d_model, vocabulary, bias=False)

    def place(self, tokens):
        x = self.embed(tokens) * self.d**0.5
        p = torch.arange(tokens.shape[1], device=tokens.device)
        return x + sinusoidal_encoding(position_angles(p, self.d)).to(x.dtype)

    def encode(self, source, lengths=None):
        mask = None if lengths is None else padding_mask(lengths, source.shape[1])
        x = self.place(source)
        for block in self.encoder:
            x = block(x, mask)
        return self.encoder_norm(x)

    def decode(self, target, memory, lengths=None):
        mask = None if lengths is None else padding_mask(lengths, memory.shape[1])
        x = self.place(target)
        for block in self.decoder:
            x = block(x, memory, mask)
        return self.head(self.norm(x))

    def forward(self, source, target, lengths=None):
        return self.decode(target, self.encode(source, lengths), lengths)
