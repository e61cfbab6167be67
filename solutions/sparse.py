"""Who sees whom far away, and how far layers see together (chapter 10)."""

from collections.abc import Sequence

import torch
from torch import Tensor


def sparse_mask(
    n: int,
    w: int,
    sinks: int,
    stride: int,
    device: torch.device | str = "cpu",
) -> Tensor:
    """Let each token see near ones, the first ones, and some in between.

    n       number of tokens
    w       width of the window, itself included, at least 1
    sinks   how many of the first tokens all later ones see; may be 0
    stride  every token sees those at a distance of stride, 2 stride, ...
    device  where the mask is made
    ->      (L, L) bool, True where query i may attend to key j: j is not
            after i, and i - j < w, or j < sinks, or i - j is a multiple
            of stride

    Source: Child et al. 2019, section 4.2; Xiao et al. 2024.

    >>> sparse_mask(6, w=2, sinks=1, stride=3)[5].int()
    tensor([1, 0, 1, 0, 1, 1], dtype=torch.int32)
    """
    ### BEGIN SOLUTION
    key = torch.arange(n, device=device)
    distance = key[:, None] - key  # (L, L)
    seen = (distance < w) | (key < sinks) | (distance % stride == 0)
    return seen & (distance >= 0)
    ### END SOLUTION


def layer_windows(layers: int, w: int, every: int) -> list[int | None]:
    """Say for each layer how far it looks: near by, or everywhere.

    layers  how many there are
    w       width of the window of a local layer
    every   the last of every so many layers is a full one
    ->      a window for each layer, the first layer first; None where the
            layer is full

    Source: Gemma Team 2025 (Gemma 3), section 2; their `every` is 6.

    >>> layer_windows(7, 1024, every=3)
    [1024, 1024, None, 1024, 1024, None, 1024]
    """
    ### BEGIN SOLUTION
    return [w if layer % every else None for layer in range(1, layers + 1)]
    ### END SOLUTION


def receptive_field(windows: Sequence[int | None], n: int) -> int:
    """Count the tokens that the output for the last of n can depend on.

    windows  the window of each layer, itself included; None for a layer
             that sees everything up to itself
    n        number of tokens
    ->       how many of them, the last one included

    Source: Jiang et al. 2023 (Mistral), section 2, there roughly.

    >>> receptive_field([3, 3], 100)
    5
    """
    ### BEGIN SOLUTION
    reach = 1
    for w in windows:
        reach = n if w is None else min(n, reach + w - 1)
    return reach
    ### END SOLUTION
