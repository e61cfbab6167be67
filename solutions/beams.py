"""The most probable continuation, as far as a narrow search finds it (chapter 13)."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def beam_search(
    model: Callable[..., tuple[Tensor, Any]],
    prompt: Tensor,
    beams: int,
    steps: int,
    end: int,
    *,
    alpha: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Keep the best few continuations at every step, and return the best one.

    model   model(tokens) gives logits (B, L, V) of the token after each
            position, and caches, which are not used here
    prompt  (L,)  int64
    beams   how many continuations are kept after each step: those of the
            largest scores. The score is the sum of the log-probabilities
            of the new tokens
    steps   how many tokens a continuation gets at most, 1 or more
    end     the token with which a continuation is finished. A finished one
            keeps its score and its place among the beams as long as
            `beams` others are not better
    alpha   at the end, scores are divided by the number of new tokens, `end`
            included, to the power of alpha; the largest quotient wins,
            be that beam finished or not
    ->      (L + N,) the prompt and the N new tokens of the winner, to its
            first new `end`; and its quotient, a tensor of one number
            (which may be on the CPU, wherever the prompt is)

    Source: Sutskever et al. 2014, section 3.2; Wu et al. 2016, section 7.

    >>> import torch
    >>> chances = torch.tensor([[0.4, 0.6], [0.5, 0.5], [0.1, 0.9]])
    >>> def model(tokens):  # token 2 is only in the prompt, 1 is the end
    ...     return chances[tokens].log(), None
    >>> tokens, score = beam_search(model, torch.tensor([2]), 2, 3, end=1)
    >>> tokens, score.exp()
    (tensor([2, 1]), tensor(0.9000))
    """
    ### BEGIN SOLUTION
    rows, start = prompt[None], len(prompt)  # a row for each beam
    scores = torch.zeros(1, device=prompt.device)
    lengths = torch.zeros_like(rows[:, 0])
    for _ in range(steps):
        chances = model(rows)[0][:, -1].log_softmax(-1)
        done = (rows[:, start:] == end).any(1)
        stays = torch.full_like(chances[:1], -torch.inf)
        stays[:, end] = 0  # a finished beam costs nothing more
        chances = torch.where(done[:, None], stays, chances)
        sums = (scores[:, None] + chances).flatten()
        scores, best = sums.topk(min(beams, len(sums)))
        parents, tokens = best // chances.shape[1], best % chances.shape[1]
        rows = torch.cat([rows[parents], tokens[:, None]], 1)
        lengths = (lengths + ~done)[parents]
    quotients = scores / lengths**alpha
    winner = quotients.argmax()
    return rows[winner, : start + lengths[winner]], quotients[winner]
    ### END SOLUTION
