"""Where a token stands, as numbers that are added to it (chapter 06)."""

import torch
from torch import Tensor, nn


def position_angles(
    positions: Tensor,
    width: int,
    base: float = 10_000.0,
) -> Tensor:
    """Set a clock with width / 2 hands, from fast to slow.

    positions  (...)            int64 or float32
    width      of the code that is made of them, an even number
    base       the slower the hands, the larger
    ->         (..., width/2)   float32: hand i of position p stands at
                                p base^(-2i/width), i = 0, 1, ...

    Source: Vaswani et al. 2017, section 3.5.

    >>> position_angles(torch.tensor([0, 3]), width=4)
    tensor([[0.0000, 0.0000],
            [3.0000, 0.0300]])
    """
    ### BEGIN SOLUTION
    hands = torch.arange(0, width, 2, device=positions.device)
    frequencies = base ** (-hands / width)
    return positions.unsqueeze(-1) * frequencies
    ### END SOLUTION


def sinusoidal_encoding(angles: Tensor) -> Tensor:
    """Give the sine and the cosine of every hand of the clock.

    angles  (..., D/2)
    ->      (..., D)    columns 2i and 2i + 1 are sine and cosine of
                        angle i

    Source: Vaswani et al. 2017, section 3.5.

    >>> sinusoidal_encoding(torch.tensor([[0.0, 1.0]]))
    tensor([[0.0000, 1.0000, 0.8415, 0.5403]])
    """
    ### BEGIN SOLUTION
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (..., D/2, 2)
    return pairs.flatten(-2)
    ### END SOLUTION


def shift_matrix(turns: Tensor) -> Tensor:
    """Make the matrix that moves a sinusoidal code to another position.

    turns  (D/2,)   the angles of the position k by which to move
    ->     (D, D)   M, such that code(p) M = code(p + k) for every p; the
                    code is a row: sine, cosine, sine, cosine, ...

    Source: Vaswani et al. 2017, section 3.5.

    >>> shift_matrix(torch.tensor([0.5]))
    tensor([[ 0.8776, -0.4794],
            [ 0.4794,  0.8776]])
    """
    ### BEGIN SOLUTION
    size = 2 * len(turns)
    matrix = turns.new_zeros(size, size)  # (D, D)
    matrix[0::2, 0::2] = torch.diag(turns.cos())
    matrix[0::2, 1::2] = torch.diag(-turns.sin())
    matrix[1::2, 0::2] = torch.diag(turns.sin())
    matrix[1::2, 1::2] = torch.diag(turns.cos())
    return matrix
    ### END SOLUTION


class LearnedPositions(nn.Module):
    """Add a learned vector for each position.

    length   how many positions there are
    d_model  width of the vectors

    Weights: table, an nn.Embedding with length rows of d_model numbers.

    Source: Gehring et al. 2017, section 3.1.

    >>> add = LearnedPositions(length=3, d_model=2)
    >>> with torch.no_grad():
    ...     rows = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    ...     _ = add.table.weight.copy_(rows)
    >>> add(torch.zeros(1, 2, 2), start=1).tolist()
    [[[3.0, 4.0], [5.0, 6.0]]]
    """

    def __init__(self, length: int, d_model: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.table = nn.Embedding(length, d_model)
        ### END SOLUTION

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Add to each token the vector of its position.

        x      (B, L, D)
        start  position of the first token: how many came before;
               start + L is at most length
        ->     (B, L, D)
        """
        ### BEGIN SOLUTION
        places = torch.arange(start, start + x.shape[1], device=x.device)
        placed: Tensor = x + self.table(places)  # (B, L, D)
        return placed
        ### END SOLUTION
