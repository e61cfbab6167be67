"""Changed answers of chapter 13 that compute the same function, and why.

The changed line, exactly as it is printed -> the reason.
"""

NEVER_BELOW = "a temperature is not below 0"
ZERO = "there is one zero only"
ABOVE_NONE = "nothing is above the maximum"
LAST = "by default it is the last axis"
ORDER = "the smaller or wider of two has no order"
PRODUCT = "a product of numbers has no order"
EITHER = "or has no order"
SAME = "at the start the text is the prompt"
TWO = "of two axes the last one is axis 1"
SIGN = "a sign does not change a shape, dtype or device"
HALF = "in half precision no sum is near a border, so that any precision will do"
SPARE = "scatter leaves alone what the indices do not reach"

LOOP = (
    "for _ in range(steps):"
    "\n    logits = model(tokens)[0]"
    "\n    best = logits[:, -1].argmax(-1).masked_fill(done, end)"
    "\n    tokens = torch.cat([tokens, best[:, None]], {})"
    "\n    done = {}"
    "\n    if done.all():"
    "\n        break"
)
CACHED = (
    "for uniform in uniforms:"
    "\n    logits, caches = model(fed, caches, keep)"
    "\n    new = sample_token(logits[:, -1], uniform).masked_fill(done, end)"
    "\n    fed = new[:, None]"
    "\n    tokens = torch.cat([tokens, fed], {})"
    "\n    keep = torch.cat([keep, torch.ones_like(keep[:, :1])], {})"
    "\n    done = {}"
    "\n    if done.all():"
    "\n        break"
)
SEARCH = (
    "for _ in range(steps):"
    "\n    chances = model(rows)[0][:, -1].log_softmax(-1)"
    "\n    done = (rows[:, start:] == end).any({})"
    "\n    stays = torch.full_like(chances[:1], -torch.inf)"
    "\n    stays[:, end] = 0"
    "\n    chances = torch.where(done[:, None], stays, chances)"
    "\n    sums = (scores[:, None] + chances).flatten()"
    "\n    scores, best = sums.topk(min(beams, len(sums)))"
    "\n    parents, tokens = (best // chances.shape[1], best % chances.shape[1])"
    "\n    rows = torch.cat([rows[parents], tokens[:, None]], {})"
    "\n    lengths = (lengths + ~done)[parents]"
)
COLD = (
    "\n    best = logits.amax(-1, keepdim=True)"
    "\n    return logits.masked_fill(logits {} best, -torch.inf)"
)

EQUIVALENT: dict[str, dict[str, str]] = {
    "apply_temperature": {
        "if temperature <= 0:" + COLD.format("<"): NEVER_BELOW,
        "if -temperature == 0:" + COLD.format("<"): ZERO,
        "if temperature == 0:" + COLD.format("!="): ABOVE_NONE,
    },
    "top_k_filter": {
        "best = logits.topk(min(k, logits.shape[-1])).values": LAST,
        "best = logits.topk(min(logits.shape[-1], k), -1).values": ORDER,
        "best = logits.topk(min(k, (-logits).shape[-1]), -1).values": SIGN,
    },
    "top_p_filter": {
        "if p >= 1:\n    return logits": "p is 1 at most",
        "wide = logits.dtype": HALF,
        "wide = torch.promote_types(torch.float32, logits.dtype)": ORDER,
        "wide = torch.promote_types((-logits).dtype, torch.float32)": SIGN,
        "mass = ordered.softmax(-1).cumsum(-1)": HALF,
        "ordered, order = logits.sort(descending=True)": LAST,
        "hidden = torch.zeros_like(mass, dtype=torch.bool)": "both have the same shape",
        "hidden = torch.zeros_like(-logits, dtype=torch.bool)": SIGN,
        "hidden = hidden.scatter(-1, order[..., 1:], mass[..., :-1] > p)": "no sum is exactly p",
        "hidden = hidden.scatter(-1, order[..., 1:], mass >= p)": SPARE,
        "hidden = hidden.scatter(-1, order[..., 1:], mass[...] >= p)": SPARE,
    },
    "sample_token": {
        "wanted = mass[..., -1:] * uniform[..., None]": PRODUCT,
        "wide = logits.dtype": HALF,
        "wide = torch.promote_types(torch.float32, logits.dtype)": ORDER,
        "wide = torch.promote_types(uniform.dtype, torch.float32)": "both have the same dtype",
        "wide = torch.promote_types((-logits).dtype, torch.float32)": SIGN,
        "mass = logits.softmax(-1).cumsum(-1)": HALF,
    },
    "generate": {
        "done = torch.zeros_like(tokens[:, 0], dtype=torch.bool)": SAME,
        LOOP.format(-1, "done | (best == end)"): TWO,
        LOOP.format(1, "(best == end) | done"): EITHER,
    },
    "generate_cached": {
        CACHED.format(-1, 1, "done | (new == end)"): TWO,
        CACHED.format(1, -1, "done | (new == end)"): TWO,
        CACHED.format(1, 1, "(new == end) | done"): EITHER,
    },
    "beam_search": {
        "scores = torch.zeros(1, device=(-prompt).device)": SIGN,
        "lengths = torch.zeros_like(rows[0, :])": "all beams of the first step come from number 0",
        SEARCH.format(-1, 1): TWO,
        SEARCH.format(1, -1): TWO,
    },
    "speculative_accept": {
        "for i, token in enumerate(draft):\n"
        "    if guess[i, token] * uniforms[i] >= target[i, token]:\n"
        "        rest = (target[i] - guess[i]).clamp(min=0)\n"
        "        kept = draft[:i]\n"
        "        break\n"
        "else:\n"
        "    rest, kept = (target[-1], draft)": PRODUCT,
    },
}
