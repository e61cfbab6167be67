"""From a text to batches, and to a model that counts (chapter 12)."""

import torch
from torch import Tensor


def make_batches(
    tokens: Tensor,
    context: int,
    batch: int,
    generator: torch.Generator,
) -> tuple[Tensor, Tensor]:
    """Cut random pieces out of a text, and say what comes next in each.

    tokens     (N,)  int64, the text; longer than context
    context    L, the length of each piece
    batch      B, how many pieces
    generator  all chance comes from it; may live on another device than the
               tokens
    ->         inputs (B, L), pieces of the text; each place at which a piece
               and its targets fit is equally likely, and drawn again for
               each piece
               targets (B, L), for each input the token that follows it

    Source: Radford et al. 2018, section 4.1, for pieces drawn at random.

    >>> import torch
    >>> g = torch.Generator().manual_seed(0)
    >>> inputs, targets = make_batches(torch.tensor([7, 8, 9]), 2, 1, g)
    >>> inputs, targets
    (tensor([[7, 8]]), tensor([[8, 9]]))
    """
    ### BEGIN SOLUTION
    starts = torch.randint(
        len(tokens) - context,
        (batch, 1),
        generator=generator,
        device=generator.device,
    )
    along = torch.arange(context + 1, device=tokens.device)
    pieces = tokens[starts.to(tokens.device) + along]
    return pieces[:, :-1], pieces[:, 1:]
    ### END SOLUTION


def bigram_table(
    tokens: Tensor,
    vocabulary: int,
    extra: float = 1.0,
) -> Tensor:
    """Count which token follows which, and make it a language model.

    tokens      (N,)   int64, the text
    vocabulary  V, how many different tokens there are
    extra       added to the count of every pair before it is divided
    ->          (V, V) float32; entry [a, b] is the logarithm of the
                probability that b comes after a

    Source: Jelinek and Mercer 1980, for counts that are smoothed.

    >>> import torch
    >>> bigram_table(torch.tensor([0, 1, 0, 1]), 2).exp()
    tensor([[0.2500, 0.7500],
            [0.6667, 0.3333]])
    """
    ### BEGIN SOLUTION
    pairs = tokens[:-1] * vocabulary + tokens[1:]
    counts = pairs.bincount(minlength=vocabulary**2) + extra
    table = counts.view(vocabulary, vocabulary)
    return (table / table.sum(1, keepdim=True)).log()
    ### END SOLUTION
