"""Chapter 08 against PyTorch's own operations, and what must hold of gates."""

from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name
from torch.testing import assert_close

from solutions.activations import dead_units, gelu, swish
from solutions.feedforward import SwiGLU, feed_forward, glu, matched_hidden_width

seeds = st.integers(0, 2**32)
size = st.integers(1, 6)
leading = st.lists(st.integers(1, 4), max_size=3)
activation = st.sampled_from([F.relu, F.gelu, F.silu, torch.tanh, torch.sigmoid])
dtypes = st.sampled_from([torch.float32, torch.float64, torch.float16, torch.bfloat16])


def drawn(seed: int, *shapes: list[int], dtype: torch.dtype = torch.float32) -> list[Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return [(2 * torch.randn(shape, generator=rng)).to(dtype) for shape in shapes]


# Activations


@given(seeds, leading, dtypes)
def test_gelu_is_torchs_exact_one(seed, shape, dtype):
    (x,) = drawn(seed, shape, dtype=dtype)
    eps = 8 * torch.finfo(dtype).eps
    assert_close(gelu(x), F.gelu(x), rtol=eps, atol=eps)


@given(seeds, leading, dtypes)
def test_swish_is_torchs(seed, shape, dtype):
    (x,) = drawn(seed, shape, dtype=dtype)
    eps = 8 * torch.finfo(dtype).eps
    assert_close(swish(x), F.silu(x), rtol=eps, atol=eps)


@given(seeds, st.floats(0.1, 5) | st.floats(-5, -0.1))
def test_swishes_are_one_curve_at_different_scales(seed, beta):
    (x,) = drawn(seed, [7], dtype=torch.float64)
    assert_close(swish(x, beta), F.silu(beta * x) / beta)
    assert_close(swish(x, -beta), -swish(-x, beta))


def test_the_limits_of_swish():
    (x,) = drawn(0, [50])
    assert_close(swish(x, 0), x / 2)
    assert_close(swish(x, 1e6), x.relu())


@given(seeds)
def test_opposite_units_hand_a_number_through(seed):
    (x,) = drawn(seed, [9], dtype=torch.float64)
    for function in (gelu, swish, torch.relu):
        assert_close(function(x) - function(-x), x)


@pytest.mark.parametrize(
    ("function", "lowest", "at"), [(gelu, -0.17, -0.7518), (swish, -0.2785, -1.2785)]
)
def test_minima_are_where_the_chapter_says(function, lowest, at):
    x = torch.linspace(-4, 4, 80_001, dtype=torch.float64)
    values = function(x)
    assert abs(values.min() - lowest) < 1e-4
    assert abs(x[values.argmin()] - at) < 1e-3


@pytest.mark.parametrize("function", [gelu, swish])
def test_numbers_of_any_size_stay_finite_and_so_do_gradients(function):
    x = torch.tensor([1e4, -1e4, 1e30, -1e30, 0.0], requires_grad=True)
    values = function(x)
    (slope,) = torch.autograd.grad(values.sum(), x)
    assert_close(values.detach(), x.detach().relu())
    assert_close(slope, torch.tensor([1.0, 0.0, 1.0, 0.0, 0.5]))


@given(seeds, leading, size, size)
def test_dead_units_are_those_without_a_gradient(seed, shape, d_model, units):
    x, w_in, b_in = drawn(seed, [*shape, d_model], [units, d_model], [units])
    w_in.requires_grad_()
    b_in = (b_in - 3).requires_grad_()
    F.relu(F.linear(x, w_in, b_in)).sum().backward()
    assert w_in.grad is not None
    assert b_in.grad is not None
    dead = dead_units(x, w_in, b_in)
    assert torch.equal(dead, b_in.grad == 0)
    assert bool((w_in.grad[dead] == 0).all())


# Layers


@given(seeds, leading, size, size, activation)
def test_the_layer_is_torchs(seed, shape, d_model, d_ff, function):
    x, *weights = drawn(
        seed, [*shape, d_model], [d_ff, d_model], [d_ff], [d_model, d_ff], [d_model]
    )
    up, down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
    up.load_state_dict({"weight": weights[0], "bias": weights[1]})
    down.load_state_dict({"weight": weights[2], "bias": weights[3]})
    expected = down(function(up(x)))
    assert_close(feed_forward(x, tuple(weights), function), expected, rtol=1e-4, atol=1e-4)


@given(seeds, size, st.integers(2, 6))
def test_no_token_hears_of_another(seed, d_model, tokens):
    x, *weights = drawn(seed, [tokens, d_model], [7, d_model], [7], [d_model, 7], [d_model])
    together = feed_forward(x, tuple(weights), gelu)
    for i in range(tokens):
        assert_close(feed_forward(x[i], tuple(weights), gelu), together[i])


@given(seeds, leading, size)
def test_with_a_sigmoid_it_is_torchs_glu_in_the_other_order(seed, shape, width):
    gate, value = drawn(seed, [*shape, width], [*shape, width])
    ours = glu(torch.cat((gate, value), -1), torch.sigmoid)
    assert_close(ours, F.glu(torch.cat((value, gate), -1)))


@given(seeds, leading, size)
def test_a_gate_that_sees_its_own_value_is_swish(seed, shape, width):
    (x,) = drawn(seed, [*shape, width])
    assert_close(glu(torch.cat((x, x), -1), torch.sigmoid), swish(x))


@given(st.integers(1, 10**6), st.integers(1, 512))
def test_the_width_is_the_smallest_multiple_that_is_enough(d_ff, multiple):
    width = matched_hidden_width(d_ff, multiple)
    assert width % multiple == 0
    assert width - multiple < Fraction(2 * d_ff, 3) <= width


def test_the_widths_of_llama():
    widths = [matched_hidden_width(4 * d, 256) for d in (4096, 5120, 6656, 8192)]
    assert widths == [11008, 13824, 17920, 22016]


def layer(seed: int, d_model: int, d_ff: int) -> SwiGLU:
    shapes = [d_ff, d_model], [d_ff, d_model], [d_model, d_ff]
    names = ("w_gate.weight", "w_up.weight", "w_down.weight")
    made = SwiGLU(d_model, d_ff)
    made.load_state_dict(dict(zip(names, drawn(seed, *shapes), strict=True)))
    return made


@given(seeds, leading, size, size)
def test_swiglu_is_glu_between_its_matrices(seed, shape, d_model, d_ff):
    (x,) = drawn(seed + 1, [*shape, d_model])
    module = layer(seed, d_model, d_ff)
    both = torch.cat((module.w_gate.weight, module.w_up.weight))
    expected = glu(x @ both.T, F.silu) @ module.w_down.weight.T
    assert_close(module(x), expected, rtol=1e-4, atol=1e-4)


@given(size, st.integers(1, 200))
def test_at_the_matched_width_the_cost_is_that_of_the_plain_layer(d_model, d_ff):
    width = matched_hidden_width(3 * d_ff)
    weights = sum(w.numel() for w in SwiGLU(d_model, width).parameters())
    assert weights == 2 * d_model * 3 * d_ff


def _traced_layer() -> tuple[Tensor, tuple[Tensor, ...]]:
    x, *weights = drawn(0, [2, 3, 4], [5, 4], [5], [4, 5], [4])
    return x, tuple(weights)


X, WEIGHTS = _traced_layer()
TRACED = [
    (gelu, (X,)),
    (swish, (X, 2.0)),
    (dead_units, (X, *WEIGHTS[:2])),
    (feed_forward, (X, WEIGHTS, F.relu)),
    (glu, (X, F.silu)),
    (SwiGLU(4, 7).forward, (X,)),
]
