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

TWO = "the last of two is the second"
REST = "for a number between 1/2 and 1, what is left of 1 is 1 minus it"
RENEWED = "each step sets the rate anew"
ZERO = "0 has no sign"
PAIRED = "both have as many pieces"
ROWS = "inputs and targets have as many rows"
RESULT = "the result is not used"
ALL_LEARN = "in the checks every parameter has a gradient"

OPTIMISER = "self.optimiser = torch.optim.AdamW(groups, {}betas=(0.9, 0.95))"
GROUPS = "groups = [{'params': [named[n] for n in decayed], 'weight_decay': decay}, "


def learned(zipped: str = ", strict=True", share: str = "") -> str:
    """Give the loop of a step, with one part changed."""
    share = share or "lm_loss(self.model(x)[0], y) * (len(x) / len(inputs))"
    inner = f"share = {share}\n    torch.autograd.backward(share)\n    loss += share.item()"
    return f"for x, y in zip(*pieces{zipped}):\n    {inner}"


def evaluated(zipped: str = ", strict=True", one: str = "one.item() * len(x) / len(inputs)") -> str:
    """Give the block of an evaluation, with one part changed."""
    cut = "pieces = (inputs.chunk(parts), targets.chunk(parts))"
    inner = f"one = lm_loss(self.model(x)[0], y)\n        loss += {one}"
    return (
        f"with torch.no_grad():\n    {cut}\n    for x, y in zip(*pieces{zipped}):\n        {inner}"
    )


def copied(zipped: str, sign: str = "") -> str:
    """Give the loop that copies clipped gradients, with one part changed."""
    return f"for gradient, shorter in zip({zipped}):\n    {sign}gradient.copy_(shorter)"


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
    "adamw_step": {
        "mean = (1 - betas[0]) * gradient + betas[0] * mean": SUM,
        "mean = mean * betas[0] + (1 - betas[0]) * gradient": PRODUCT,
        "mean = betas[0] * mean + gradient * (1 - betas[0])": PRODUCT,
        "square = (1 - betas[1]) * gradient ** 2 + betas[1] * square": SUM,
        "square = square * betas[1] + (1 - betas[1]) * gradient ** 2": PRODUCT,
        "square = betas[-1] * square + (1 - betas[1]) * gradient ** 2": TWO,
        "square = betas[1] * square + gradient ** 2 * (1 - betas[1])": PRODUCT,
        "square = betas[1] * square + 1 % betas[1] * gradient ** 2": REST,
        "square = betas[1] * square + (1 - betas[-1]) * gradient ** 2": TWO,
        "square = betas[1] * square + (1 - betas[1]) * (-gradient) ** 2": SQUARED,
        "size = eps + (square / (1 - betas[1] ** step)).sqrt()": SUM,
        "size = (square / (1 - betas[-1] ** step)).sqrt() + eps": TWO,
        "shrunk = (1 - lr * decay) * parameter": PRODUCT,
        "shrunk = parameter * (1 - decay * lr)": PRODUCT,
        "return (shrunk - direction * lr / size, mean, square)": PRODUCT,
    },
    "Trainer": {
        GROUPS + "{'params': [named[n] for n in spared], 'weight_decay': -0.0}]": ZERO,
        OPTIMISER.format(""): RENEWED,
        **{
            OPTIMISER.format(f"lr={name}, "): RENEWED
            for name in ("warmup", "total", "floor", "decay", "limit")
        },
        "loss = -0.0": ZERO,
        learned(""): PAIRED,
        learned(", strict=False"): PAIRED,
        learned(share="len(x) / len(inputs) * lm_loss(self.model(x)[0], y)"): PRODUCT,
        learned(share="lm_loss(self.model(x)[0], y) * (len(x) / len(targets))"): ROWS,
        learned(share="lm_loss(self.model(x)[0], y) * (len(x) / len(-inputs))"): SIGN_OF_TEXT,
        "clipped, _ = clip_gradients(found, self.limit)": ALL_LEARN,
        copied("gradients, clipped"): PAIRED,
        copied("found, clipped, strict=True"): ALL_LEARN,
        copied("gradients, clipped, strict=False"): PAIRED,
        copied("gradients, clipped, strict=True", "-"): RESULT,
        evaluated(""): PAIRED,
        evaluated(", strict=False"): PAIRED,
        evaluated(one="len(x) * one.item() / len(inputs)"): PRODUCT,
        evaluated(one="one.item() * len(x) / len(targets)"): ROWS,
        evaluated(one="one.item() * len(x) / len(-inputs)"): SIGN_OF_TEXT,
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
