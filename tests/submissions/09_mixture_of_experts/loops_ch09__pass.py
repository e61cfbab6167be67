# %%
def expert_parameters(d_model, d_ff, experts, k, shared=0):
    one = 3 * d_model * d_ff
    router = d_model * experts
    return (experts + shared) * one + router, (k + shared) * one + router


# %%
def top_k_route(logits, k):
    values, experts = torch.topk(logits, k, dim=-1)
    return torch.softmax(values, dim=-1), experts


# %%
def noisy_logits(x, w_router, w_noise, noise, training):
    clean = x @ w_router.T
    if training:
        return clean + noise * torch.nn.functional.softplus(x @ w_noise.T)
    return clean


# %%
def load_balancing_loss(logits, experts):
    p = torch.softmax(logits, dim=-1)
    total = 0.0
    for i in range(logits.shape[1]):
        f = (experts == i).sum() / experts.numel()
        total = total + f.to(p.dtype) * p[:, i].mean()
    return logits.shape[1] * total


# %%
def expert_capacity(tokens, experts, k, factor):
    places = tokens * k * factor / experts
    return int(places) if places == int(places) else int(places) + 1


# %%
def dispatch_slots(experts, count, capacity):
    # a queue for each expert
    came = {i: 0 for i in range(count)}
    slots = -torch.ones_like(experts)
    for j in range(experts.shape[1]):
        for t in range(experts.shape[0]):
            i = experts[t, j].item()
            if came[i] < capacity:
                slots[t, j] = came[i]
            came[i] += 1
    return slots


# %%
class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, experts, k, factor=None):
        super().__init__()
        self.experts, self.k, self.factor = experts, k, factor
        self.router = nn.Linear(d_model, experts, bias=False)
        self.w_gate = nn.Parameter(torch.randn(experts, d_ff, d_model) * 0.1)
        self.w_up = nn.Parameter(torch.randn(experts, d_ff, d_model) * 0.1)
        self.w_down = nn.Parameter(torch.randn(experts, d_model, d_ff) * 0.1)

    def forward(self, x):
        batch, length, width = x.shape
        tokens = x.reshape(batch * length, width)
        weights, chosen = top_k_route(self.router(tokens), self.k)
        capacity = batch * length
        if self.factor is not None:
            capacity = expert_capacity(capacity, self.experts, self.k, self.factor)
        slots = dispatch_slots(chosen, self.experts, capacity)
        result = torch.zeros_like(tokens)
        for i in range(self.experts):
            for j in range(self.k):
                rows = torch.where((chosen[:, j] == i) & (slots[:, j] >= 0))[0]
                h = tokens[rows]
                gate = torch.nn.functional.silu(h @ self.w_gate[i].T)
                h = (gate * (h @ self.w_up[i].T)) @ self.w_down[i].T
                result = result.index_add(0, rows, weights[rows, j : j + 1] * h)
        return result.reshape(batch, length, width)


# %%
def balanced_hash(counts, experts):
    loads = [0] * experts
    table = torch.zeros(len(counts), dtype=torch.long)
    for word in sorted(range(len(counts)), key=lambda w: int(counts[w]), reverse=True):
        expert = loads.index(min(loads))
        table[word] = expert
        loads[expert] += int(counts[word])
    return table
