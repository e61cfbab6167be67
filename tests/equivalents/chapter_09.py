"""Changed answers of chapter 09 that compute the same function, and why.

The changed line, exactly as it is printed -> the reason.
"""

PRODUCT = "a product of numbers has no order"
SUM = "a sum has no order"
DOT = "the sum of the products is the inner product"
SIGN = "a sign does not change a shape, dtype or device"
SIGNS = "two signs cancel: the table of the queue is used twice"
ZERO = "there is one zero only"
ONE = "all terms but one are 0, and that one is not negative"
TRUTH = "True is 1 and False is 0: a sign leaves which of them is 0"
LAST = "of two axes, the second is the last; by default it is the last"
LIKE = "both have the same dtype and device"
FILLED = "every entry is written afterwards"
QUEUES = "an expert that nobody chose has no queue to look up"
INITIAL = "the layer may begin with any weights"
SPARE = "one row more at the end: the last is read by nobody who has a place"
FLAT = "flattened tokens are as wide as before"
INDEX = "a tensor that holds one whole number serves as one"

# The layer's matrices: drawn in a loop.
ALL = "for matrices in (self.w_gate, self.w_up, self.w_down):\n    "
DRAWN = ":\n    nn.init.normal_(matrices, std=d_model ** (-0.5))"
HEADS = (
    "(deleted) for matrices in (self.w_gate, self.w_up, self.w_down)",
    "for matrices in (self.w_up, self.w_gate, self.w_down)",
    "for matrices in (self.w_down, self.w_up, self.w_gate)",
    "for matrices in (self.w_gate, self.w_down, self.w_up)",
    "for matrices in self.w_gate",
    "for matrices in self.w_up",
    "for matrices in self.w_down",
)
BODIES = (
    "-nn.init.normal_(matrices, std=d_model ** (-0.5))",
    "pass",
    "nn.init",
    "matrices",
    "nn.init.normal_(matrices)",
    "nn.init.normal_(matrices, std=d_model + -0.5)",
    "nn.init.normal_(matrices, std=d_model - -0.5)",
    "nn.init.normal_(matrices, std=d_model % -0.5)",
    "nn.init.normal_(matrices, std=d_model)",
    "nn.init.normal_(matrices, std=d_ff ** (-0.5))",
    "nn.init.normal_(matrices, std=experts ** (-0.5))",
    "nn.init.normal_(matrices, std=k ** (-0.5))",
    "nn.init.normal_(matrices, std=d_model ** 0.5)",
)
# The layer's places: those of the busiest expert, or by the factor.
LIMITED = (
    "if self.factor is None:\n    places = int(experts.flatten().bincount().max())\n"
    "else:\n    places = "
)
ELSE = "\nelse:\n    places = expert_capacity(len(tokens), count, self.k, self.factor)"

EQUIVALENT: dict[str, dict[str, str]] = {
    "expert_parameters": {
        "router, expert = (d_model * experts, 3 * d_model * d_ff)": PRODUCT,
        "router, expert = (experts * d_model, d_ff * (3 * d_model))": PRODUCT,
        "router, expert = (experts * d_model, d_model * 3 * d_ff)": PRODUCT,
        "total = (experts + shared) * expert + router": SUM,
        "total = router + expert * (experts + shared)": PRODUCT,
        "total = router + (shared + experts) * expert": SUM,
        "return (total, (k + shared) * expert + router)": SUM,
        "return (total, router + expert * (k + shared))": PRODUCT,
        "return (total, router + (shared + k) * expert)": SUM,
    },
    "top_k_route": {
        "largest, experts = probabilities.topk(k)": LAST,
    },
    "noisy_logits": {
        "if not -training:\n    return logits": TRUTH,
        "return noise * scale + logits": SUM,
        "return logits + scale * noise": PRODUCT,
    },
    "load_balancing_loss": {
        "count = (-logits).shape[-1]": SIGN,
        "count = logits.shape[1]": LAST,
        "chosen = one_hot(experts, count).to((-logits).dtype)": SIGN,
        "share = chosen.mean((1, 0))": SUM,
        "probability = logits.softmax(1).mean(0)": LAST,
        "return (share * probability).sum() * count": PRODUCT,
        "return count * (share @ probability).sum()": DOT,
        "return count * (probability * share).sum()": PRODUCT,
    },
    "expert_capacity": {
        "return math.ceil(factor * (tokens * k) / experts)": PRODUCT,
        "return math.ceil(k * tokens * factor / experts)": PRODUCT,
    },
    "dispatch_slots": {
        "queue = one_hot(experts.T.reshape(-1))": QUEUES,
        "queue = -one_hot(experts.T.reshape(-1), count)": SIGNS,
        "place = (before * queue).amax(-1)": ONE,
        "place = (queue * before).sum(-1)": PRODUCT,
        "place = (before * queue).sum(1)": LAST,
        "return place.view((-experts).T.shape).T": SIGN,
    },
    "MixtureOfExperts": {
        **{head + DRAWN: INITIAL for head in HEADS},
        **{ALL + body: INITIAL for body in BODIES},
        LIMITED + "expert_capacity(self.k, count, len(tokens), self.factor)": PRODUCT,
        LIMITED + "expert_capacity(self.factor, count, self.k, len(tokens))": PRODUCT,
        LIMITED + "expert_capacity(len(tokens), count, self.factor, self.k)": PRODUCT,
        LIMITED + "expert_capacity(len(-tokens), count, self.k, self.factor)": SIGN,
        "self.w_gate = nn.Parameter(-torch.empty(experts, d_ff, d_model))": INITIAL,
        "self.w_up = nn.Parameter(-torch.empty(experts, d_ff, d_model))": INITIAL,
        "self.w_down = nn.Parameter(-torch.empty(experts, d_model, d_ff))": INITIAL,
        "if self.factor is None:\n    places = experts.flatten().bincount().max()" + ELSE: INDEX,
        "room = -tokens.new_zeros(count, places + 1, x.shape[-1])": ZERO,
        "room = x.new_zeros(count, places + 1, x.shape[-1])": LIKE,
        "room = (-tokens).new_zeros(count, places + 1, x.shape[-1])": SIGN,
        "room = tokens.new_zeros(count, 1 + places, x.shape[-1])": SUM,
        "room = tokens.new_zeros(count, places + 2, x.shape[-1])": SPARE,
        "room = tokens.new_zeros(count, places + 1, tokens.shape[-1])": FLAT,
        "room = tokens.new_zeros(count, places + 1, (-x).shape[-1])": SIGN,
        "kept = room": SPARE,
        "kept = room[:]": SPARE,
        "gate, up = (kept @ self.w_up.mT, silu(kept @ self.w_gate.mT))": PRODUCT,
        "said = pad(up * gate @ self.w_down.mT, (0, 0, 0, 1))": PRODUCT,
        "said = pad(gate * up @ self.w_down.mT, (0, 0, 0, 2))": SPARE,
        "mixed = said[experts, slots] * weights[..., None]": PRODUCT,
        "return mixed.sum(1).view_as(-x)": SIGN,
    },
    "balanced_hash": {
        "table = -torch.empty_like(counts)": FILLED,
        "table = torch.empty_like(-counts)": SIGN,
        "load = -counts.new_zeros(experts)": ZERO,
        "load = table.new_zeros(experts)": LIKE,
        "load = (-counts).new_zeros(experts)": SIGN,
    },
}
