"""A layer of experts, and how many weights it has (chapter 09)."""

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, silu

from solutions.routing import dispatch_slots, expert_capacity, top_k_route


class MixtureOfExperts(nn.Module):
    """A feed-forward layer in which each token is sent to k of the experts.

    d_model   width of the tokens
    d_ff      inner width of each expert
    experts   how many there are
    k         how many each token gets
    factor    capacity factor; None means that an expert takes all that come

    Weights: router, a linear layer of d_model in and experts out, no bias;
    w_gate and w_up (X, F, D) and w_down (X, D, F), parameters. Expert i
    computes w_down[i] (silu(w_gate[i] x) * (w_up[i] x)).

    Source: Shazeer et al. 2017, section 2; Jiang et al. 2024, section 2.1.

    >>> import torch
    >>> layer = MixtureOfExperts(d_model=6, d_ff=10, experts=4, k=2)
    >>> layer(torch.zeros(2, 3, 6)).shape
    torch.Size([2, 3, 6])
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        experts: int,
        k: int,
        factor: float | None = None,
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.k, self.factor = k, factor
        self.router = nn.Linear(d_model, experts, bias=False)
        self.w_gate = nn.Parameter(torch.empty(experts, d_ff, d_model))
        self.w_up = nn.Parameter(torch.empty(experts, d_ff, d_model))
        self.w_down = nn.Parameter(torch.empty(experts, d_model, d_ff))
        for matrices in (self.w_gate, self.w_up, self.w_down):
            nn.init.normal_(matrices, std=d_model**-0.5)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Let each token be worked on by its experts.

        x   (B, L, D)
        ->  (B, L, D)  the weighted sum of what they say; a choice for which
                       no place was left adds nothing
        """
        ### BEGIN SOLUTION
        tokens = x.flatten(0, 1)  # (B*L, D)
        weights, experts = top_k_route(self.router(tokens), self.k)
        count = len(self.w_up)
        if self.factor is None:  # room for the busiest
            places = int(experts.flatten().bincount().max())
        else:
            places = expert_capacity(len(tokens), count, self.k, self.factor)
        slots = dispatch_slots(experts, count, places)  # (B*L, k)
        room = tokens.new_zeros(count, places + 1, x.shape[-1])
        room[experts, slots] = tokens[:, None]  # -1, the last, is thrown away
        kept = room[:, :places]  # (X, C, D)
        gate, up = silu(kept @ self.w_gate.mT), kept @ self.w_up.mT
        said = pad((gate * up) @ self.w_down.mT, (0, 0, 0, 1))
        mixed = weights[..., None] * said[experts, slots]  # (B*L, k, D)
        return mixed.sum(1).view_as(x)
        ### END SOLUTION


def expert_parameters(
    d_model: int, d_ff: int, experts: int, k: int, shared: int = 0
) -> tuple[int, int]:
    """Count the weights of one layer of experts, and those that a token uses.

    d_model  width of the tokens
    d_ff     inner width of each expert, which has three matrices
    experts  how many the router chooses from
    k        how many of them each token gets
    shared   experts of the same size besides, which every token gets
    ->       (total, active); the router has no bias and is active as a whole

    Source: Jiang et al. 2024, section 2.1.

    >>> expert_parameters(4, 6, experts=8, k=2)
    (608, 176)
    """
    ### BEGIN SOLUTION
    router, expert = experts * d_model, 3 * d_model * d_ff
    total = router + (experts + shared) * expert
    return total, router + (k + shared) * expert
    ### END SOLUTION
