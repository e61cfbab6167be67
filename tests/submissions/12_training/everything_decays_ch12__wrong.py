# rest: torch_style_ch12__pass
# hint: Trainer.EverythingDecays

# %%
class Trainer:
    def __init__(self, model, *, peak, warmup, total, floor=0.0, decay=0.1, limit=1.0):
        self.model = model
        self.optimizer = torch.optim.AdamW(
            model.parameters(), lr=peak, betas=(0.9, 0.95), weight_decay=decay
        )
        self.schedule = lambda n: lr_schedule(n, warmup, total, peak, floor)
        self.limit, self.n = limit, 0

    def loss(self, x, y):
        return lm_loss(self.model(x)[0], y)

    def step(self, inputs, targets, parts=1):
        self.model.train()
        self.optimizer.zero_grad()
        total = 0.0
        for x, y in zip(inputs.chunk(parts), targets.chunk(parts)):
            loss = self.loss(x, y) * len(x) / len(inputs)
            loss.backward()
            total += float(loss)
        nn.utils.clip_grad_norm_(self.model.parameters(), self.limit)
        self.n += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.schedule(self.n)
        self.optimizer.step()
        return total

    def evaluate(self, inputs, targets, parts=1):
        mode = self.model.training
        self.model.eval()
        with torch.no_grad():
            total = sum(
                self.loss(x, y).item() * len(x) / len(inputs)
                for x, y in zip(inputs.chunk(parts), targets.chunk(parts))
            )
        self.model.train(mode)
        return total
