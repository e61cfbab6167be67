"""Pictures as sequences of patches (chapter 14)."""

import torch
from torch import Tensor

from solutions.positions import position_angles, sinusoidal_encoding


def patchify(pictures: Tensor, size: int) -> Tensor:
    """Cut pictures into square patches, and write each as one row.

    pictures  (B, C, I, J)  I rows and J columns of C channels
    size      rows, and also columns, of a patch; divides I and J
    ->        (B, L, P)     patches in reading order: the top row from left
                            to right, then the next. The P = C size size
                            numbers of a patch are in the order channel,
                            row, column

    Source: Dosovitskiy et al. 2021, section 3.1.

    >>> picture = torch.arange(16.0).reshape(1, 1, 4, 4)
    >>> patchify(picture, 2)
    tensor([[[ 0.,  1.,  4.,  5.],
             [ 2.,  3.,  6.,  7.],
             [ 8.,  9., 12., 13.],
             [10., 11., 14., 15.]]])
    """
    ### BEGIN SOLUTION
    batch, channels, rows, columns = pictures.shape
    down, across = rows // size, columns // size
    cut = pictures.reshape(batch, channels, down, size, across, size)
    together = cut.permute(0, 2, 4, 1, 3, 5)  # patch axes first, then its own
    return together.flatten(3).flatten(1, 2)
    ### END SOLUTION


def add_grid_positions(tokens: Tensor, columns: int) -> Tensor:
    """Tell each patch of a picture in which row and column it stands.

    tokens   (B, L, D)  patches in reading order; D is a multiple of 4
    columns  how many patches stand side by side
    ->       (B, L, D)  to the first half of a token the sinusoidal code of
                        its row is added, to the second half that of its
                        column. Both count from 0, and each code is D/2
                        wide; the dtype is that of tokens. It is computed
                        in float32, and converted then

    Source: Beyer et al. 2022; the code is that of Vaswani et al. 2017.

    >>> add_grid_positions(torch.zeros(1, 4, 4), columns=2)
    tensor([[[0.0000, 1.0000, 0.0000, 1.0000],
             [0.0000, 1.0000, 0.8415, 0.5403],
             [0.8415, 0.5403, 0.0000, 1.0000],
             [0.8415, 0.5403, 0.8415, 0.5403]]])
    """
    ### BEGIN SOLUTION
    place = torch.arange(tokens.shape[1], device=tokens.device)
    grid = torch.stack([place // columns, place % columns], -1)  # (L, 2)
    angles = position_angles(grid, tokens.shape[2] // 2)
    code = sinusoidal_encoding(angles).flatten(1)  # (L, D)
    return tokens + code.to(tokens.dtype)
    ### END SOLUTION
