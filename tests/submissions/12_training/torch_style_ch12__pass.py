# Everything that torch has, from torch.

# %%
def bits_per_character(loss, tokens, characters):
    return loss / math.log(2) * tokens / characters


# %%
def make_batches(tokens, context, batch, generator):
    ix = torch.randint(len(tokens) - context, (batch,), generator=generator)
    x = torch.stack([tokens[i:i + context] for i in ix])
    y = torch.stack([tokens[i + 1:i + 1 + context] for i in ix])
    return x, y


# %%
def lm_loss(logits, targets):
    B, L, V = logits.shape
    if logits.dtype != torch.float64:
        logits = logits.float()
    return F.cross_entropy(logits.reshape(B * L, V), targets.reshape(B * L))


# %%
def bigram_table(tokens, vocabulary, extra=1.0):
    counts = torch.full((vocabulary, vocabulary), float(extra), device=tokens.device)
    for a, b in zip(tokens[:-1], tokens[1:]):
        counts[a, b] += 1
    return torch.log(counts / counts.sum(dim=1, keepdim=True))


# %%
def lr_schedule(step, warmup, total, peak, floor=0.0):
    if step < warmup:
        return peak * (step / warmup)
    if step > total:
        return floor
    coeff = 0.5 * (1.0 + math.cos(math.pi * (step - warmup) / (total - warmup)))
    return floor + coeff * (peak - floor)


# %%
def adamw_step(parameter, gradient, mean, square, step, lr, betas=(0.9, 0.95), eps=1e-8, decay=0.1):
    beta1, beta2 = betas
    m = beta1 * mean + (1 - beta1) * gradient
    v = beta2 * square + (1 - beta2) * gradient * gradient
    alpha = lr * math.sqrt(1 - beta2 ** step) / (1 - beta1 ** step)
    p = parameter - alpha * m / (v.sqrt() + eps)
    p = p - lr * decay * p
    return p, m, v


# %%
def parameter_groups(parameters):
    decay = [n for n, p in parameters.items() if p.dim() >= 2]
    no_decay = [n for n, p in parameters.items() if p.dim() < 2]
    return decay, no_decay


# %%
def clip_gradients(gradients, limit):
    wide = torch.float64 if gradients[0].dtype == torch.float64 else torch.float32
    norms = torch.stack([g.to(wide).norm() for g in gradients])
    total = norms.norm()
    scale = min(1.0, limit / (total.item() + 1e-12))
    return [(g.to(wide) * scale).to(g.dtype) for g in gradients], total


# %%
class Trainer:
    def __init__(self, model, *, peak, warmup, total, floor=0.0, decay=0.1, limit=1.0):
        self.model = model
        self.opt = torch.optim.AdamW([
            {"params": [p for p in model.parameters() if p.dim() >= 2], "weight_decay": decay},
            {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0},
        ], lr=peak, betas=(0.9, 0.95), eps=1e-8)
        self.args = (warmup, total, peak, floor)
        self.limit = limit
        self.n = 0

    def step(self, inputs, targets, parts=1):
        self.n += 1
        self.model.train()
        self.opt.zero_grad(set_to_none=True)
        total = 0.0
        for x, y in zip(inputs.chunk(parts), targets.chunk(parts)):
            logits = self.model(x)[0]
            loss = lm_loss(logits, y) * x.shape[0] / inputs.shape[0]
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.limit)
        for g in self.opt.param_groups:
            g["lr"] = lr_schedule(self.n, *self.args)
        self.opt.step()
        return total

    @torch.no_grad()
    def evaluate(self, inputs, targets, parts=1):
        training = self.model.training
        self.model.eval()
        total = 0.0
        for x, y in zip(inputs.chunk(parts), targets.chunk(parts)):
            total += lm_loss(self.model(x)[0], y).item() * x.shape[0]
        self.model.train(training)
        return total / inputs.shape[0]
