"""How wrong a language model is, in nats and in bits (chapter 12)."""

import math

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


def bits_per_character(loss: float, tokens: int, characters: int) -> float:
    """Turn a loss into a number that does not depend on the tokens.

    loss        mean over the tokens, in nats
    tokens      how many tokens the text has
    characters  how many characters the same text has
    ->          mean over the characters, in bits

    Source: Shannon 1951, for the unit.

    >>> round(bits_per_character(3.0, tokens=100, characters=400), 4)
    1.082
    """
    ### BEGIN SOLUTION
    return loss * tokens / characters / math.log(2)
    ### END SOLUTION


def lm_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Average what the right next tokens cost, in nats.

    logits   (B, L, V)  scores of every token of the vocabulary
    targets  (B, L)     int64, the right ones, already shifted; -100 marks a
                        place that does not count
    ->       ()         mean over all places that count; float32 where the
                        logits are in half precision, else their dtype

    Source: Bengio et al. 2003, section 2.

    >>> import torch
    >>> lm_loss(torch.zeros(2, 3, 65), torch.zeros(2, 3, dtype=torch.int64))
    tensor(4.1744)
    """
    ### BEGIN SOLUTION
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return cross_entropy(wide.flatten(0, 1), targets.flatten())
    ### END SOLUTION
