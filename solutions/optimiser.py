"""How fast to learn, and how a step is taken (chapter 12)."""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor


def lr_schedule(
    step: int,
    warmup: int,
    total: int,
    peak: float,
    floor: float = 0.0,
) -> float:
    """Say how fast to learn: up along a line, down along a cosine.

    step    from 0 on
    warmup  the step at which the rate is at its peak; may be 0
    total   from this step on the rate is the floor; larger than warmup
    peak    the largest rate
    floor   the last one
    ->      on the way up the share step / warmup of the peak, then half a
            cosine down

    Source: Loshchilov and Hutter 2017, section 3; Goyal et al. 2017.

    >>> [lr_schedule(s, 2, 10, 8.0, 2.0) for s in (0, 1, 2, 6, 10)]
    [0.0, 4.0, 8.0, 5.0, 2.0]
    """
    ### BEGIN SOLUTION
    if step < warmup:
        return peak * step / warmup
    done = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * done)) / 2
    ### END SOLUTION


def adamw_step(  # noqa: PLR0917 - the symbols of its formula
    parameter: Tensor,
    gradient: Tensor,
    mean: Tensor,
    square: Tensor,
    step: int,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.95),
    eps: float = 1e-8,
    decay: float = 0.1,
) -> tuple[Tensor, Tensor, Tensor]:
    """Take one step of AdamW; nothing that is given is changed.

    parameter  (...)  the weights
    gradient   (...)  of the loss in them
    mean       (...)  running mean of the gradients so far
    square     (...)  running mean of their squares so far
    step       which step this is: 1 for the first, with means of 0
    lr         learning rate
    betas      how much of mean and of square is kept
    eps        added to the root of the corrected square
    decay      the weights shrink by the factor 1 - lr * decay, apart from
               the gradient
    ->         parameter, mean and square after the step

    Source: Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019,
    algorithm 2.

    >>> import torch
    >>> one, none = torch.tensor([1.0]), torch.zeros(1)
    >>> adamw_step(one, 4 * one, none, none, step=1, lr=0.1)
    (tensor([0.8900]), tensor([0.4000]), tensor([0.8000]))
    """
    ### BEGIN SOLUTION
    mean = betas[0] * mean + (1 - betas[0]) * gradient
    square = betas[1] * square + (1 - betas[1]) * gradient**2
    direction = mean / (1 - betas[0] ** step)
    size = (square / (1 - betas[1] ** step)).sqrt() + eps
    shrunk = parameter * (1 - lr * decay)
    return shrunk - lr * direction / size, mean, square
    ### END SOLUTION


def parameter_groups(
    parameters: Mapping[str, Tensor],
) -> tuple[list[str], list[str]]:
    """Tell parameters that decay from those that do not.

    parameters  name -> tensor, as dict(model.named_parameters()) has them
    ->          the names of those with two axes or more, which decay, and
                the names of the rest; each list in the order given

    Source: Radford et al. 2018, section 4.1, for the rule.

    >>> import torch
    >>> parameter_groups({"w": torch.zeros(2, 3), "gain": torch.ones(3)})
    (['w'], ['gain'])
    """
    ### BEGIN SOLUTION
    decayed = [name for name, one in parameters.items() if one.ndim >= 2]
    return decayed, [name for name in parameters if name not in decayed]
    ### END SOLUTION


def clip_gradients(
    gradients: Sequence[Tensor],
    limit: float,
) -> tuple[list[Tensor], Tensor]:
    """Shorten gradients that are, all together, longer than a limit.

    gradients  tensors of any shapes and one dtype, taken as one long vector;
               none of them is changed
    limit      the longest that this vector may be
    ->         gradients of the same direction and dtype, in the same order,
               and the length () of the long vector before, float32 where
               gradients are in half precision

    Source: Pascanu et al. 2013, section 3.2.

    >>> import torch
    >>> pieces = [torch.tensor([3.0]), torch.tensor([[0.0, 4.0]])]
    >>> clip_gradients(pieces, 1.0)
    ([tensor([0.6000]), tensor([[0.0000, 0.8000]])], tensor(5.))
    """
    ### BEGIN SOLUTION
    wide = torch.promote_types(gradients[0].dtype, torch.float32)
    squares = [g.to(wide).square().sum() for g in gradients]
    length = torch.stack(squares).sum().sqrt()
    factor = limit / length.clamp(min=limit)
    return [(g * factor).to(g.dtype) for g in gradients], length
    ### END SOLUTION
