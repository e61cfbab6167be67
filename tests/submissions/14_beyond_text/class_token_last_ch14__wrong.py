# rest: by_torch_ch14__pass
# hint: ViT.TokenLast

# %%
class ViT(nn.Module):
    def __init__(self, shape, size, classes, *, d_model, layers, heads):
        super().__init__()
        self.size = size
        patches = (shape[1] // size) * (shape[2] // size)
        self.embed = nn.Linear(shape[0] * size * size, d_model)
        self.class_token = nn.Parameter(torch.zeros(d_model))
        self.positions = nn.Parameter(torch.zeros(1 + patches, d_model))
        self.blocks = nn.ModuleList(
            EncoderBlock(d_model, heads, 2 * d_model) for _ in range(layers)
        )
        self.norm = RMSNorm(d_model)
        self.head = nn.Linear(d_model, classes)

    def forward(self, pictures):
        patches = self.embed(patchify(pictures, self.size))
        token = self.class_token.expand(len(patches), 1, -1)
        x = torch.cat([patches, token], dim=1) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, -1])
