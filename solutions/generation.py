"""Token after token: a model writes (chapter 13)."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from solutions.sampling import sample_token

Model = Callable[..., tuple[Tensor, Any]]


def generate(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """Let a model go on with prompts, always with its most probable token.

    model   model(tokens) gives logits (B, L, V) of the token after each
            position, and caches, which are not used here
    prompt  (B, L)      int64, all of one length
    steps   how many tokens to add at most; may be 0
    end     the token that says that a row is finished. From then on the row
            gets `end` alone. In the prompt it means nothing
    ->      (B, L + N)  the prompt and N new tokens. N is `steps`, or less:
            when the last row has finished, nothing more is added

    Source: Graves 2013, section 2, with the best token in the place of a
    drawn one.

    >>> import torch
    >>> def count(tokens):  # a model that counts up to 4, and then begins at 0
    ...     return torch.eye(5)[(tokens + 1) % 5], None
    >>> generate(count, torch.tensor([[0, 1], [2, 3]]), steps=5, end=4)
    tensor([[0, 1, 2, 3, 4],
            [2, 3, 4, 4, 4]])
    """
    ### BEGIN SOLUTION
    tokens = prompt
    done = torch.zeros_like(prompt[:, 0], dtype=torch.bool)  # (B,)
    for _ in range(steps):
        logits = model(tokens)[0]
        best = logits[:, -1].argmax(-1).masked_fill(done, end)  # (B,)
        tokens = torch.cat([tokens, best[:, None]], 1)
        done = done | (best == end)
        if done.all():
            break
    return tokens
    ### END SOLUTION


def generate_cached(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int
) -> Tensor:
    """Let a model go on with prompts of several lengths, and feed it once.

    model     model(tokens, caches, keep) gives logits (B, L, V) for the
              tokens that it is fed, and the caches with them in. caches are
              those of all tokens before, None at the start; keep (B, N), bool,
              is about all tokens so far, fed before or now. Its parameters
              have these names
    prompt    (B, L)      int64; short prompts have padding in front
    keep      (B, L)      bool, False where there is padding
    uniforms  (N, B)      numbers from [0, 1): row i draws the tokens of step
                          i, as in `sample_token`
    end       the token that says that a row is finished, as in `generate`
    ->        (B, L + N)  the prompts, padding too, and the new tokens; less
                          than N when all rows have finished before

    Each token is fed once: first the prompt, then one token of each row at a
    time. The token that is drawn last need not be fed.

    Source: Pope et al. 2023, section 2.

    >>> import torch
    >>> def count(tokens, caches, keep):
    ...     return torch.eye(5)[(tokens + 1) % 5].log(), caches
    >>> keep = torch.tensor([[True, True], [False, True]])
    >>> prompt, uniforms = torch.tensor([[0, 1], [0, 3]]), torch.rand(5, 2)
    >>> generate_cached(count, prompt, keep, uniforms, end=4)
    tensor([[0, 1, 2, 3, 4],
            [0, 3, 4, 4, 4]])
    """
    ### BEGIN SOLUTION
    tokens, fed, caches = prompt, prompt, None
    done = torch.zeros_like(keep[:, 0])  # (B,)
    for uniform in uniforms:
        logits, caches = model(fed, caches, keep)
        new = sample_token(logits[:, -1], uniform).masked_fill(done, end)
        fed = new[:, None]  # (B, 1)
        tokens = torch.cat([tokens, fed], 1)
        keep = torch.cat([keep, torch.ones_like(keep[:, :1])], 1)
        done = done | (new == end)
        if done.all():
            break
    return tokens
    ### END SOLUTION
