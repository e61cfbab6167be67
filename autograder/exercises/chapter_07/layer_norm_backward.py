"""Exercise: the gradients of layer normalisation, by hand.

Out of scope: half precision.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor
from torch.nn import functional

from autograder.compare import (
    first_of_several,
    inputs_kept,
    second_of_several,
    third_of_several,
    values,
)
from autograder.exercises.chapter_07 import CHAPTER
from autograder.exercises.chapter_07._draws import drawn_sizes, far_means, far_off, gain
from autograder.inputs import described, normal, uniform
from autograder.slips import changed_in_place, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere, in_dtypes
from autograder.wire import call
from solutions.norms import layer_norm_backward

Three = tuple[Tensor, Tensor, Tensor]
Term = Callable[[Tensor, Tensor], Tensor]


def _trial(
    rng: Generator, of: dict[str, int], x: Tensor, eps: float | None = None, note: str = ""
) -> Trial:
    axes = ("D", "L D", "B L D", "B H L D", "G B H L D")[x.ndim - 1]
    words = f"grad and {described('x', axes, of)}"
    words += "" if eps is None else f", eps = {eps:g}"
    tensors = (normal(rng, axes, of) + 0.5, x, gain(rng, of))
    request = call(*tensors) if eps is None else call(*tensors, eps)
    return Trial(request, words + note, of, "in x, in weight, in bias")


def _drawn(rng: Generator, axes: str = "B L D", **fixed: int) -> Trial:
    of = drawn_sizes(rng, **fixed)
    return _trial(rng, of, far_off(rng, axes, of))


def batches(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    trial = _drawn(rng)
    weight = trial.request.calls[0].args[2]
    weight[0] = 0.0
    yield replace(trial, inputs=f"{trial.inputs}, one weight is 0")


def small_numbers(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    x = normal(rng, "B L D", of, std=1e-3)
    yield _trial(rng, of, x, note=", entries near 0.001")
    yield _trial(rng, of, x, 1e-7, note=", entries near 0.001")
    yield _trial(rng, of, far_off(rng, "B L D", of), uniform(rng, 1.0, 5.0))


def equal_numbers(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    x = far_off(rng, "B L D", of)
    x[0], x[1:, 0] = 3.0, 0.0
    yield _trial(rng, of, x, note=", some vectors of equal numbers")
    of = drawn_sizes(rng, D=1)
    yield _trial(rng, of, normal(rng, "B L D", of), note=", one entry in each")


def large_mean(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    x = normal(rng, "B L D", of) + far_means(rng, of["B"], of["L"], 1)
    yield _trial(rng, of, x, note=", means of both signs beyond 1000, deviation 1")


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, "L D")
    yield _drawn(rng, "D")
    yield _drawn(rng, "B H L D", H=3)
    yield _drawn(rng, "G B H L D", G=2, H=3)


def special_sizes(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, L=1)
    yield _drawn(rng, B=1)
    of = dict.fromkeys("BLD", drawn_sizes(rng)["D"])
    yield _trial(rng, of, far_off(rng, "D B L", of).permute(1, 2, 0), note=", not contiguous")
    trial = _drawn(rng)
    grad, x, weight = trial.request.calls[0].args
    turned = (one.transpose(0, 1).contiguous().transpose(0, 1) for one in (grad, x))
    yield replace(trial, request=call(*turned, weight), inputs=f"{trial.inputs}, not contiguous")


def double(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    x = 10_000 + normal(rng, "B L D", of, dtype=torch.float64)
    trial = _trial(rng, of, x, note=", mean 10000, deviation 1")
    yield from in_dtypes(trial, (torch.float64,))


def devices(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    yield trial
    yield elsewhere(trial)


CASES = (
    Case("the gradient in the bias", batches, third_of_several),
    Case("the gradient in the weight", batches, second_of_several),
    Case("the gradient in x", batches, first_of_several, weight=3),
    Case("eps counts as in the forward pass", small_numbers, values),
    Case("vectors of equal numbers have a gradient", equal_numbers, values, tolerance=1e-3),
    Case("a large mean does not spoil the variance", large_mean, values, tolerance=5e-3),
    Case("works with one vector and with any axes before it", other_ranks, values),
    Case("works where sizes are 1 or equal", special_sizes, values),
    Case("float64 keeps its digits", double, values),
    Case("nothing that was given is changed", batches, inputs_kept),
    Case("works on whatever device x is on", devices, values),
)


def _mean(values_: Tensor) -> Tensor:
    return values_.mean(-1, keepdim=True)


def _no_term(g: Tensor, y: Tensor) -> Tensor:
    return torch.zeros_like(g)


def _through_mean(g: Tensor, y: Tensor) -> Tensor:
    return _mean(g)


def _through_size(g: Tensor, y: Tensor) -> Tensor:
    return y * _mean(g * y)


def _changed(
    grad: Tensor,
    x: Tensor,
    weight: Tensor,
    eps: float,
    *,
    mean: Term = _through_mean,
    size: Term = _through_size,
    power: float = 0.5,
    correction: int = 0,
) -> Three:
    """Give the right answer with one step replaced by another."""
    variance = x.var(-1, correction=correction, keepdim=True) + eps
    y, g = (x - _mean(x)) / variance.sqrt(), grad * weight
    in_x = (g - mean(g, y) - size(g, y)) / variance**power
    return in_x, (grad * y).sum_to_size(weight.shape), grad.sum_to_size(weight.shape)


def constants(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """Mean and deviation are treated as constants: only the direct path is left. x acts through
    both of them too.
    """
    return _changed(grad, x, weight, eps, mean=_no_term, size=_no_term)


def mean_constant(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The path through the mean is missing: moving all entries together should change nothing, so
    the gradient in x must sum to 0 for each vector.
    """
    return _changed(grad, x, weight, eps, mean=_no_term)


