"""Blocks around the residual stream (chapter 07)."""

from collections.abc import Callable

from torch import Tensor

from solutions.norms import rms_norm


def post_norm_block(
    x: Tensor,
    attend: Callable[[Tensor], Tensor],
    feed_forward: Callable[[Tensor], Tensor],
    gains: tuple[Tensor, Tensor],
) -> Tensor:
    """Add what two sublayers say, and normalise each sum.

    x             (B, L, D)  the stream
    attend        the first sublayer: (B, L, D) to (B, L, D)
    feed_forward  the second one
    gains         two weights (D,) of rms_norm, one for each sum
    ->            (B, L, D)  normalised

    Source: Vaswani et al. 2017, section 3.1, with RMS normalisation.

    >>> import torch
    >>> one = torch.ones(2)
    >>> x = torch.tensor([[[1.0, -1.0]]])
    >>> post_norm_block(x, torch.zeros_like, lambda x: 2 * x, (one, 3 * one))
    tensor([[[ 3.0000, -3.0000]]])
    """
    ### BEGIN SOLUTION
    x = rms_norm(x + attend(x), gains[0])
    return rms_norm(x + feed_forward(x), gains[1])
    ### END SOLUTION


def pre_norm_block(
    x: Tensor,
    attend: Callable[[Tensor], Tensor],
    feed_forward: Callable[[Tensor], Tensor],
    gains: tuple[Tensor, Tensor],
) -> Tensor:
    """Let two sublayers read a normalised copy, and add what they say.

    x             (B, L, D)  the stream
    attend        the first sublayer: (B, L, D) to (B, L, D)
    feed_forward  the second one
    gains         two weights (D,) of rms_norm, one for each sublayer
    ->            (B, L, D)  the stream, not normalised

    Source: Radford et al. 2019, section 2.3, with RMS normalisation.

    >>> import torch
    >>> one = torch.ones(2)
    >>> x = torch.tensor([[[8.0, -8.0]]])
    >>> pre_norm_block(x, torch.zeros_like, lambda x: 2 * x, (one, 3 * one))
    tensor([[[ 14., -14.]]])
    """
    ### BEGIN SOLUTION
    x = x + attend(rms_norm(x, gains[0]))
    return x + feed_forward(rms_norm(x, gains[1]))
    ### END SOLUTION
