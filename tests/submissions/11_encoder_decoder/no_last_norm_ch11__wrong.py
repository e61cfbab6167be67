# The model lacks its last norm, everything else is right.
# rest: long_ch11__pass
# hint: TransformerLM.NoLastNorm

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
        for i, block in enumerate(self.blocks):
            x, cache = block(x, caches[i] if caches else None, keep)
            new.append(cache)
        return self.head(x), new
