# rest: loops_ch09__pass
# hint: MixtureOfExperts.DroppedPassOn

# %%
class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, experts, k, factor=None):
        super().__init__()
        self.experts, self.k, self.factor = experts, k, factor
        self.router = nn.Linear(d_model, experts, bias=False)
        self.w_gate = nn.Parameter(torch.randn(experts, d_ff, d_model))
        self.w_up = nn.Parameter(torch.randn(experts, d_ff, d_model))
        self.w_down = nn.Parameter(torch.randn(experts, d_model, d_ff))

    def forward(self, x):
        tokens = x.flatten(0, 1)
        weights, chosen = top_k_route(self.router(tokens), self.k)
        room = len(tokens)
        if self.factor is not None:
            room = expert_capacity(room, self.experts, self.k, self.factor)
        slots = dispatch_slots(chosen, self.experts, room)
        out = torch.zeros_like(tokens)
        for i in range(self.experts):
            h = nn.functional.silu(tokens @ self.w_gate[i].T) * (tokens @ self.w_up[i].T)
            gate = (weights * ((chosen == i) & (slots >= 0))).sum(-1, keepdim=True)
            out = out + gate * (h @ self.w_down[i].T)
        dropped = (slots < 0).all(-1, keepdim=True)
        return torch.where(dropped, tokens, out).view_as(x)
