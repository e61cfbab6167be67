"""A transformer that looks at pictures (chapter 14)."""

import torch
from torch import Tensor, nn

from solutions.blocks import EncoderBlock
from solutions.norms import RMSNorm
from solutions.patches import patchify


class ViT(nn.Module):
    """From pictures to scores of classes: patches, and one token that asks.

    shape    of a picture: (channels, rows, columns)
    size     rows, and also columns, of a patch; divides both
    classes  how many scores there are
    d_model  width of the stream, a multiple of heads
    layers   how many blocks
    heads    of the attention in each block

    Weights: embed, an nn.Linear with bias from the numbers of a patch to
    the stream; class_token, (d_model,); positions, (1 + patches, d_model),
    whose row 0 is for the class token; blocks, an nn.ModuleList of
    EncoderBlock, each with d_ff = 2 d_model; norm, an RMSNorm of the stream;
    head, an nn.Linear with bias from the stream to the classes.

    Source: Dosovitskiy et al. 2021, section 3.1.

    >>> model = ViT((1, 4, 6), 2, 10, d_model=8, layers=2, heads=4)
    >>> model.positions.shape
    torch.Size([7, 8])
    >>> model(torch.zeros(3, 1, 4, 6)).shape
    torch.Size([3, 10])
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        size: int,
        classes: int,
        *,
        d_model: int,
        layers: int,
        heads: int,
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        channels, rows, columns = shape
        patches = (rows // size) * (columns // size)
        self.size = size
        self.embed = nn.Linear(channels * size**2, d_model)
        self.class_token = nn.Parameter(0.02 * torch.randn(d_model))
        self.positions = nn.Parameter(0.02 * torch.randn(1 + patches, d_model))
        self.blocks = nn.ModuleList(
            EncoderBlock(d_model, heads, 2 * d_model) for _ in range(layers)
        )
        self.norm = RMSNorm(d_model)
        self.head = nn.Linear(d_model, classes)
        ### END SOLUTION

    def forward(self, pictures: Tensor) -> Tensor:
        """Let the class token, before all patches, gather what it needs.

        pictures  (B, C, I, J)
        ->        (B, V)        scores of the classes, read off the class
                                token alone, after the norm
        """
        ### BEGIN SOLUTION
        patches = self.embed(patchify(pictures, self.size))  # (B, M, D)
        first = self.class_token.expand(len(patches), 1, -1)  # (B, 1, D)
        x = torch.cat([first, patches], dim=1) + self.positions  # (B, L, D)
        for block in self.blocks:
            x = block(x)
        scores: Tensor = self.head(self.norm(x[:, 0]))  # (B, V)
        return scores
        ### END SOLUTION
