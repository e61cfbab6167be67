# %%
def expert_parameters(d_model, d_ff, experts, k, shared=0):
    count = lambda n: 3 * d_model * d_ff * (n + shared) + experts * d_model
    return count(experts), count(k)


# %%
def top_k_route(logits, k):
    p = logits.softmax(-1)
    order = p.argsort(-1, descending=True)[..., :k]
    w = p.gather(-1, order)
    return w / w.sum(-1, keepdim=True), order


# %%
def noisy_logits(x, w_router, w_noise, noise, training):
    scale = nn.Softplus()(nn.functional.linear(x, w_noise))
    return nn.functional.linear(x, w_router) + (noise * scale if training else 0)


# %%
def load_balancing_loss(logits, experts):
    n = logits.size(-1)
    hot = nn.functional.one_hot(experts, n).sum(1).to(logits.dtype)
    f = hot.sum(0) / hot.sum()
    return n * torch.dot(f, logits.softmax(-1).mean(0))


# %%
def expert_capacity(tokens, experts, k, factor):
    return math.ceil(factor * tokens * k / experts)


# %%
def dispatch_slots(experts, count, capacity):
    tokens, k = experts.shape
    hot = nn.functional.one_hot(experts.t(), count)  # (k, L, X)
    order = hot.reshape(k * tokens, count).cumsum(0).reshape(k, tokens, count) - 1
    slots = order.gather(-1, experts.t()[..., None])[..., 0]
    return torch.where(slots < capacity, slots, -1).t()


# %%
class MixtureOfExperts(nn.Module):
    def __init__(self, d_model, d_ff, experts, k, factor=None):
        super().__init__()
        self.k, self.factor = k, factor
        self.router = nn.Linear(d_model, experts, bias=False)
        self.w_gate, self.w_up = (
            nn.Parameter(torch.empty(experts, d_ff, d_model).normal_(0, 0.02)) for _ in "ab"
        )
        self.w_down = nn.Parameter(torch.empty(experts, d_model, d_ff).normal_(0, 0.02))

    def forward(self, x):
        h = x.flatten(0, 1)
        logits = self.router(h)
        w, e = top_k_route(logits, self.k)
        if self.factor is not None:
            room = expert_capacity(len(h), logits.shape[-1], self.k, self.factor)
            w = torch.where(dispatch_slots(e, logits.shape[-1], room) < 0, 0, w)
        table = torch.zeros_like(logits).scatter_add(-1, e, w)
        a = nn.functional.silu(torch.einsum("td,efd->tef", h, self.w_gate))
        a = a * torch.einsum("td,efd->tef", h, self.w_up)
        return torch.einsum("tef,edf,te->td", a, self.w_down, table).view(x.shape)


# %%
def balanced_hash(counts, experts):
    load = torch.zeros(experts, dtype=counts.dtype)
    table = torch.full_like(counts, -1)
    for i in torch.argsort(-counts):
        e = torch.argmin(load)
        table[i] = e
        load[e] = load[e] + counts[i]
    return table
