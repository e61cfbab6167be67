# %%
def apply_temperature(logits, temperature):
    if temperature == 0:
        cold = torch.full_like(logits, -torch.inf)
        at = logits.argmax(-1, keepdim=True)
        return cold.scatter(-1, at, logits.gather(-1, at))
    return logits / temperature


# %%
def top_k_filter(logits, k):
    rank = logits.argsort(-1, descending=True).argsort(-1)
    return logits.masked_fill(rank >= k, -torch.inf)


# %%
def top_p_filter(logits, p):
    best = logits.sort(-1, descending=True)
    chances = best.values.softmax(-1)
    late = chances.cumsum(-1) - chances >= p
    late[..., 0] = False
    late &= p < 1
    hide = torch.zeros_like(late).scatter(-1, best.indices, late)
    return logits.masked_fill(hide, -torch.inf)


# %%
def sample_token(logits, uniform):
    sums = logits.softmax(-1).cumsum(-1)
    return (sums > (uniform * sums[..., -1])[..., None]).int().argmax(-1)


# %%
def generate(model, prompt, steps, end):
    text, start = prompt, prompt.shape[1]
    while text.shape[1] < start + steps:
        over = (text[:, start:] == end).any(1)
        if over.all():
            break
        new = model(text)[0][:, -1].argmax(-1)
        new[over] = end
        text = torch.cat([text, new[:, None]], 1)
    return text


# %%
def generate_cached(model, prompt, keep, uniforms, end):
    text, new, caches = prompt, prompt, None
    over = torch.zeros(len(prompt), dtype=torch.bool, device=prompt.device)
    for number in uniforms:
        scores, caches = model(new, caches, keep)
        token = sample_token(scores[:, -1], number)
        token[over] = end
        over = over | (token == end)
        new = token[:, None]
        text = torch.cat([text, new], 1)
        keep = torch.cat([keep, torch.ones_like(new, dtype=torch.bool)], 1)
        if over.all():
            break
    return text


# %%
def beam_search(model, prompt, beams, steps, end, *, alpha=0.0):
    living = [((), 0.0)]
    for _ in range(steps):
        found = []
        for new, total in living:
            if new and new[-1] == end:
                found.append((new, total))
                continue
            text = torch.cat([prompt, torch.tensor(new, dtype=torch.int64, device=prompt.device)])
            chances = model(text[None])[0][0, -1].log_softmax(-1).tolist()
            found += [((*new, token), total + chance) for token, chance in enumerate(chances)]
        living = sorted(found, key=lambda one: one[1], reverse=True)[:beams]
    new, total = max(living, key=lambda one: one[1] / len(one[0]) ** alpha)
    text = torch.cat([prompt, torch.tensor(new, device=prompt.device)])
    return text, torch.tensor(total / len(new) ** alpha, device=prompt.device)


# %%
def speculative_accept(target, guess, draft, uniforms):
    count = 0
    while count < len(draft):
        token = draft[count]
        if uniforms[count] >= target[count, token] / guess[count, token]:
            break
        count += 1
    weights = target[count]
    if count < len(draft):
        weights = torch.relu(weights - guess[count])
    return torch.cat([draft[:count], sample_token(weights.log(), uniforms[-1])[None]])
