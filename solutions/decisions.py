"""Decisions as sequences: returns, states and actions (chapter 14)."""

import torch
from torch import Tensor, nn

from solutions.blocks import DecoderBlock
from solutions.norms import RMSNorm


def returns_to_go(rewards: Tensor, last: Tensor) -> Tensor:
    """Add up, at each step, the rewards from there to the episode's end.

    rewards  (B, L)  rows of a log, float; a row holds episodes one after
                     the other
    last     (B, L)  bool, True at the last step of an episode
    ->       (B, L)  the reward of the step itself and of those that follow
                     it in its episode. An episode that is cut off by the
                     row's end is summed up to there

    Source: Chen et al. 2021, section 3.

    >>> rewards = torch.tensor([[1.0, 2.0, 4.0, 8.0, 16.0]])
    >>> last = torch.tensor([[False, False, True, False, False]])
    >>> returns_to_go(rewards, last)
    tensor([[ 7.,  6.,  4., 24., 16.]])
    """
    ### BEGIN SOLUTION
    episode = last.cumsum(1) - last.long()  # (B, L), its number in the row
    same = episode[:, :, None] == episode[:, None, :]  # (B, L, L)
    to_come = same.triu()  # (B, L, L), True where a reward still counts
    return (to_come * rewards[:, None, :]).sum(2)
    ### END SOLUTION


def remaining_returns(target: Tensor, rewards: Tensor) -> Tensor:
    """Say at each step how much of the target is still to come.

    target   (B,)      the return that is asked of a whole episode
    rewards  (B, L)    what was got so far, step by step; L may be 0
    ->       (B, L+1)  the target, and what is left of it after each reward;
                       negative if more was got than asked

    Source: Chen et al. 2021, section 3.

    >>> target = torch.tensor([10.0])
    >>> remaining_returns(target, torch.tensor([[1.0, 4.0, 2.0]]))
    tensor([[10.,  9.,  5.,  3.]])
    """
    ### BEGIN SOLUTION
    whole = target[:, None]
    return torch.cat([whole, whole - rewards.cumsum(1)], dim=1)
    ### END SOLUTION


def interleave_tokens(*kinds: Tensor) -> Tensor:
    """Write several sequences as one: step by step, and kind by kind.

    kinds  N tensors (B, L, D), such as returns, states and actions
    ->     (B, N L, D)  the tokens of step 0, one of each kind in the given
                        order, then those of step 1, and so on

    Source: Chen et al. 2021, section 3.

    >>> returns, states = torch.tensor([[[1], [2]], [[10], [20]]])[:, None]
    >>> interleave_tokens(returns, states).tolist()
    [[[1], [10], [2], [20]]]
    """
    ### BEGIN SOLUTION
    return torch.stack(kinds, dim=2).flatten(1, 2)
    ### END SOLUTION


class DecisionTransformer(nn.Module):
    """Predict the action that led from here to the return that is asked.

    state_width  numbers that describe a state
    actions      how many actions there are to choose from
    d_model      width of the stream; that of a head is an even number
    layers       how many blocks
    heads        of the attention in each block
    steps        how many steps an episode may have

    Weights: embed_return and embed_state, each an nn.Linear with bias, from
    the one number of a return, and from those of a state, to the stream;
    embed_action and embed_step, each an nn.Embedding, with a row for every
    action and for every step; blocks, an nn.ModuleList of DecoderBlock, each
    with d_ff = 2 d_model; norm, an RMSNorm of the stream; head, an nn.Linear
    with bias from the stream to the actions.

    Source: Chen et al. 2021, section 3 and algorithm 1.

    >>> model = DecisionTransformer(4, 3, 8, layers=2, heads=2, steps=9)
    >>> returns, states = torch.zeros(2, 5), torch.zeros(2, 5, 4)
    >>> chosen, steps = torch.zeros(2, 2, 5, dtype=torch.int64)
    >>> model(returns, states, chosen, steps).shape
    torch.Size([2, 5, 3])
    """

    def __init__(
        self,
        state_width: int,
        actions: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        steps: int,
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.embed_return = nn.Linear(1, d_model)
        self.embed_state = nn.Linear(state_width, d_model)
        self.embed_action = nn.Embedding(actions, d_model)
        self.embed_step = nn.Embedding(steps, d_model)
        self.blocks = nn.ModuleList(
            DecoderBlock(d_model, heads, 2 * d_model) for _ in range(layers)
        )
        self.norm = RMSNorm(d_model)
        self.head = nn.Linear(d_model, actions)
        ### END SOLUTION

    def forward(
        self,
        returns: Tensor,
        states: Tensor,
        chosen: Tensor,
        steps: Tensor,
    ) -> Tensor:
        """Score the actions at each step, from all that was known there.

        returns  (B, L)     returns to go, float
        states   (B, L, S)  float
        chosen   (B, L)     the actions that were taken, int64
        steps    (B, L)     number of each step in its episode, int64; its
                            vector is added to all three tokens of the step
        ->       (B, L, A)  scores of the actions. A step has the tokens
                            return, state, action, in this order, and its
                            scores are read off the state: they depend on
                            the return and the state of the step and on all
                            of the steps before, not on its own action
        """
        ### BEGIN SOLUTION
        when = self.embed_step(steps)  # (B, L, D)
        wanted = self.embed_return(returns[..., None]) + when  # (B, L, D)
        seen = self.embed_state(states) + when  # (B, L, D)
        done = self.embed_action(chosen) + when  # (B, L, D)
        x = interleave_tokens(wanted, seen, done)
        for block in self.blocks:
            x, _ = block(x)
        scores: Tensor = self.head(self.norm(x[:, 1::3]))  # (B, L, A)
        return scores
        ### END SOLUTION
