"""Changed answers of chapter 01 that compute the same function, and why.

The changed line, exactly as it is printed -> the reason.
"""

PRODUCT = "a product of numbers has no order"
SUM = "a sum has no order"
SQUARE = "a square has no sign"
SIZE = "a sign does not change a shape or a device"
EXCHANGE = "an exchange has no order"
MOVED = "next to each other, moving an axis is exchanging it"
OWN = "changes a tensor of its own, not the caller's"
EQUIVALENT: dict[str, dict[str, str]] = {
    "hard_lookup": {
        "best = (q @ k.movedim(-2, -1)).argmax(dim=-1)": MOVED,
        "best = (q @ k.transpose(-1, -2)).argmax(dim=-1)": EXCHANGE,
        "return v.take_along_dim(best.unsqueeze_(-1), dim=-2)": OWN,
    },
    "soft_lookup": {
        "scores = q @ k.transpose(-2, -1) * sharpness": PRODUCT,
        "scores = sharpness * (q @ k.movedim(-2, -1))": MOVED,
        "scores = sharpness * (q @ k.transpose(-1, -2))": EXCHANGE,
    },
    "kernel_attention": {
        "gaps = k.unsqueeze(-3) - q.unsqueeze(-2)": SQUARE,
        "gaps = -(q.unsqueeze(-2) - k.unsqueeze(-3))": SQUARE,
        "nearness = -(-gaps).square().sum(dim=-1) / (2 * bandwidth ** 2)": SQUARE,
        "nearness = -gaps.square().sum(dim=-1) / (bandwidth ** 2 * 2)": PRODUCT,
        "nearness = -gaps.square().sum(dim=-1) / (2 * (-bandwidth) ** 2)": SQUARE,
    },
    "local_attention_weights": {
        "n_q, n_k = (-scores).shape[-2:]": SIZE,
        "i = torch.arange(n_q, device=scores.device).unsqueeze_(-1)": OWN,
        "i = torch.arange(n_q, device=(-scores).device).unsqueeze(-1)": SIZE,
        "i = torch.arange(n_q, device=scores.device).unsqueeze(1)": "1 is the last axis of two",
        "j = torch.arange(n_k, device=i.device)": "i is on the device of the scores",
        "j = torch.arange(n_k, device=(-scores).device)": SIZE,
        "far = (j - i).abs() > radius": "a distance has no direction",
        "far = (-(i - j)).abs() > radius": "a distance has no direction",
    },
    "additive_scores": {
        "pairs = offered.unsqueeze(-3) + asked.unsqueeze(-2)": SUM,
        "pairs = asked.unsqueeze_(-2) + offered.unsqueeze(-3)": OWN,
        "pairs = asked.unsqueeze(-2) + offered.unsqueeze_(-3)": OWN,
    },
    "message_passing": {
        "return torch.where(edges, shares, -0.0) @ messages": "0 has no sign in a sum",
    },
}
