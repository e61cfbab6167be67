# The last three are left for another day.

# %%
def expert_parameters(d_model, d_ff, experts, k, shared=0):
    expert = 3 * d_model * d_ff
    router = d_model * experts
    return router + expert * (experts + shared), router + expert * (k + shared)


# %%
def top_k_route(logits, k):
    best = logits.topk(k, dim=-1)
    return best.values.softmax(-1), best.indices


# %%
def noisy_logits(x, w_router, w_noise, noise, training):
    logits = x @ w_router.mT
    if not training:
        return logits
    return logits + noise * torch.nn.functional.softplus(x @ w_noise.mT)


# %%
def load_balancing_loss(logits, experts):
    share = torch.nn.functional.one_hot(experts, logits.shape[-1]).to(logits).mean((0, 1))
    return logits.shape[-1] * (share * logits.softmax(-1).mean(0)).sum()


# %%
def expert_capacity(tokens, experts, k, factor):
    return math.ceil(tokens * k * factor / experts)
