"""Activations that let a number through by its own size (chapter 08)."""

import math

import torch
from torch import Tensor


def gelu(x: Tensor) -> Tensor:
    """Multiply x by the probability that a standard normal is below x.

    x   (...)  any shape
    ->  (...)  x Phi(x), exact: not the tanh approximation

    Source: Hendrycks and Gimpel 2016, section 2.

    >>> import torch
    >>> gelu(torch.tensor([-1.0, 0.0, 1.0, 3.0]))
    tensor([-0.1587,  0.0000,  0.8413,  2.9960])
    """
    ### BEGIN SOLUTION
    return x * (1 + torch.erf(x / math.sqrt(2))) / 2
    ### END SOLUTION


def swish(x: Tensor, beta: float = 1.0) -> Tensor:
    """Multiply x by the sigmoid of beta x.

    x     (...)  any shape
    beta         how sharp the gate is: 0 halves x, large is near ReLU
    ->    (...)  x sigmoid(beta x)

    Source: Ramachandran et al. 2017; with beta = 1 it is SiLU.

    >>> import torch
    >>> swish(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2689,  0.0000,  0.7311])
    >>> swish(torch.tensor([-1.0, 0.0, 1.0]), beta=2.0)
    tensor([-0.1192,  0.0000,  0.8808])
    """
    ### BEGIN SOLUTION
    return x * torch.sigmoid(beta * x)
    ### END SOLUTION


def dead_units(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """Find the hidden units that ReLU keeps silent on all tokens.

    x     (..., D)  tokens
    w_in  (F, D)    weights of the expansion, as in nn.Linear
    b_in  (F,)      its biases
    ->    (F,)      bool: True where a unit's input to ReLU is never
                    above 0

    Source: Maas et al. 2013 (units that "die").

    >>> import torch
    >>> x = torch.tensor([[1.0], [2.0]])
    >>> w_in = torch.tensor([[1.0], [-1.0], [1.0]])
    >>> dead_units(x, w_in, b_in=torch.tensor([0.0, 0.0, -2.0]))
    tensor([False,  True,  True])
    """
    ### BEGIN SOLUTION
    inputs = x @ w_in.T + b_in  # (..., F)
    tokens = inputs.reshape(-1, len(b_in))
    return (tokens <= 0).all(dim=0)
    ### END SOLUTION
