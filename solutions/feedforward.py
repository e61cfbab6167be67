"""Feed-forward layers, plain and gated (chapter 08)."""

from collections.abc import Callable

from torch import Tensor, nn

from solutions.activations import swish


def feed_forward(
    x: Tensor,
    weights: tuple[Tensor, Tensor, Tensor, Tensor],
    activation: Callable[[Tensor], Tensor],
) -> Tensor:
    """Expand, activate, contract: each token alone, all alike.

    x           (..., D)  tokens
    weights     w_in (F, D), b_in (F,), w_out (D, F), b_out (D,), in the
                layout of nn.Linear
    activation  from tensors to tensors, entry by entry
    ->          (..., D)

    Source: Vaswani et al. 2017, section 3.3.

    >>> import torch
    >>> w_in = torch.tensor([[1.0, -1.0], [-1.0, 1.0], [0.0, 2.0]])
    >>> w_out = torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> weights = w_in, torch.zeros(3), w_out, torch.tensor([0.0, 0.5])
    >>> x = torch.tensor([[3.0, 1.0], [1.0, 3.0]])
    >>> feed_forward(x, weights, torch.relu)
    tensor([[2.0000, 2.5000],
            [2.0000, 6.5000]])
    """
    ### BEGIN SOLUTION
    w_in, b_in, w_out, b_out = weights
    hidden = activation(x @ w_in.T + b_in)  # (..., F)
    return hidden @ w_out.T + b_out  # (..., D)
    ### END SOLUTION


def glu(
    fused: Tensor,
    activation: Callable[[Tensor], Tensor],
) -> Tensor:
    """Let one half of the features gate the other half.

    fused       (..., 2F)  the gate in the first F entries of the last
                           axis, the value in the last F
    activation             from tensors to tensors, entry by entry; it is
                           for the gate
    ->          (..., F)   activation(gate) times value

    Source: Dauphin et al. 2017; any activation: Shazeer 2020.

    >>> import torch
    >>> fused = torch.tensor([2.0, -1.0, 10.0, 20.0])
    >>> glu(fused, torch.relu)
    tensor([20.,  0.])
    """
    ### BEGIN SOLUTION
    gate, value = fused.chunk(2, dim=-1)
    return activation(gate) * value
    ### END SOLUTION


def matched_hidden_width(d_ff: int, multiple: int = 1) -> int:
    """Give the width at which a gated layer costs what a plain one does.

    d_ff      hidden width of the plain layer, with two matrices
    multiple  the width must be a multiple of this
    ->        the smallest such multiple that is at least 2/3 of d_ff

    Source: Shazeer 2020; the multiple is an idea of Llama.

    >>> matched_hidden_width(3072)
    2048
    >>> matched_hidden_width(16384, multiple=256)
    11008
    """
    ### BEGIN SOLUTION
    blocks = -(-2 * d_ff // (3 * multiple))  # the quotient, rounded up
    return multiple * blocks
    ### END SOLUTION


class SwiGLU(nn.Module):
    """A gated feed-forward layer: the gate goes through Swish.

    d_model  width of the tokens
    d_ff     hidden width, of the gate and of the value

    Weights, no bias: w_gate and w_up are nn.Linear(d_model, d_ff), w_down
    is nn.Linear(d_ff, d_model).

    Source: Shazeer 2020.

    >>> import torch
    >>> layer = SwiGLU(d_model=6, d_ff=16)
    >>> layer(torch.zeros(2, 5, 6)).shape
    torch.Size([2, 5, 6])
    >>> sum(weights.numel() for weights in layer.parameters())
    288
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.w_gate = nn.Linear(d_model, d_ff, bias=False)
        self.w_up = nn.Linear(d_model, d_ff, bias=False)
        self.w_down = nn.Linear(d_ff, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Gate, and project back.

        x   (..., D)  tokens
        ->  (..., D)
        """
        ### BEGIN SOLUTION
        hidden = swish(self.w_gate(x)) * self.w_up(x)  # (..., F)
        mixed: Tensor = self.w_down(hidden)  # (..., D)
        return mixed
        ### END SOLUTION
