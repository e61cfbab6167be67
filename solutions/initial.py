"""The weights that a model starts with (chapter 11)."""

import math

from torch import nn

from solutions.decoder import TransformerLM


def init_residual_scale(model: TransformerLM, std: float = 0.02) -> None:
    """Draw small weights, and smaller ones where a block writes to the stream.

    model  whose matrices are drawn again from normal distributions with mean
           0; the gains of its norms stay
    std    their standard deviation; that of w_o and w_down of each block is
           divided by the root of twice the number of blocks

    Source: Radford et al. 2019, section 2.3.

    >>> model = TransformerLM(11, d_model=64, layers=8, heads=4, d_ff=64)
    >>> init_residual_scale(model)
    >>> round(model.head.weight.std().item(), 2)
    0.02
    >>> round(model.blocks[0].attend.w_o.weight.std().item(), 3)
    0.005
    """
    ### BEGIN SOLUTION
    writes = std / math.sqrt(2 * len(model.blocks))
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            last = name.endswith(("w_o", "w_down"))
            nn.init.normal_(module.weight, std=writes if last else std)
    ### END SOLUTION
