"""Layer normalisation and RMS normalisation (chapter 07)."""

import torch
from torch import Tensor, nn


def standardise(
    x: Tensor,
    dims: int | tuple[int, ...],
    eps: float = 1e-5,
) -> Tensor:
    """Shift and scale so that the mean is 0 and the variance 1.

    x     (...)  numbers
    dims  the axis or axes over which mean and variance are taken
    eps   is added to the variance, inside the root
    ->    (...)  mean 0 along dims and, up to eps, biased variance 1

    Source: Ioffe and Szegedy 2015, section 3.

    >>> standardise(torch.tensor([1.0, 3.0, 1.0, 3.0]), dims=0, eps=0.0)
    tensor([-1.,  1., -1.,  1.])
    """
    ### BEGIN SOLUTION
    centred = x - x.mean(dims, keepdim=True)
    variance = centred.square().mean(dims, keepdim=True)
    return centred / (variance + eps).sqrt()
    ### END SOLUTION


def layer_norm(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise each vector by itself, then scale and shift its entries.

    x       (..., D)  vectors
    weight  (D,)      factor of each entry
    bias    (D,)      is added to each entry, after the factor
    eps     is added to the biased variance, inside the root
    ->      (..., D)  in the dtype of x; statistics are at least float32

    Source: Ba et al. 2016, section 3.

    >>> weight, bias = torch.tensor([10.0, 10.0]), torch.tensor([0.0, 1.0])
    >>> layer_norm(torch.tensor([[1.0, 3.0]]), weight, bias, eps=0.0)
    tensor([[-10.,  11.]])
    """
    ### BEGIN SOLUTION
    wide = x.to(torch.promote_types(x.dtype, torch.float32))  # (..., D)
    return (standardise(wide, -1, eps) * weight + bias).to(x.dtype)
    ### END SOLUTION


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """Divide each vector by its root mean square, then scale its entries.

    x       (..., D)  vectors
    weight  (D,)      factor of each entry
    eps     is added to the mean square, inside the root
    ->      (..., D)  in the dtype of x; statistics are at least float32

    Source: Zhang and Sennrich 2019, section 4.

    >>> x = torch.tensor([[1.0, 1.0, 5.0, 3.0]])  # mean square 9
    >>> rms_norm(x, torch.tensor([3.0, 6.0, 3.0, 3.0]), eps=0.0)
    tensor([[1., 2., 5., 3.]])
    """
    ### BEGIN SOLUTION
    wide = x.to(torch.promote_types(x.dtype, torch.float32))  # (..., D)
    mean_square = wide.square().mean(-1, keepdim=True)
    return (wide * torch.rsqrt(mean_square + eps) * weight).to(x.dtype)
    ### END SOLUTION


class LayerNorm(nn.Module):
    """Layer normalisation that learns its factors and shifts.

    d_model  width of the vectors
    eps      is added to the biased variance, inside the root

    Weights: weight and bias, d_model numbers each, at first 1 and 0.

    Source: Ba et al. 2016, section 3.

    >>> norm = LayerNorm(2, eps=0.0)
    >>> norm(torch.tensor([[1.0, 3.0]])).tolist()
    [[-1.0, 1.0]]
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Normalise each vector.

        x   (..., D)  vectors
        ->  (..., D)  in the dtype of x
        """
        ### BEGIN SOLUTION
        return layer_norm(x, self.weight, self.bias, self.eps)
        ### END SOLUTION


class RMSNorm(nn.Module):
    """RMS normalisation that learns its factors.

    d_model  width of the vectors
    eps      is added to the mean square, inside the root

    Weights: weight, d_model numbers, at first 1.

    Source: Zhang and Sennrich 2019, section 4.

    >>> norm = RMSNorm(4, eps=0.0)
    >>> norm(torch.tensor([[3.0, -3.0, 3.0, 3.0]])).tolist()
    [[1.0, -1.0, 1.0, 1.0]]
    """

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Normalise each vector.

        x   (..., D)  vectors
        ->  (..., D)  in the dtype of x
        """
        ### BEGIN SOLUTION
        return rms_norm(x, self.weight, self.eps)
        ### END SOLUTION


def layer_norm_backward(
    grad: Tensor,
    x: Tensor,
    weight: Tensor,
    eps: float = 1e-5,
) -> tuple[Tensor, Tensor, Tensor]:
    """Take a gradient back through layer normalisation, without autograd.

    grad    (..., D)  gradient of the loss in the output
    x       (..., D)  the input
    weight  (D,)      the factors
    eps     as in the forward pass
    ->      gradients in x (..., D), in weight (D,) and in bias (D,)

    Source: Ba et al. 2016, section 3, differentiated.

    >>> x, weight = torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([1.0] * 3)
    >>> grad = torch.tensor([[3.0, 3.0, 3.0]])
    >>> three = layer_norm_backward(grad, x, weight)
    >>> three[0].abs().max() < 1e-5, three[2]
    (tensor(True), tensor([3., 3., 3.]))
    """
    ### BEGIN SOLUTION
    centred = x - x.mean(-1, keepdim=True)
    deviation = (centred.square().mean(-1, keepdim=True) + eps).sqrt()
    y = centred / deviation  # (..., D)
    g = grad * weight  # (..., D)
    along_y = y * (g * y).mean(-1, keepdim=True)  # (..., D)
    in_x = (g - g.mean(-1, keepdim=True) - along_y) / deviation
    in_weight = (grad * y).sum_to_size(weight.shape)
    in_bias = grad.sum_to_size(weight.shape)
    return in_x, in_weight, in_bias
    ### END SOLUTION
