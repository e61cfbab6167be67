"""What an answer is given as an argument beside plain data: functions, models, generators.

The judge sends their numbers; the side on which the answer runs makes the thing itself of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class BlackBox:
    """A function that an answer is given as an argument: it mixes tokens, and their features.

    mix       (L, L)  output i hears token j if entry [i, j] is not 0
    features  (D, D)  how the features of what it hears are mixed
    """

    mix: Tensor
    features: Tensor

    def function(self) -> Callable[[Tensor], Tensor]:
        """Make the function: (..., L, D) -> (..., L, D), strictly growing in what it hears."""

        def model(x: Tensor) -> Tensor:
            heard = self.mix.to(x) @ (x + x.tanh())
            return heard @ self.features.to(x)

        return model


@dataclass(frozen=True)
class TorchFunction:
    """A function of `torch.nn.functional` that an answer is given as an argument: "relu"."""

    name: str

    def function(self) -> Callable[[Tensor], Tensor]:
        """Look the function up."""
        found: Callable[[Tensor], Tensor] = getattr(functional, self.name)
        return found


@dataclass(frozen=True)
class Chance:
    """A generator of random numbers that an answer is given as an argument: on the CPU.

    used  how many numbers were drawn from it before
    """

    seed: int
    used: int = 0

    def function(self) -> torch.Generator:
        """Make the generator."""
        made = torch.Generator().manual_seed(self.seed)
        torch.rand(self.used, generator=made, device="cpu")
        return made


class _Table(nn.Module):
    def __init__(self, table: Tensor, gain: Tensor, rows: int, watched: bool) -> None:
        super().__init__()
        self.table, self.gain = nn.Parameter(table.clone()), nn.Parameter(gain.clone())
        self.rows, self.watched = rows, watched

    def forward(self, tokens: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Score the next tokens; in training half as high, as if something were left out."""
        if len(tokens) > self.rows:
            raise ValueError(f"the model takes {self.rows} rows at once, not {len(tokens)}")
        if self.watched and torch.is_grad_enabled():
            raise ValueError("the model is evaluated, and keeps all that a gradient would need")
        scores = self.table[tokens] * self.gain
        return (scores / 2 if self.training else scores), []


@dataclass(frozen=True)
class LearnedTable:
    """A language model that an answer is given as an argument: a table, learned as weights are.

    table  (V, V)  scores of the next token, by the token before
    gain   (V,)    what each score is multiplied by
    rows           how many rows it takes at once
    training       whether it is in training mode at first
    watched        whether it refuses to work where gradients are kept
    """

    table: Tensor
    gain: Tensor
    rows: int
    training: bool = True
    watched: bool = False

    def function(self) -> nn.Module:
        """Make the module: tokens (B, L) -> logits (B, L, V), and an empty list of caches."""
        made = _Table(self.table, self.gain, self.rows, self.watched)
        return made.train(self.training)


@dataclass(frozen=True)
class NextToken:
    """A language model that an answer is given as an argument; it remembers all that it is fed.

    embed   (V, D)  a vector for each token
    mix     (D, D)  how what was heard before is turned when a token comes
    head    (D, V)  scores of the next token
    budget  how many tokens of a sequence it may be fed in all; None is without limit
    """

    embed: Tensor
    mix: Tensor
    head: Tensor
    budget: int | None = None

    def function(self) -> Callable[..., tuple[Tensor, list[tuple[Tensor, Tensor]]]]:
        """Make the function: tokens, caches, keep -> logits (B, L, V), caches.

        The caches hold, of all tokens so far, their vectors (B, N, D) and numbers (B, N). What was
        heard is worked out anew, as attention does: `keep` can hide what was fed before, too.
        """
        fed = 0

        def model(
            tokens: Tensor, caches: Any = None, keep: Tensor | None = None
        ) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
            nonlocal fed
            fed += tokens.shape[1]
            if self.budget is not None and fed > self.budget:
                raise ValueError("the model has been fed more tokens than there are")
            embedded = self.embed[tokens]
            before, past = caches[0] if caches else (embedded[:, :0], tokens[:, :0])
            if len(past) != len(tokens):
                raise ValueError("the caches are of another batch")
            embedded = torch.cat([before, embedded], dim=1)
            so_far = torch.cat([past, tokens], dim=1)
            if keep is not None and keep.shape != so_far.shape:
                raise ValueError("keep must have an entry for each token so far")
            heard, steps = torch.zeros_like(embedded[:, 0]), []
            for i in range(so_far.shape[1]):
                new = (heard @ self.mix + embedded[:, i]).tanh()
                heard = new if keep is None else torch.where(keep[:, i, None], new, heard)
                steps.append(heard)
            scores = torch.stack(steps[past.shape[1] :], dim=1) @ self.head
            return scores, [(embedded, so_far)]

        return model
