"""A small model guesses, a large one checks (chapter 13)."""

import torch
from torch import Tensor

from solutions.sampling import sample_token


def speculative_accept(
    target: Tensor,
    guess: Tensor,
    draft: Tensor,
    uniforms: Tensor,
) -> Tensor:
    """Keep as much of a draft as leaves the target's distribution unchanged.

    target    (K + 1, V)  probabilities of the large model: of each drafted
                          token, and of the token after the draft
    guess     (K, V)      probabilities of the small one, from which the
                          draft was drawn
    draft     (K,)        int64, the drafted tokens
    uniforms  (K + 1,)    numbers from [0, 1): one for each drafted token, and
                          one for the token that is drawn at last
    ->        (N + 1,)    int64, the N drafted tokens before the first refused
                          one, and one token more

    Token x of place i is kept if uniforms[i] < target[i, x] / guess[i, x].
    At the first that is not, a token is drawn in its place, from what target
    has more than guess: max(0, target - guess), divided by its sum. If all
    are kept, one is drawn from the last row of target. Either way it is
    drawn with the last uniform, as in `sample_token`.

    Source: Leviathan et al. 2023, algorithm 1; Chen et al. 2023.

    >>> import torch
    >>> target = torch.tensor([[0.5, 0.5], [0.2, 0.8]])
    >>> guess, draft = torch.tensor([[0.9, 0.1]]), torch.tensor([0])
    >>> speculative_accept(target, guess, draft, torch.tensor([0.5, 0.7]))
    tensor([0, 1])
    >>> speculative_accept(target, guess, draft, torch.tensor([0.6, 0.7]))
    tensor([1])
    """
    ### BEGIN SOLUTION
    for i, token in enumerate(draft):
        if uniforms[i] * guess[i, token] >= target[i, token]:
            rest = (target[i] - guess[i]).clamp(min=0)  # (V,)
            kept = draft[:i]
            break
    else:
        rest, kept = target[-1], draft
    new = sample_token(rest.log(), uniforms[-1])
    return torch.cat([kept, new[None]])
    ### END SOLUTION
