"""Exercise: the gated layer as a module.

Out of scope: dropout (chapter 12), experts (chapter 9).
"""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_08 import CHAPTER
from autograder.inputs import described, normal, sizes
from autograder.slips import cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Implementation, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request
from solutions.activations import gelu
from solutions.feedforward import SwiGLU, glu

Sizes = dict[str, int]


def _weights(rng: Generator, of: Sizes) -> dict[str, Tensor]:
    """Draw matrices under which gates reach both sides of 0."""
    return {
        "w_gate.weight": normal(rng, "F D", of, std=1.5 * of["D"] ** -0.5),
        "w_up.weight": normal(rng, "F D", of, std=of["D"] ** -0.5),
        "w_down.weight": normal(rng, "D F", of, std=of["F"] ** -0.5),
    }


def _trial(rng: Generator, of: Sizes, tokens: str, calls: int = 1, std: float = 1.0) -> Trial:
    axes = f"{tokens} D".strip()
    several = tuple(Call((normal(rng, axes, of, std=std),)) for _ in range(calls))
    words = f"d_model = {of['D']}, d_ff = {of['F']}, {described('x', axes, of)}"
    words += f", {calls} calls" if calls > 1 else ""
    request = Request(several, Call((of["D"], of["F"])), _weights(rng, of))
    return Trial(request, words, of, axes)


def _drawn(rng: Generator, tokens: str = "B L") -> Trial:
    return _trial(rng, sizes(rng, f"{tokens} D F".strip()), tokens)


