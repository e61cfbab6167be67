"""Changed answers of chapter 03 that compute the same function, and why.

The changed line, exactly as it is printed -> the reason.
"""

OWN = "writes into a tensor of its own, not the caller's"
SIGN = "a sign changes neither shape nor device"
ZERO = "there is no second zero: -0 is 0"
SAME_DEVICE = "it is on the device of the tokens"
EITHER = "any number does that is equal within a document and differs between two"
ANY_CHANGE = "any change of a token does that is random in every feature"
PUSH = "1 + torch.rand_like(x[j])"
OTHER_PUSHES = (
    "1 - torch.rand_like(x[j])",
    "1 * torch.rand_like(x[j])",
    "1 / torch.rand_like(x[j])",
    "1 % torch.rand_like(x[j])",
    "torch.rand_like(x[j])",
    "torch.rand_like(x[j]) + 1",
    "-(1 + torch.rand_like(x[j]))",
    "0 + torch.rand_like(x[j])",
    "2 + torch.rand_like(x[j])",
    "-1 + torch.rand_like(x[j])",
    "1 + -torch.rand_like(x[j])",
)
LOOP = """\
for j in range({0}.shape[0]):
    changed = x.clone()
    changed[j] += {1}
    moved.append((model(changed) != before).any({2}))"""

EQUIVALENT: dict[str, dict[str, str]] = {
    "padding_mask": {
        "positions = torch.arange(n_k, device=(-lengths).device)": SIGN,
    },
    "combine_masks": {
        (
            "for mask in masks:\n"
            "    if mask is not None:\n"
            "        combined = mask if combined is None else mask & combined"
        ): "`&` has no order",
    },
    "additive_mask": {
        "return scores.new_zeros(mask.shape).masked_fill_(~mask, -math.inf)": OWN,
        "return (-scores.new_zeros(mask.shape)).masked_fill(~mask, -math.inf)": ZERO,
        "return (-scores).new_zeros(mask.shape).masked_fill(~mask, -math.inf)": SIGN,
    },
    "masked_softmax": {
        "return softmax(visible).masked_fill_(~mask, 0.0)": OWN,
        "return softmax(visible).masked_fill(~mask, -0.0)": ZERO,
    },
    "masked_attention": {
        "scores = q @ k.movedim(-2, -1) / math.sqrt(q.shape[-1])": (
            "next to each other, moving an axis is exchanging it"
        ),
        "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])": "an exchange has no order",
        "scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])": "q and k are equally wide",
        "scores = q @ k.transpose(-2, -1) / math.sqrt((-q).shape[-1])": SIGN,
    },
    "document_mask": {
        "ends = -(tokens == end).to(torch.int64)": EITHER,
        "document = ends - ends.cumsum(-1)": EITHER,
        "document = -(ends.cumsum(-1) - ends)": EITHER,
        "document = ends.cumsum(1) - ends": "the last of two axes",
        "same = document[:, None, :, None] <= document[:, None, None, :]": (
            "an earlier token is of no later document"
        ),
        "n = tokens.shape[-1]": "the last of two axes",
        "n = ends.shape[1]": "ends has the shape of the tokens",
        "n = document.shape[1]": "document has the shape of the tokens",
        "n = (-tokens).shape[1]": SIGN,
        "return causal_mask(n, n, tokens.device) & same": "`&` has no order",
        "return same & causal_mask(n, n, ends.device)": SAME_DEVICE,
        "return same & causal_mask(n, n, document.device)": SAME_DEVICE,
        "return same & causal_mask(n, n, same.device)": SAME_DEVICE,
        "return same & causal_mask(n, n, (-tokens).device)": SIGN,
    },
    "find_leak": {
        LOOP.format("before", PUSH, "-1"): "there is one output for each token",
        LOOP.format("(-x)", PUSH, "-1"): SIGN,
        LOOP.format("x", "1 + torch.rand_like(before[j])", "-1"): (
            "an output has the shape of its token"
        ),
        LOOP.format("x", "1 + torch.rand_like((-x)[j])", "-1"): SIGN,
        **{LOOP.format("x", push, "-1"): ANY_CHANGE for push in OTHER_PUSHES},
        LOOP.format("x", PUSH, "1"): "the last of two axes",
        "return torch.stack(moved, dim=-1).triu(1)": "a stack of vectors has two axes",
    },
}
