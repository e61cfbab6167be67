"""Changed answers of chapter 12 that compute the same function, and why.

The changed line, exactly as it is printed -> the reason.
"""

PRODUCT = "a product of numbers has no order"
SUM = "a sum has no order"
EVEN = "the cosine does not know a sign"
SMALLER = "the smaller of two does not depend on their order"
WIDER = "the wider of two dtypes does not depend on their order"
SIGN = "a sign does not change a dtype"
SQUARED = "a square has no sign"
SIGNS = "two signs cancel: the table is divided by its own sums"
LAST = "of two axes, the second is the last"
ALIKE = "all gradients have one dtype"
CPU = "the generators of the checks are on the CPU, and so is what they draw"
SIGN_OF_TEXT = "a sign does not change a length or device"
THERE = "both are on the device of the text"

DRAWN = "starts = torch.randint(len(tokens) - context, (batch, 1), generator=generator"

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
    "make_batches": {
        DRAWN + ")": CPU,
        DRAWN.replace("tokens", "-tokens") + ", device=generator.device)": SIGN_OF_TEXT,
        "along = torch.arange(1 + context, device=tokens.device)": SUM,
        "along = torch.arange(context + 1, device=(-tokens).device)": SIGN_OF_TEXT,
        "pieces = tokens[along + starts.to(tokens.device)]": SUM,
        "pieces = tokens[starts.to(along.device) + along]": THERE,
        "pieces = tokens[starts.to((-tokens).device) + along]": SIGN_OF_TEXT,
    },
    "bigram_table": {
        "pairs = tokens[1:] + tokens[:-1] * vocabulary": SUM,
        "pairs = vocabulary * tokens[:-1] + tokens[1:]": PRODUCT,
        "counts = extra + pairs.bincount(minlength=vocabulary ** 2)": SUM,
        "counts = -(pairs.bincount(minlength=vocabulary ** 2) + extra)": SIGNS,
        "counts = pairs.bincount(minlength=(-vocabulary) ** 2) + extra": SQUARED,
        "table = -counts.view(vocabulary, vocabulary)": SIGNS,
        "table = (-counts).view(vocabulary, vocabulary)": SIGNS,
        "return (table / table.sum(-1, keepdim=True)).log()": LAST,
    },
    "clip_gradients": {
        "wide = torch.promote_types(torch.float32, gradients[0].dtype)": WIDER,
        "wide = torch.promote_types(gradients[-1].dtype, torch.float32)": ALIKE,
        "squares = [(-g.to(wide)).square().sum() for g in gradients]": SQUARED,
        "return ([(factor * g).to(g.dtype) for g in gradients], length)": PRODUCT,
    },
}
