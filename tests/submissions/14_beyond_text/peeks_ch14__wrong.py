# rest: loops_ch14__pass
# hint: DecisionTransformer.ReadAtAction

# %%
class DecisionTransformer(nn.Module):
    def __init__(self, state_width, actions, d_model, *, layers, heads, steps):
        super().__init__()
        self.embed_return = nn.Linear(1, d_model)
        self.embed_state = nn.Linear(state_width, d_model)
        self.embed_action = nn.Embedding(actions, d_model)
        self.embed_step = nn.Embedding(steps, d_model)
        self.blocks = nn.ModuleList(
            DecoderBlock(d_model, heads, 2 * d_model) for _ in range(layers)
        )
        self.norm = RMSNorm(d_model)
        self.head = nn.Linear(d_model, actions)

    def forward(self, returns, states, chosen, steps):
        when = self.embed_step(steps)
        x = interleave_tokens(
            self.embed_return(returns[..., None]) + when,
            self.embed_state(states) + when,
            self.embed_action(chosen) + when,
        )
        for block in self.blocks:
            x, _ = block(x)
        return self.head(self.norm(x[:, 2::3]))  # the action comes last
