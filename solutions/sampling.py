"""From the scores of the last position to one token (chapter 13)."""

import torch
from torch import Tensor


def apply_temperature(logits: Tensor, temperature: float) -> Tensor:
    """Make a distribution sharper or flatter, before the softmax.

    logits       (..., V)  scores of the next token; -inf is a token that is
                           hidden
    temperature  0 or more, divides the scores. At 0 the largest score of
                 each row stays as it is and all others become -inf
    ->           (..., V)  scores again, in the dtype of the logits

    Source: Ackley et al. 1985; Holtzman et al. 2020, section 3.3.

    >>> import torch
    >>> apply_temperature(torch.tensor([1.0, 3.0, 2.0]), 0.5)
    tensor([2., 6., 4.])
    >>> apply_temperature(torch.tensor([1.0, 3.0, 2.0]), 0)
    tensor([-inf, 3., -inf])
    """
    ### BEGIN SOLUTION
    if temperature == 0:
        best = logits.amax(-1, keepdim=True)  # (..., 1)
        return logits.masked_fill(logits < best, -torch.inf)
    return logits / temperature
    ### END SOLUTION


def top_k_filter(logits: Tensor, k: int) -> Tensor:
    """Hide all but the k best tokens.

    logits  (..., V)  scores of the next token, no two equal in a row, except
                      those that are -inf: hidden before, and hidden after
    k       how many stay, at least 1. If it is V or more, all do
    ->      (..., V)  scores; the others are -inf

    Source: Fan et al. 2018, section 5.4.

    >>> import torch
    >>> top_k_filter(torch.tensor([1.0, 3.0, 0.0, 2.0]), 2)
    tensor([-inf, 3., -inf, 2.])
    """
    ### BEGIN SOLUTION
    best = logits.topk(min(k, logits.shape[-1]), -1).values  # (..., k)
    return logits.masked_fill(logits < best[..., -1:], -torch.inf)
    ### END SOLUTION


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    """Hide all but the smallest set of best tokens that has the mass p.

    logits  (..., V)  scores of the next token, no two equal in a row, except
                      those that are -inf: hidden before, and hidden after
    p       from 0 to 1. Going from the most probable token down, a token
            stays if those before it have less than p together. So the one
            that crosses p stays, and the best one always does. With 1
            nothing is hidden
    ->      (..., V)  scores; the others are -inf

    Scores of half precision are added up in float32.

    Source: Holtzman et al. 2020, section 3.1.

    >>> import torch
    >>> logits = torch.tensor([0.15, 0.5, 0.05, 0.3]).log()
    >>> top_p_filter(logits, 0.6).exp()
    tensor([0.0000, 0.5000, 0.0000, 0.3000])
    """
    ### BEGIN SOLUTION
    if p == 1:
        return logits  # sums are rounded to 1 before the end
    ordered, order = logits.sort(-1, descending=True)
    wide = torch.promote_types(logits.dtype, torch.float32)
    mass = ordered.softmax(-1, dtype=wide).cumsum(-1)  # (..., V)
    hidden = torch.zeros_like(logits, dtype=torch.bool)  # (..., V)
    hidden = hidden.scatter(-1, order[..., 1:], mass[..., :-1] >= p)
    return logits.masked_fill(hidden, -torch.inf)
    ### END SOLUTION


def sample_token(logits: Tensor, uniform: Tensor) -> Tensor:
    """Draw a token from the distribution that scores stand for.

    logits   (..., V)  scores; -inf is a token that is never drawn
    uniform  (...)     a number for each row, drawn evenly from [0, 1), in
                       the dtype of the logits or in float32
    ->       (...)     int64, for each row the first token, in the order of
                       the vocabulary, such that it and those before it have
                       more than `uniform` of the probability together

    A hidden token is not drawn either where rounding leaves the sum of the
    probabilities a little above or below 1. Scores of half precision are
    added up in float32.

    Source: inversion, Devroye 1986, chapter 2.

    >>> import torch
    >>> logits = torch.tensor([0.2, 0.5, 0.3]).log().expand(3, 3)
    >>> sample_token(logits, torch.tensor([0.1, 0.6, 0.9]))
    tensor([0, 1, 2])
    """
    ### BEGIN SOLUTION
    wide = torch.promote_types(logits.dtype, torch.float32)
    mass = logits.softmax(-1, dtype=wide).cumsum(-1)  # (..., V)
    wanted = uniform[..., None] * mass[..., -1:]  # (..., 1)
    return (mass <= wanted).sum(-1)
    ### END SOLUTION
