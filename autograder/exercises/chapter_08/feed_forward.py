"""Exercise: the position-wise layer as a function.

Out of scope: dropout (chapter 12), gates (the next exercises).
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import conv1d, linear

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_08 import CHAPTER
from autograder.inputs import described, normal, sizes
from autograder.lent import TorchFunction
from autograder.slips import (
    always_float32,
    changed_in_place,
    cut_from_autograd,
    float64_narrowed,
    on_the_cpu,
)
from autograder.spec import Case, Exercise, Implementation, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.feedforward import feed_forward

Activation = Callable[[Tensor], Tensor]
Weights = tuple[Tensor, Tensor, Tensor, Tensor]
Sizes = dict[str, int]
TOKENS = ("B L", "", "L", "X B L")


def _trial(rng: Generator, of: Sizes, tokens: str, name: str) -> Trial:
    axes = f"{tokens} D".strip()
    weights = (
        normal(rng, "F D", of, std=of["D"] ** -0.5),
        normal(rng, "F", of),
        normal(rng, "D F", of, std=of["F"] ** -0.5),
        normal(rng, "D", of),
    )
    words = f"{described('x', axes, of)}, F = {of['F']}, activation {name}"
    return Trial(call(normal(rng, axes, of), weights, TorchFunction(name)), words, of, axes)


def _on(trial: Trial, x: Tensor, note: str) -> Trial:
    """Give the trial with another x."""
    _, *rest = trial.request.calls[0].args
    return replace(trial, request=call(x, *rest), inputs=f"{trial.inputs}, {note}")


def _drawn(rng: Generator, tokens: str = "B L", name: str = "relu") -> Trial:
    return _trial(rng, sizes(rng, f"{tokens} D F".strip()), tokens, name)


def ordinary(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def activations(rng: Generator) -> Iterator[Trial]:
    for name in ("gelu", "sigmoid", "tanh"):
        yield _drawn(rng, name=name)


def ranks(rng: Generator) -> Iterator[Trial]:
    for tokens in TOKENS:
        yield _drawn(rng, tokens, "silu")
    trial = _drawn(rng)
    x = trial.request.calls[0].args[0]
    turned = x.transpose(0, 1).contiguous().transpose(0, 1)  # the same numbers, in another order
    yield _on(trial, turned, "x not contiguous")


def large(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    x = trial.request.calls[0].args[0]
    yield _on(trial, 1e3 * x, "x times 1000")
    (wide,) = in_dtypes(trial, (torch.float64,))
    yield _on(wide, 1e50 * wide.request.calls[0].args[0], "x times 1e50")


def special_sizes(rng: Generator) -> Iterator[Trial]:
    for single in "BLDF":
        yield _trial(rng, sizes(rng, "B L D F") | {single: 1}, "B L", "gelu")
    yield _trial(rng, dict.fromkeys("BLDF", 4), "B L", "gelu")


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng, name="gelu"), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng, name="silu"))


def kept(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng, name="sigmoid")


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


CASES = (
    Case("expands, applies ReLU, contracts", ordinary, values, weight=2),
    Case("any activation may be given", activations, values, weight=2),
    Case("works for one token and for batches of batches", ranks, values),
    Case("large numbers stay as they are", large, values),
    Case("works where sizes are equal, or 1", special_sizes, values),
    Case("the gradient reaches x, weights and biases", gradients, values),
    Case("the dtype is kept", dtypes, values, tolerance=6e-2),
    Case("nothing that was given is changed", kept, inputs_kept),
    Case("works on whatever device the tensors are on", devices, values),
)


def relu_always(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """The activation is always ReLU. Use the function that is given."""
    return feed_forward(x, weights, torch.relu)


def not_activated(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """There is no activation: two linear maps in a row are one linear map."""
    w_in, b_in, w_out, b_out = weights
    return linear(linear(x, w_in, b_in), w_out, b_out)


def activated_late(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """The activation comes after the contraction. It belongs between the two maps."""
    w_in, b_in, w_out, b_out = weights
    return activation(linear(linear(x, w_in, b_in), w_out, b_out))


def activated_twice(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """The result is activated once more. After the contraction nothing follows, so that the layer
    can also subtract.
    """
    return activation(feed_forward(x, weights, activation))


def activated_first(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """The activation is applied to x, before the expansion. It belongs on the hidden numbers."""
    w_in, b_in, w_out, b_out = weights
    return linear(linear(activation(x), w_in, b_in), w_out, b_out)


def first_bias_missing(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """b_in is not used. Without it every unit bends at 0."""
    w_in, _, w_out, b_out = weights
    return linear(activation(linear(x, w_in)), w_out, b_out)


def second_bias_missing(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """b_out is not used: each of the two maps has a bias of its own."""
    w_in, b_in, w_out, _ = weights
    return linear(activation(linear(x, w_in, b_in)), w_out)


def bias_after_activation(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """b_in is added after the activation. It is there to move the bend, so it comes before."""
    w_in, b_in, w_out, b_out = weights
    return linear(activation(linear(x, w_in)) + b_in, w_out, b_out)


def out_bias_activated(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """The second bias goes through the activation."""
    w_in, b_in, w_out, b_out = weights
    return linear(activation(linear(x, w_in, b_in)), w_out) + activation(b_out)


def residual_added(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """x is added to the result. The residual connection belongs to the block (chapter 7)."""
    return x + feed_forward(x, weights, activation)


def hidden_returned(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """You return the hidden numbers, (..., F). They still have to be contracted."""
    w_in, b_in, _, _ = weights
    return activation(linear(x, w_in, b_in))


def not_transposed(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """The weights have the layout of nn.Linear, a row for each output: w_in is (F, D). What has to
    be done before the rows of x can be multiplied by it?
    """
    w_in, b_in, w_out, b_out = weights
    return activation(x @ w_in + b_in) @ w_out + b_out


def tied(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """The contraction uses w_in again, and w_out is not used at all. The two are different
    matrices.
    """
    w_in, b_in, _, b_out = weights
    return activation(linear(x, w_in, b_in)) @ w_in + b_out


def tokens_mixed(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """Tokens hear of each other: the hidden numbers are averaged over all of them. Each token goes
    through the layer alone.
    """
    w_in, b_in, w_out, b_out = weights
    hidden = activation(linear(x, w_in, b_in))
    mean = hidden.reshape(-1, len(b_in)).mean(0)
    return linear((hidden + mean) / 2, w_out, b_out)


def hidden_clamped(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """Hidden numbers beyond 7 are cut off, as gpt-oss does in its gated layer. Here they stay."""
    w_in, b_in, w_out, b_out = weights
    return linear(activation(linear(x, w_in, b_in)).clamp(-7, 7), w_out, b_out)


def weights_cut(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """The numbers are right, but no gradient reaches the weights and biases: `detach`, `.data` or
    `torch.tensor` cuts them off, and the layer would never learn.
    """
    w_in, b_in, w_out, b_out = (weight.detach() for weight in weights)
    return linear(activation(linear(x, w_in, b_in)), w_out, b_out)


def first_bias_cut(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """The numbers are right, but no gradient reaches b_in: `detach` or `.data` cuts it off."""
    w_in, b_in, w_out, b_out = weights
    return linear(activation(linear(x, w_in, b_in.detach())), w_out, b_out)


def second_bias_cut(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """The numbers are right, but no gradient reaches b_out: `detach` or `.data` cuts it off."""
    w_in, b_in, w_out, b_out = weights
    return linear(activation(linear(x, w_in, b_in)), w_out, b_out.detach())


def by_linear(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    w_in, b_in, w_out, b_out = weights
    return linear(activation(linear(x, w_in, b_in)), w_out, b_out)


def by_einsum(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    w_in, b_in, w_out, b_out = weights
    hidden = activation(torch.einsum("...d,fd->...f", x, w_in) + b_in)
    return torch.einsum("...f,df->...d", hidden, w_out) + b_out


def adding_in_place(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """What an answer has made itself it may change."""
    w_in, b_in, w_out, b_out = weights
    hidden = torch.einsum("...d,fd->...f", x, w_in)
    hidden += b_in
    result = torch.einsum("...f,df->...d", activation(hidden), w_out)
    result += b_out
    return result


def by_convolution(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """A window of one position."""
    w_in, b_in, w_out, b_out = weights
    tokens = x.reshape(1, -1, x.shape[-1]).mT
    hidden = activation(conv1d(tokens, w_in[..., None], b_in))
    return conv1d(hidden, w_out[..., None], b_out).mT.reshape(x.shape)


def unit_by_unit(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """Add up what each hidden unit writes."""
    w_in, b_in, w_out, b_out = weights
    total = b_out.expand(x.shape)
    for key, bias, value in zip(w_in, b_in, w_out.T, strict=True):
        total = total + activation((x * key).sum(-1, keepdim=True) + bias) * value
    return total


def with_layers(x: Tensor, weights: Weights, activation: Activation) -> Tensor:
    """Layers that are given their weights when they are called."""
    w_in, b_in, w_out, b_out = weights
    up, down = nn.Linear(1, 1, device="meta"), nn.Linear(1, 1, device="meta")
    run = torch.func.functional_call
    hidden = activation(run(up, {"weight": w_in, "bias": b_in}, (x,)))
    result: Tensor = run(down, {"weight": w_out, "bias": b_out}, (hidden,))
    return result


SLIPS: tuple[Implementation, ...] = (
    on_the_cpu(feed_forward),
    always_float32(feed_forward),
    float64_narrowed(feed_forward),
    cut_from_autograd(feed_forward),
    changed_in_place(feed_forward),
)

EXERCISE = Exercise(
    solution=feed_forward,
    chapter=CHAPTER,
    title="The feed-forward layer",
    points=3,
    minutes=8,
    difficulty=2,
    statement=(
        "The layer that each token passes through alone: expand to F numbers, apply the "
        "activation, contract to D again. The activation is an argument: a function from tensors "
        "to tensors, such as `torch.relu`."
    ),
    example=(
        "A token (3, 1) and three units that look for the first feature minus the second, the "
        "second minus the first, and twice the second. ReLU makes 2, -2, 2 to 2, 0, 2. The "
        "contraction adds the first two and keeps the third, with bias 0.5: (2, 2.5)."
    ),
    conventions=(
        "The weights come as a tuple: w_in, b_in, w_out, b_out.",
        "They have the layout of nn.Linear, one row for each output: w_in is (F, D), w_out is "
        "(D, F). A vector x is multiplied as `x @ w.T`.",
        "Nothing follows the contraction: no activation, and no residual connection.",
        "x has any number of axes before D, or none. The same weights serve every token.",
        "Result and gradients are computed in the dtype that comes in, however large the numbers.",
    ),
    hints=(
        "Two linear maps, each with its bias. What stands between them?",
        "The activation is called like any function, with the hidden numbers as its argument.",
        "Write the shapes behind the lines: (..., D), (..., F), (..., D).",
    ),
    cases=CASES,
    mistakes=(
        relu_always,
        not_activated,
        activated_late,
        activated_twice,
        activated_first,
        first_bias_missing,
        second_bias_missing,
        bias_after_activation,
        out_bias_activated,
        residual_added,
        hidden_returned,
        not_transposed,
        tied,
        tokens_mixed,
        hidden_clamped,
        weights_cut,
        first_bias_cut,
        second_bias_cut,
        *SLIPS,
    ),
    alternatives=(
        by_linear,
        by_einsum,
        adding_in_place,
        by_convolution,
        unit_by_unit,
        with_layers,
    ),
)
