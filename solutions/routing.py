"""Which expert gets which token (chapter 09)."""

import math

import torch
from torch import Tensor
from torch.nn.functional import linear, one_hot, softplus


def top_k_route(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Choose k experts for each token, and say how much each counts.

    logits  (..., X)  what the router says of each expert
    k       how many experts a token gets
    ->      weights (..., k), positive, the largest first; they sum to 1
            experts (..., k), int64, the number of each of them

    Source: Shazeer et al. 2017, section 2.1.

    >>> import torch
    >>> weights, experts = top_k_route(torch.tensor([1.0, 3.0, 0.0, 2.0]), 2)
    >>> weights
    tensor([0.7311, 0.2689])
    >>> experts
    tensor([1, 3])
    """
    ### BEGIN SOLUTION
    probabilities = logits.softmax(-1)  # (..., X)
    largest, experts = probabilities.topk(k, -1)
    return largest / largest.sum(-1, keepdim=True), experts
    ### END SOLUTION


def noisy_logits(
    x: Tensor,
    w_router: Tensor,
    w_noise: Tensor,
    noise: Tensor,
    training: bool,
) -> Tensor:
    """Add noise to what the router says, as much as it thinks fit.

    x         (..., D)  tokens
    w_router  (X, D)    a row for each expert, used as in nn.Linear: x w^T
    w_noise   (X, D)    whose softplus is how strong the noise is
    noise     (..., X)  numbers drawn from a standard normal distribution
    training  without it there is no noise
    ->        (..., X)

    Source: Shazeer et al. 2017, section 2.1.

    >>> import torch
    >>> x, noise = torch.ones(1), torch.tensor([1.0, -1.0])
    >>> w_router, w_noise = torch.tensor([[2.0], [0.0]]), torch.zeros(2, 1)
    >>> noisy_logits(x, w_router, w_noise, noise, training=True)
    tensor([ 2.6931, -0.6931])
    """
    ### BEGIN SOLUTION
    logits = linear(x, w_router)  # (..., X)
    if not training:
        return logits
    scale = softplus(linear(x, w_noise))  # (..., X)
    return logits + noise * scale
    ### END SOLUTION


def load_balancing_loss(logits: Tensor, experts: Tensor) -> Tensor:
    """Measure how unevenly the tokens of a batch are shared out.

    logits   (L, X)  what the router says of each expert, for L tokens
    experts  (L, k)  the experts that each token was given, int64
    ->       ()      X times the sum of f P over the experts: f is the
                     share of all choices, P the mean probability

    Source: Fedus et al. 2022, section 2.2.

    >>> import torch
    >>> logits = torch.tensor([[2.0, 0.0], [2.0, 0.0]])
    >>> load_balancing_loss(logits, torch.tensor([[0], [0]]))
    tensor(1.7616)
    """
    ### BEGIN SOLUTION
    count = logits.shape[-1]
    chosen = one_hot(experts, count).to(logits.dtype)  # (L, k, X)
    share = chosen.mean((0, 1))  # (X)
    probability = logits.softmax(-1).mean(0)  # (X)
    return count * (share * probability).sum()
    ### END SOLUTION


def expert_capacity(tokens: int, experts: int, k: int, factor: float) -> int:
    """Count the places that each expert has.

    tokens   how many tokens there are
    experts  how many experts share them out
    k        how many of them each token gets
    factor   1 leaves room for the mean load, 2 for twice that
    ->       a whole number, rounded up

    Source: Lepikhin et al. 2021, section 2.2.

    >>> expert_capacity(10, experts=4, k=2, factor=1.25)
    7
    """
    ### BEGIN SOLUTION
    return math.ceil(tokens * k * factor / experts)
    ### END SOLUTION


def dispatch_slots(experts: Tensor, count: int, capacity: int) -> Tensor:
    """Give each choice a place at its expert, as long as there are any.

    experts   (L, k)  the experts that each of L tokens was given, int64
    count     how many experts there are
    capacity  how many places each has: 0 to capacity - 1
    ->        (L, k)  int64, the place of each choice; -1 if none was left

    First come the first choices of all tokens, in the order of the tokens,
    then their second choices, and so on.

    Source: Lepikhin et al. 2021, algorithm 1.

    >>> import torch
    >>> experts = torch.tensor([[0, 1], [0, 1], [1, 0]])
    >>> dispatch_slots(experts, count=2, capacity=2)
    tensor([[ 0,  1],
            [ 1, -1],
            [ 0, -1]])
    """
    ### BEGIN SOLUTION
    queue = one_hot(experts.T.reshape(-1), count)  # (k*L, X)
    before = queue.cumsum(0) - queue  # (k*L, X)
    place = (before * queue).sum(-1)  # (k*L)
    place = place.where(place < capacity, -1)  # (k*L)
    return place.view(experts.T.shape).T  # (L, k)
    ### END SOLUTION


def balanced_hash(counts: Tensor, experts: int) -> Tensor:
    """Give each word an expert, so that all experts have as much to do.

    counts   (V)  how often each word occurs in the training data, int64
    experts  how many experts there are
    ->       (V)  int64, the expert of each word

    The most frequent word is first; each goes to the expert that has had the
    fewest occurrences so far, of equals to the one with the lowest number.

    Source: Roller et al. 2021, section 3.

    >>> import torch
    >>> balanced_hash(torch.tensor([3, 10, 4, 6]), experts=2)
    tensor([0, 0, 1, 1])
    """
    ### BEGIN SOLUTION
    table = torch.empty_like(counts)  # (V)
    load = counts.new_zeros(experts)
    for word in counts.argsort(descending=True):
        table[word] = load.argmin()
        load[table[word]] += counts[word]
    return table
    ### END SOLUTION