def ordinary(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def widths(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L D F")
    narrow, wide = sorted((of["D"], of["F"]))
    yield _trial(rng, of | {"D": narrow, "F": wide}, "B L")
    yield _trial(rng, of | {"D": wide, "F": narrow}, "B L")


def ranks(rng: Generator) -> Iterator[Trial]:
    for tokens in ("", "L", "X B L"):
        yield _drawn(rng, tokens)
    trial = _drawn(rng)
    turned = trial.request.calls[0].args[0].transpose(0, 1).contiguous().transpose(0, 1)
    request = replace(trial.request, calls=(Call((turned,)),))
    yield replace(trial, request=request, inputs=f"{trial.inputs}, x not contiguous")


def fresh(rng: Generator) -> Iterator[Trial]:
    """Draw a module that keeps its own weights: of those, 0 alone tells nothing."""
    of = sizes(rng, "B L D F")
    words = f"d_model = {of['D']}, d_ff = {of['F']}, x of zeros, a new module"
    zeros = torch.zeros(of["B"], of["L"], of["D"])
    yield Trial(Request((Call((zeros,)),), Call((of["D"], of["F"]))), words, of, "B L D")


def training(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    request = replace(trial.request, train=True)
    yield replace(trial, request=request, inputs=f"{trial.inputs}, in training")


def special_sizes(rng: Generator) -> Iterator[Trial]:
    for single in "BLDF":
        yield _trial(rng, sizes(rng, "B L D F") | {single: 1}, "B L")
    yield _trial(rng, dict.fromkeys("BLDF", 4), "B L")


def two_calls(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, sizes(rng, "B L D F"), "B L", calls=3)


def large(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, sizes(rng, "B L D F"), "B L", std=1e3)


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)
    yield backward(_trial(rng, sizes(rng, "B L D F"), "B L", std=1e3), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng))


def kept(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


CASES = (
    Case("the gate, through Swish, multiplies the value", ordinary, values, weight=3),
    Case("hidden widths above and below the model's", widths, values),
    Case("works for one token and for batches of batches", ranks, values),
    Case("works where sizes are equal, or 1", special_sizes, values),
    Case("a new module takes float32, and makes 0 of 0", fresh, values, weight=0.5),
    Case("training or not, the numbers are the same", training, values),
    Case("a second call does not depend on the first", two_calls, values),
    Case("large numbers stay finite", large, values),
    Case("the gradient reaches x and the weights, large x too", gradients, values),
    Case("the dtype is kept", dtypes, values, tolerance=6e-2),
    Case("x itself is not changed", kept, inputs_kept),
    Case("works on whatever device module and x are on", devices, values),
)


class _Parts(SwiGLU):
    """The right layer in steps, so that a mistake can change one."""

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        """Give the hidden numbers (..., F)."""
        return F.silu(gate) * value

    def forward(self, x: Tensor) -> Tensor:
        """Gate, and project back."""
        result: Tensor = self.w_down(self.hidden(self.w_gate(x), self.w_up(x)))
        return result


class Exchanged(_Parts):
    """The value is activated and the gate is not: w_gate and w_up have changed places. With random
    weights nobody would notice, with loaded ones everything is wrong.
    """

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        return F.silu(value) * gate


class BothActivated(_Parts):
    """Gate and value both go through Swish. The value stays as it is."""

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        return F.silu(gate) * F.silu(value)


class SigmoidGate(_Parts):
    """The gate goes through a sigmoid. That is the first GLU; here it is Swish, which is x times
    its sigmoid.
    """

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        return torch.sigmoid(gate) * value


class GeluGate(_Parts):
    """The gate goes through GELU. That is GEGLU, as in T5; here it is Swish."""

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        return gelu(gate) * value


class TanhGeluGate(_Parts):
    """The gate goes through the tanh form of GELU, as in Gemma. Here it is Swish."""

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        return F.gelu(gate, approximate="tanh") * value


class ReluGate(_Parts):
    """The gate goes through ReLU. That is ReGLU; here it is Swish."""

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        return torch.relu(gate) * value


class Bilinear(_Parts):
    """There is no activation: this is the bilinear layer."""

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        return gate * value


class ProductActivated(_Parts):
    """Swish comes after the product. It belongs on the gate, before."""

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        return F.silu(gate * value)


class Summed(_Parts):
    """Gate and value are added. A gate multiplies."""

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        return F.silu(gate) + value


class NoValue(_Parts):
    """w_up is not used: this is a plain layer with Swish."""

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        return F.silu(gate)


class Overflowing(_Parts):
    """NaN for large numbers: the gate's sigmoid is written with exponentials that overflow. See
    `torch.sigmoid`, or your `swish`.
    """

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        powers = gate.exp()
        return gate * powers / (1 + powers) * value


class GradientLost(_Parts):
    """The values are right, but for large numbers the gradient is NaN: an exponential overflows in
    the gate. See `torch.sigmoid`, or your `swish`.
    """

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        return gate / (1 + torch.exp(-gate)) * value


class SoftmaxGate(_Parts):
    """The gate is a softmax over the hidden units, so that they compete. Each unit has a gate of
    its own.
    """

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        return gate.softmax(-1) * value


class ActivatedAtTheEnd(_Parts):
    """The result goes through Swish once more. Nothing follows w_down, so that the layer can also
    subtract.
    """

    def forward(self, x: Tensor) -> Tensor:
        return F.silu(super().forward(x))


class ResidualAdded(_Parts):
    """x is added to the result. The residual connection belongs to the block (chapter 7)."""

    def forward(self, x: Tensor) -> Tensor:
        return x + super().forward(x)


class HiddenReturned(_Parts):
    """You return the hidden numbers, (..., F). w_down still has to bring them back."""

    def forward(self, x: Tensor) -> Tensor:
        return self.hidden(self.w_gate(x), self.w_up(x))


class WeightsCut(SwiGLU):
    """The numbers are right, but no gradient reaches the weights: `.data`, `detach` or
    `requires_grad` cuts them off, and the layer would never learn. Call the layers, or multiply by
    `.weight` itself.
    """

    def forward(self, x: Tensor) -> Tensor:
        gate, up, down = (
            w.detach() for w in (self.w_gate.weight, self.w_up.weight, self.w_down.weight)
        )
        return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


class NothingLearns(_Parts):
    """The numbers are right, but nothing can be learned from them: `no_grad`, `detach` or `.data`
    cuts the result off from x and from all weights.
    """

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).detach()


class GateCut(_Parts):
    """The numbers are right, but the gate is cut off from autograd: it would never learn when to
    open.
    """

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        return F.silu(gate).detach() * value


class Clamped(_Parts):
    """Gate and value are cut off at 7, as in gpt-oss. Here they are used as they are."""

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        return F.silu(gate.clamp(max=7)) * value.clamp(-7, 7)


class DropoutAtTheEnd(_Parts):
    """Entries of the result are dropped while training. This layer has no dropout (chapter 12)."""

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(super().forward(x), 0.1, self.training)


class HiddenDropped(_Parts):
    """Hidden numbers are dropped while training. This layer has no dropout (chapter 12)."""

    def hidden(self, gate: Tensor, value: Tensor) -> Tensor:
        return F.dropout(F.silu(gate) * value, 0.1, self.training)


class OfFloat64(SwiGLU):
    """A new module is not float32: the constructor changes the dtype, or gives another one to
    `nn.Linear`. Leave it as it comes; who wants another calls `layer.double()`.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__(d_model, d_ff)
        self.double()


class InputInFloat32(_Parts):
    """x is turned into float32, but the weights stay what they are: the two no longer fit. Leave x
    in the dtype that came in.
    """

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.float())


class ResultInFloat32(_Parts):
    """The result is float32 whatever the dtype of x and weights. Give it back as it is."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).float()


class Cached(_Parts):
    """The second call gives the result of the first. Keep nothing between calls."""

    seen: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        if self.seen is None:
            self.seen = super().forward(x)
        return self.seen


class WithBias(SwiGLU):
    """The layers have biases: `nn.Linear` makes one unless it is told not to."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__(d_model, d_ff)
        self.w_gate, self.w_up = nn.Linear(d_model, d_ff), nn.Linear(d_model, d_ff)
        self.w_down = nn.Linear(d_ff, d_model)


class ReducedInside(SwiGLU):
    """The constructor takes two thirds of d_ff. The width that is given is the hidden width: who
    wants to match another layer does so before.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__(d_model, max(1, 2 * d_ff // 3))


class Fused(nn.Module):
    """One matrix makes gate and value. Many models do so; here they are w_gate and w_up, so that no
    order has to be agreed on.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_gate_up = nn.Linear(d_model, 2 * d_ff, bias=False)
        self.w_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.w_down(glu(self.w_gate_up(x), F.silu))
        return result


class Numbered(nn.Module):
    """The matrices are called w1, w2 and w3, as in Llama's code. Here they are w_gate, w_down and
    w_up.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)


class InOneLine(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_down = nn.Linear(d_ff, d_model, bias=False)
        self.w_up, self.w_gate = (nn.Linear(d_model, d_ff, bias=False) for _ in range(2))
        self.act = nn.SiLU()

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.w_down(self.w_up(x) * self.act(self.w_gate(x)))
        return result


class WithGlu(nn.Module):
    """The exercise before, given both projections side by side."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        for name, shape in {"w_gate": (d_model, d_ff), "w_up": (d_model, d_ff)}.items():
            self.add_module(name, nn.Linear(*shape, bias=False))
        self.w_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        both = torch.cat((self.get_submodule("w_gate")(x), self.get_submodule("w_up")(x)), -1)
        result: Tensor = self.w_down(glu(both, F.silu))
        return result


class SideBySide(nn.Module):
    """One product for gate and value, cut in two."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        sizes = {"w_down": (d_ff, d_model), "w_up": (d_model, d_ff), "w_gate": (d_model, d_ff)}
        for name, (before, after) in sizes.items():
            self.add_module(name, nn.Linear(before, after, bias=False))

    def forward(self, x: Tensor) -> Tensor:
        names = ("w_gate.weight", "w_up.weight", "w_down.weight")
        gate, up, down = map(self.get_parameter, names)
        both = F.linear(x, torch.cat([gate, up])).chunk(2, dim=-1)
        return F.linear(F.silu(both[0]) * both[1], down)


class ByEinsum(nn.Module):
    """Matrices of its own, and einsum."""

    class Matrix(nn.Module):
        def __init__(self, rows: int, columns: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(rows, columns) / columns**0.5)

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_gate, self.w_up = self.Matrix(d_ff, d_model), self.Matrix(d_ff, d_model)
        self.w_down = self.Matrix(d_model, d_ff)

    def forward(self, x: Tensor) -> Tensor:
        gate = torch.einsum("...d,fd->...f", x, self.w_gate.weight)
        value = torch.einsum("...d,fd->...f", x, self.w_up.weight)
        hidden = gate * gate.sigmoid() * value
        return torch.einsum("...f,df->...d", hidden, self.w_down.weight)


SLIPS: tuple[Implementation, ...] = (on_the_cpu(SwiGLU), cut_from_autograd(SwiGLU))

EXERCISE = Exercise(
    solution=SwiGLU,
    chapter=CHAPTER,
    title="SwiGLU as a module",
    points=4,
    minutes=10,
    difficulty=3,
    statement=(
        "The feed-forward layer of Llama and its relatives, as a module that owns three matrices. "
        "The gate goes through Swish, multiplies the value, and the product is projected back. The "
        "checks copy weights into your module by their names and compare numbers."
    ),
    example=(
        "With `d_model=6` and `d_ff=16` there are 3 x 6 x 16 = 288 weights. If a token's gate is "
        "(1, -1) and its value (10, 10), the hidden numbers are 0.7311 x 10 and -0.2689 x 10: "
        "(7.311, -2.689)."
    ),
    conventions=(
        "The three layers are called `w_gate`, `w_up` and `w_down`, so that `state_dict` holds "
        "`w_gate.weight` and so on, in the layout of nn.Linear, and nothing else that is learned: "
        "no biases.",
        "What `w_gate` makes is activated, by Swish with beta = 1. What `w_up` makes is not: "
        "with the two exchanged, the example would give 10 x 1 for the first number.",
        "d_ff is the hidden width as it is; no factor of two thirds in here.",
        "No residual connection, no dropout, in training neither. One call does not change the "
        "next. x has any number of axes before the last.",
        "Which weights a new module has is up to you, those of nn.Linear for instance; their dtype "
        "is torch's usual one, float32.",
    ),
    hints=(
        "Three layers in the constructor: two from d_model to d_ff, one back.",
        "Your `swish` or torch's own SiLU: both are allowed here.",
        "The gate comes from w_gate, the value from w_up, and both read x.",
    ),
    cases=CASES,
    mistakes=(
        Exchanged,
        BothActivated,
        SigmoidGate,
        GeluGate,
        TanhGeluGate,
        ReluGate,
        Bilinear,
        ProductActivated,
        Summed,
        NoValue,
        Overflowing,
        GradientLost,
        SoftmaxGate,
        ActivatedAtTheEnd,
        ResidualAdded,
        HiddenReturned,
        WeightsCut,
        NothingLearns,
        GateCut,
        Clamped,
        DropoutAtTheEnd,
        HiddenDropped,
        OfFloat64,
        InputInFloat32,
        ResultInFloat32,
        Cached,
        WithBias,
        ReducedInside,
        Fused,
        Numbered,
        *SLIPS,
    ),
    alternatives=(InOneLine, WithGlu, SideBySide, ByEinsum),
)
