# rest: loops_ch13__pass
# hint: generate_cached.caches_not_passed

# %%
def generate_cached(model, prompt, keep, uniforms, end):
    text, new = prompt, prompt
    over = torch.zeros(len(prompt), dtype=torch.bool, device=prompt.device)
    for number in uniforms:
        scores, _ = model(new, None, keep)
        token = sample_token(scores[:, -1], number).masked_fill(over, end)
        over = over | (token == end)
        new, keep = token[:, None], torch.ones_like(token[:, None], dtype=torch.bool)
        text = torch.cat([text, new], 1)
        if over.all():
            break
    return text