def size_constant(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The path through the standard deviation is missing: making a vector longer should change
    (almost) nothing, so the gradient must have no part along y.
    """
    return _changed(grad, x, weight, eps, size=_no_term)


def size_added(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The part along y is added. It is subtracted, like the mean: which sign has the derivative of
    1/s?
    """
    return _changed(grad, x, weight, eps, size=lambda g, y: -_through_size(g, y))


def sums_for_means(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The two terms are sums over the entries. They are means, since both the mean and the variance
    are divided by D.
    """
    d = x.shape[-1]
    return _changed(
        *(grad, x, weight, eps),
        mean=lambda g, y: d * _through_mean(g, y),
        size=lambda g, y: d * _through_size(g, y),
    )


def means_of_everything(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The means are taken over all of the gradient. Each vector has its own."""
    return _changed(
        *(grad, x, weight, eps),
        mean=lambda g, y: g.mean(),
        size=lambda g, y: y * (g * y).mean(),
    )


def not_divided(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The gradient in x is not divided by the standard deviation."""
    return _changed(grad, x, weight, eps, power=0.0)


def divided_by_variance(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The gradient in x is divided by the variance. It should be its root, once."""
    return _changed(grad, x, weight, eps, power=1.0)


def multiplied(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The gradient in x is multiplied by the standard deviation instead of divided by it."""
    return _changed(grad, x, weight, eps, power=-0.5)


def sample_variance(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The variance is divided by D - 1, which is not what the forward pass does."""
    return _changed(grad, x, weight, eps, correction=1)


def one_pass(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The variance is the mean square minus the squared mean. With a large mean these are two huge
    numbers that differ in their last digits only. Subtract the mean first, then square.
    """
    variance = (_mean(x * x) - _mean(x) ** 2).clamp(min=0) + eps
    y, g = (x - _mean(x)) / variance.sqrt(), grad * weight
    in_x = (g - _through_mean(g, y) - _through_size(g, y)) / variance.sqrt()
    return in_x, (grad * y).sum_to_size(weight.shape), grad.sum_to_size(weight.shape)


def eps_outside(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """eps is added to the standard deviation, after the root. The forward pass adds it to the
    variance, before it.
    """
    deviation = x.var(-1, correction=0, keepdim=True).sqrt() + eps
    y, g = (x - _mean(x)) / deviation, grad * weight
    in_x = (g - _through_mean(g, y) - _through_size(g, y)) / deviation
    return in_x, (grad * y).sum_to_size(weight.shape), grad.sum_to_size(weight.shape)


def narrowed(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """All is computed in float32, float64 as well, which loses half of its digits."""
    three = layer_norm_backward(grad.float(), x.float(), weight.float(), eps)
    return three[0].to(x.dtype), three[1].to(x.dtype), three[2].to(x.dtype)


def divided_by_weight(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """Something is divided by the weight, and a weight may be 0. y comes from x alone."""
    in_x, in_weight, in_bias = layer_norm_backward(grad, x, weight, eps)
    return in_x * weight / weight, in_weight * weight / weight, in_bias


def x_for_grad(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """`grad` and `x` have changed roles: the first argument is the gradient, the second the input
    of the forward pass.
    """
    return layer_norm_backward(x, grad, weight, eps)


def y_for_its_product(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The second bar is over y as well. It is the mean of gradient times y, one number for each
    vector, which then multiplies y.
    """
    return _changed(grad, x, weight, eps, size=lambda g, y: _mean(y * g * y))


def no_eps(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """eps is left out on the way back. It is part of the deviation here too."""
    return _changed(grad, x, weight, 0.0)


def own_eps(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The eps that is given has no effect: 1e-5 is written into the formula."""
    return layer_norm_backward(grad, x, weight)


def of_rms_norm(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """This is the way back through RMS normalisation, which subtracts no mean."""
    root = (_mean(x * x) + eps).sqrt()
    y, g = x / root, grad * weight
    in_x = (g - _through_size(g, y)) / root
    return in_x, (grad * y).sum_to_size(weight.shape), grad.sum_to_size(weight.shape)


def gain_forgotten(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The gain is left out on the way to x: the output is y times weight, so the gradient that
    reaches y has met the weight first.
    """
    return layer_norm_backward(grad, x, torch.ones_like(weight), eps)


def gain_late(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The gain is applied last, to the gradient in x. On the way back it comes first: the means are
    those of the gradient after it.
    """
    in_x, *rest = gain_forgotten(grad, x, weight, eps)
    return in_x * weight, rest[0], rest[1]


def gain_twice(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The gradient in the weight is multiplied by the weight. The output is y times weight: its
    derivative in the weight is y.
    """
    in_x, in_weight, in_bias = layer_norm_backward(grad, x, weight, eps)
    return in_x, in_weight * weight, in_bias


def gain_everywhere(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The gradients in weight and bias are multiplied by the weight. That belongs to the way to x
    alone: bias and weight stand behind y, where `grad` arrives as it is.
    """
    in_x, in_weight, in_bias = layer_norm_backward(grad, x, weight, eps)
    return in_x, in_weight * weight, in_bias * weight


def weight_from_x(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The gradient in the weight is built from x. The weight multiplies the normalised vector."""
    in_x, _, in_bias = layer_norm_backward(grad, x, weight, eps)
    return in_x, (grad * x).sum_to_size(weight.shape), in_bias


def not_summed(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The gradients in weight and bias still have all axes. One weight serves all vectors, so what
    they say is added up.
    """
    y = (x - _mean(x)) / (x.var(-1, correction=0, keepdim=True) + eps).sqrt()
    return layer_norm_backward(grad, x, weight, eps)[0], grad * y, grad


def averaged(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The gradients in weight and bias are means over the vectors. A sum it is: the loss hears each
    of them.
    """
    in_x, in_weight, in_bias = layer_norm_backward(grad, x, weight, eps)
    count = x.numel() // x.shape[-1]
    return in_x, in_weight / count, in_bias / count


def other_order(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The gradients in weight and bias have changed places. The order is x, weight, bias."""
    in_x, in_weight, in_bias = layer_norm_backward(grad, x, weight, eps)
    return in_x, in_bias, in_weight


def first_axis_alone(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The gradients in weight and bias are summed over the first axis alone. There may be any
    number of axes before the last, and all of them go.
    """
    y = (x - _mean(x)) / (x.var(-1, correction=0, keepdim=True) + eps).sqrt()
    return layer_norm_backward(grad, x, weight, eps)[0], (grad * y).sum(0), grad.sum(0)


def in_x_alone(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """You return one gradient. Asked are three: in x, in weight and in bias."""
    return layer_norm_backward(grad, x, weight, eps)[0]


def by_three_paths(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The three paths one by one, as textbooks write them."""
    d = x.shape[-1]
    centred = x - x.sum(-1, keepdim=True) / d
    variance = centred.pow(2).sum(-1, keepdim=True) / d
    inverse = (variance + eps).rsqrt()
    in_y = grad * weight
    in_variance = (in_y * centred).sum(-1, keepdim=True) * -0.5 * inverse**3
    in_mean = -(in_y * inverse).sum(-1, keepdim=True)
    in_x = in_y * inverse + in_variance * 2 * centred / d + in_mean / d
    axes = tuple(range(x.ndim - 1))
    rows = grad * centred * inverse
    return in_x, rows.sum(axes) if axes else rows, grad.sum(axes) if axes else grad


def by_jacobian(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    d = x.size(-1)
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    s = torch.sqrt(variance + eps)
    y = (x - mean) / s
    unit = torch.eye(d, dtype=x.dtype, device=x.device)
    matrix = (unit - 1 / d - y.unsqueeze(-1) * y.unsqueeze(-2) / d) / s.unsqueeze(-1)
    in_x = torch.einsum("...i,...ij->...j", grad * weight, matrix)
    flat = grad.reshape(-1, d)
    return in_x, torch.einsum("nd,nd->d", flat, y.reshape(-1, d)), flat.sum(0)


def by_torchs_norm(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    """The forward pass may be torch's: what is asked is the way back."""
    y = functional.layer_norm(x, weight.shape, eps=eps)
    s = (x.var(-1, correction=0, keepdim=True) + eps).sqrt()
    g = grad * weight
    in_x = (g - g.mean(-1, keepdim=True) - y * (g * y).mean(-1, keepdim=True)) / s
    return in_x, torch.einsum("...d,...d->d", grad, y), torch.einsum("...d->d", grad)


def as_a_list(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> list[Tensor]:
    """Subtract means and the part along y one after the other, in a result of its own."""
    wide = x.double()
    centred = wide - wide.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True) + eps
    part = (grad * weight).double()
    part -= part.mean(-1, keepdim=True)
    part -= centred * (part * centred).mean(-1, keepdim=True) / variance
    rows = (grad * centred / variance.sqrt()).reshape(-1, x.shape[-1])
    three = (part / variance.sqrt(), rows.sum(0), grad.double().reshape(rows.shape).sum(0))
    return [one.to(x.dtype) for one in three]


def with_sums(grad: Tensor, x: Tensor, weight: Tensor, eps: float = 1e-5) -> Three:
    d = x.size(-1)
    deviation = (x.var(-1, correction=0, keepdim=True) + eps) ** 0.5
    hat, g = (x - x.mean(-1, keepdim=True)) / deviation, weight * grad
    inner = d * g - g.sum(-1, keepdim=True) - hat * (g * hat).sum(-1, keepdim=True)
    in_weight, in_bias = torch.zeros_like(weight), torch.zeros_like(weight)
    for one, y in zip(grad.reshape(-1, d), hat.reshape(-1, d), strict=True):
        in_weight, in_bias = in_weight + one * y, in_bias + one
    return inner / (d * deviation), in_weight, in_bias


EXERCISE = Exercise(
    solution=layer_norm_backward,
    chapter=CHAPTER,
    title="The way back through layer normalisation",
    points=4,
    minutes=14,
    difficulty=4,
    statement=(
        "`grad` is the gradient of some loss in the output of `layer_norm(x, weight, bias, eps)`. "
        "Give the gradients of the loss in x, in weight and in bias, with formulas and without "
        "autograd, forwards or backwards. They count on their own: one that is right earns points."
    ),
    example=(
        "x = (1, 2, 3) and grad = (3, 3, 3), all weights 1. A loss that pulls all entries alike "
        "cannot be changed by x, since the mean is subtracted: the gradient in x is 0. The "
        "gradient in the bias is (3, 3, 3), that of the one vector there is."
    ),
    conventions=(
        "Three tensors come back, in the order x, weight, bias. The first has the shape of x, the "
        "others (D,).",
        "y is the normalised vector before gain and bias, s the root of the variance plus eps, "
        "divided by D as in `layer_norm`.",
        "x may have any number of axes before the last. What several vectors say of one weight is "
        "added up, not averaged.",
        "A weight may be 0, a vector may have one entry, and a mean of 2000 beside a deviation of "
        "1 must do no harm.",
        "float32 and float64 come in, and are computed in their own dtype; half precision does "
        "not. A ready-made norm may be used for the forward pass.",
    ),
    hints=(
        "Bias first: it is added to every vector. Then the weight: what does it multiply?",
        "For x, let the gradient pass the gain, then use the equation in the text with the two "
        "bars. A bar is the mean over the entries of one vector.",
        "Test yourself: for every vector the result sums to 0, and its dot product with y is 0 up "
        "to eps.",
    ),
    cases=CASES,
    mistakes=(
        constants,
        mean_constant,
        size_constant,
        size_added,
        sums_for_means,
        means_of_everything,
        not_divided,
        divided_by_variance,
        multiplied,
        sample_variance,
        one_pass,
        eps_outside,
        narrowed,
        divided_by_weight,
        x_for_grad,
        y_for_its_product,
        no_eps,
        own_eps,
        of_rms_norm,
        gain_forgotten,
        gain_late,
        gain_twice,
        gain_everywhere,
        weight_from_x,
        not_summed,
        first_axis_alone,
        averaged,
        other_order,
        in_x_alone,
        on_the_cpu(layer_norm_backward),
        changed_in_place(layer_norm_backward),
    ),
    alternatives=(by_three_paths, by_jacobian, by_torchs_norm, as_a_list, with_sums),
    forbidden=(
        "torch.autograd.grad",
        "torch.autograd.backward",
        "torch.Tensor.backward",
        "torch.autograd.functional.vjp",
        "torch.autograd.functional.jvp",
        "torch.autograd.functional.jacobian",
        "torch.autograd.forward_ad.make_dual",
        "torch.func.vjp",
        "torch.func.jvp",
        "torch.func.linearize",
        "torch.func.grad",
        "torch.func.grad_and_value",
        "torch.func.jacrev",
        "torch.func.jacfwd",
        "torch.native_layer_norm_backward",
        "torch.ops.aten.native_layer_norm_backward",
    ),
)
