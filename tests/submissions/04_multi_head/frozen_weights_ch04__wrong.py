# The numbers are right, but nothing of it can be trained.
# rest: step_by_step_ch04__pass
# hint: MultiHeadAttention.WeightsNeverTrain

# %%
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, memory=None, mask=None):
        memory = x if memory is None else memory
        q = split_heads(x @ self.w_q.weight.data.T, self.heads)
        k = split_heads(memory @ self.w_k.weight.data.T, self.heads)
        v = split_heads(memory @ self.w_v.weight.data.T, self.heads)
        answers = merge_heads(masked_attention(q, k, v, mask))
        return answers @ self.w_o.weight.data.T
