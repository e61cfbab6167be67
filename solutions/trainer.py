"""Training a language model, step by step (chapter 12)."""

import torch
from torch import Tensor, nn

from solutions.losses import lm_loss
from solutions.optimiser import (
    clip_gradients,
    lr_schedule,
    parameter_groups,
)


class Trainer:
    """Everything that turns a model and batches into a trained model.

    model    a module; called with tokens (B, L) it returns a pair, of which
             logits (B, L, V) come first
    peak, warmup, total, floor
             of the learning rate: the first call of `step` uses the rate of
             step 1 of lr_schedule, the next that of step 2, and so on
    decay    of the parameters that parameter_groups names, by AdamW
    limit    of the length of the gradient, for clip_gradients

    Weights are changed by AdamW with betas (0.9, 0.95) and eps 1e-8, in the
    model itself. Three attributes are for others to use, as for saving a run:

    model      the model that was given
    optimiser  a torch.optim.AdamW, with its running means
    done       how many steps were taken; the rate of a step follows from it

    >>> import torch
    >>> from solutions.decoder import TransformerLM
    >>> model = TransformerLM(11, d_model=8, layers=1, heads=2, d_ff=8)
    >>> trainer = Trainer(model, peak=0.1, warmup=2, total=50)
    >>> tokens = torch.tensor([[1, 2, 3, 4]])
    >>> losses = [trainer.step(tokens[:, :-1], tokens[:, 1:])
    ...           for _ in range(50)]
    >>> losses[-1] < 0.1 < 1 < losses[0]
    True
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        peak: float,
        warmup: int,
        total: int,
        floor: float = 0.0,
        decay: float = 0.1,
        limit: float = 1.0,
    ) -> None:
        self.model, self.done = model, 0
        ### BEGIN SOLUTION
        self.limit = limit
        self.rates = (warmup, total, peak, floor)
        named = dict(model.named_parameters())
        decayed, spared = parameter_groups(named)
        groups = [
            {"params": [named[n] for n in decayed], "weight_decay": decay},
            {"params": [named[n] for n in spared], "weight_decay": 0.0},
        ]
        self.optimiser = torch.optim.AdamW(groups, lr=peak, betas=(0.9, 0.95))
        ### END SOLUTION

    def step(self, inputs: Tensor, targets: Tensor, parts: int = 1) -> float:
        """Learn from one batch, with the model in training mode.

        The model stays in training mode.

        inputs   (B, L)  int64
        targets  (B, L)  int64, the tokens that follow; all of them count
        parts    the rows go through the model in so many pieces, or in fewer,
                 as `chunk` cuts them; the step is that of the whole batch
        ->       the loss of the batch before the weights change
        """
        ### BEGIN SOLUTION
        self.model.train()
        self.optimiser.zero_grad()
        loss = 0.0
        pieces = inputs.chunk(parts), targets.chunk(parts)
        for x, y in zip(*pieces, strict=True):
            share = lm_loss(self.model(x)[0], y) * (len(x) / len(inputs))
            torch.autograd.backward(share)  # adds to what is there
            loss += share.item()
        found = [p.grad for p in self.model.parameters()]
        gradients = [g for g in found if g is not None]
        clipped, _ = clip_gradients(gradients, self.limit)
        for gradient, shorter in zip(gradients, clipped, strict=True):
            gradient.copy_(shorter)
        self.done += 1
        for group in self.optimiser.param_groups:
            group["lr"] = lr_schedule(self.done, *self.rates)
        self.optimiser.step()
        return loss
        ### END SOLUTION

    def evaluate(
        self,
        inputs: Tensor,
        targets: Tensor,
        parts: int = 1,
    ) -> float:
        """Measure the loss of a batch; nothing is learned or kept.

        The model works in evaluation mode. Afterwards all of it is in the
        mode in which the model was.

        inputs   (B, L)  int64
        targets  (B, L)  int64, the tokens that follow; all of them count
        parts    the rows go through the model in so many pieces, or in fewer,
                 as `chunk` cuts them
        ->       the mean loss over all tokens of the batch
        """
        ### BEGIN SOLUTION
        mode = self.model.training
        self.model.eval()
        loss = 0.0
        with torch.no_grad():
            pieces = inputs.chunk(parts), targets.chunk(parts)
            for x, y in zip(*pieces, strict=True):
                one = lm_loss(self.model(x)[0], y)
                loss += one.item() * len(x) / len(inputs)
        self.model.train(mode)
        return loss
        ### END SOLUTION
