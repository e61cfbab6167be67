"""Changed answers of chapter 12 that compute the same function, and why.

The changed line, exactly as it is printed -> the reason.
"""

PRODUCT = "a product of numbers has no order"
SUM = "a sum has no order"
EVEN = "the cosine does not know a sign"
SMALLER = "the smaller of two does not depend on their order"
WIDER = "the wider of two dtypes does not depend on their order"
SIGN = "a sign does not change a dtype"

DOWN = "return floor + (peak - floor) * "

EQUIVALENT: dict[str, dict[str, str]] = {
    "bits_per_character": {
        "return tokens * loss / characters / math.log(2)": PRODUCT,
    },
    "lr_schedule": {
        "if step < warmup:\n    return step * peak / warmup": PRODUCT,
        "done = min((step - warmup) / (total - warmup), 1.0)": SMALLER,
        "done = -min(1.0, (step - warmup) / (total - warmup))": EVEN,
        "return (peak - floor) * (1 + math.cos(math.pi * done)) / 2 + floor": SUM,
        "return floor + (1 + math.cos(math.pi * done)) * (peak - floor) / 2": PRODUCT,
        DOWN + "(math.cos(math.pi * done) + 1) / 2": SUM,
        DOWN + "(1 + math.cos(done * math.pi)) / 2": PRODUCT,
        DOWN + "(1 + math.cos(-(math.pi * done))) / 2": EVEN,
        DOWN + "(1 + math.cos(math.pi * -done)) / 2": EVEN,
    },
    "lm_loss": {
        "wide = logits.to(torch.promote_types(torch.float32, logits.dtype))": WIDER,
        "wide = logits.to(torch.promote_types((-logits).dtype, torch.float32))": SIGN,
    },
}
