"""Chapter 02 against PyTorch's own operations."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd.functional import jacobian
from torch.nn import functional as F  # noqa: N812 - its usual name
from torch.testing import assert_close
from torch.utils.flop_counter import FlopCounterMode

from solutions.attention import attention_weights, scaled_dot_product_attention
from solutions.costs import attention_cost
from solutions.moments import product_moments
from solutions.softmax import softmax, softmax_jacobian

seeds = st.integers(0, 2**32)
size = st.integers(1, 9)
leading = st.lists(st.integers(1, 4), max_size=2)
dtypes = st.sampled_from([torch.float32, torch.float64, torch.float16, torch.bfloat16])


def drawn(seed: int, *shapes: list[int], dtype: torch.dtype = torch.float32) -> list[Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return [(3 * torch.randn(shape, generator=rng)).to(dtype) for shape in shapes]


# Softmax


@given(seeds, st.lists(size, min_size=1, max_size=4), st.integers(-4, 3), dtypes)
def test_softmax_is_torchs(seed, shape, dim, dtype):
    (x,) = drawn(seed, shape, dtype=dtype)
    dim = max(-x.ndim, min(dim, x.ndim - 1))
    rtol = 4 * torch.finfo(dtype).eps
    assert_close(softmax(x, dim), F.softmax(x, dim), rtol=rtol, atol=rtol)


@given(seeds, st.lists(size, min_size=1, max_size=3), st.floats(-3e4, 3e4))
def test_weights_are_positive_sum_to_1_and_depend_on_differences(seed, shape, offset):
    (x,) = drawn(seed, shape, dtype=torch.float64)
    weights = softmax(x)
    assert bool((weights > 0).all())
    assert_close(weights.sum(-1), torch.ones(shape[:-1], dtype=torch.float64))
    assert_close(softmax(x + offset), weights)


@given(seeds, st.lists(size, min_size=1, max_size=3))
def test_softmax_stays_finite_for_scores_of_any_size(seed, shape):
    (x,) = drawn(seed, shape)
    for factor in (1e4, 1e30):
        assert bool(softmax(factor * x).isfinite().all())
    assert_close(softmax(1e4 * x - 3e4), F.softmax(1e4 * x - 3e4, -1))


def test_a_score_of_minus_infinity_gets_no_weight_and_no_gradient():
    x = torch.tensor([0.0, -torch.inf, 1.0], requires_grad=True)
    weights = softmax(x)
    weights[0].backward()
    assert weights[1] == 0
    assert x.grad is not None
    assert x.grad[1] == 0
    assert bool(x.grad.isfinite().all())


@given(seeds, size)
def test_the_jacobian_is_what_autograd_finds(seed, count):
    (x,) = drawn(seed, [count], dtype=torch.float64)
    assert_close(softmax_jacobian(softmax(x)), jacobian(softmax, x))
    assert_close(softmax_jacobian(softmax(x)), jacobian(lambda y: F.softmax(y, -1), x))


@given(seeds, leading, size)
def test_each_vector_of_a_batch_has_its_own_jacobian(seed, batch, count):
    (x,) = drawn(seed, [*batch, count])
    p = softmax(x)
    together = softmax_jacobian(p).reshape(-1, count, count)
    for row, one in zip(p.reshape(-1, count), together, strict=True):
        assert_close(one, torch.diag(row) - torch.outer(row, row))
        assert_close(one.sum(-1), torch.zeros(count), atol=1e-6, rtol=0)


# Attention


@given(seeds, leading, st.tuples(size, size, size, size))
def test_attention_is_torchs(seed, batch, counts):
    n_q, n_k, d_k, d_v = counts
    q, k, v = drawn(seed, [*batch, n_q, d_k], [*batch, n_k, d_k], [*batch, n_k, d_v])
    expected = F.scaled_dot_product_attention(q, k, v)
    assert_close(scaled_dot_product_attention(q, k, v), expected, rtol=1e-4, atol=1e-5)


@given(seeds, leading, size, size, size)
def test_weights_are_torchs_attention_to_one_hot_values(seed, batch, n_q, n_k, d_k):
    q, k = drawn(seed, [*batch, n_q, d_k], [*batch, n_k, d_k])
    values = torch.eye(n_k).expand(*batch, n_k, n_k)
    weights = attention_weights(q, k)
    expected = F.scaled_dot_product_attention(q, k, values)
    assert_close(weights, expected, rtol=1e-4, atol=1e-5)
    assert_close(weights.sum(-1), torch.ones(*batch, n_q))


@given(seeds, size, st.integers(2, 9), size)
def test_the_order_of_keys_and_values_does_not_matter(seed, n_q, n_k, d_k):
    q, k, v = drawn(seed, [n_q, d_k], [n_k, d_k], [n_k, 3], dtype=torch.float64)
    order = torch.randperm(n_k, generator=torch.Generator().manual_seed(seed))
    shuffled = scaled_dot_product_attention(q, k[order], v[order])
    assert_close(shuffled, scaled_dot_product_attention(q, k, v))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_attention_keeps_the_dtype(dtype):
    q, k, v = drawn(1, [2, 3, 4], [2, 5, 4], [2, 5, 6], dtype=dtype)
    assert scaled_dot_product_attention(q, k, v).dtype == dtype


def test_attention_works_without_data():
    q, k, v = (x.to("meta") for x in drawn(1, [2, 3, 4], [2, 5, 4], [2, 5, 6]))
    assert scaled_dot_product_attention(q, k, v).shape == (2, 3, 6)
    assert scaled_dot_product_attention(q, k, v).is_meta


# Numbers


@given(size, size, size, size)
def test_the_flops_are_those_that_torch_counts(n_q, n_k, d_k, d_v):
    q, k, v = drawn(0, [n_q, d_k], [n_k, d_k], [n_k, d_v])
    with FlopCounterMode(display=False) as counter:
        scaled_dot_product_attention(q, k, v)
    assert attention_cost(n_q, n_k, d_k, d_v)[0] == counter.get_total_flops()


@given(size, size, size, dtypes)
def test_the_bytes_are_those_of_the_weights(n_q, n_k, d_k, dtype):
    q, k = drawn(0, [n_q, d_k], [n_k, d_k], dtype=dtype)
    cost = attention_cost(n_q, n_k, d_k, 1, bytes_per_number=dtype.itemsize)
    assert cost[1] == attention_weights(q, k).nbytes


@pytest.mark.parametrize(
    "numbers", [(4, 0.0, 1.0, 0.0, 1.0), (3, 1.5, 0.5, -2.0, 2.0), (7, 0.3, 2.0, 1.0, 0.1)]
)
def test_the_moments_are_those_of_a_sample(numbers):
    d_k, mean_q, var_q, mean_k, var_k = numbers
    rng = torch.Generator().manual_seed(0)
    draws = 200_000
    q = mean_q + var_q**0.5 * torch.randn(draws, d_k, generator=rng, dtype=torch.float64)
    k = mean_k + var_k**0.5 * torch.randn(draws, d_k, generator=rng, dtype=torch.float64)
    scores = (q * k).sum(-1)
    mean, variance = product_moments(*numbers)
    assert abs(float(scores.mean()) - mean) < 5 * (variance / draws) ** 0.5
    spread = float(((scores - scores.mean()) ** 2).std()) / draws**0.5
    assert abs(float(scores.var()) - variance) < 5 * spread


@given(st.integers(1, 99), *[st.floats(0, 5)] * 4)
def test_the_moments_do_not_tell_q_from_k(d_k, mean_q, var_q, mean_k, var_k):
    one = product_moments(d_k, mean_q, var_q, mean_k, var_k)
    assert one == pytest.approx(product_moments(d_k, mean_k, var_k, mean_q, var_q))


# Function -> arguments under which its shape comments and docstring are compared with its tensors.
TRACED = [
    (softmax, drawn(0, [2, 3, 5])),
    (softmax_jacobian, drawn(0, [2, 3, 5])),
    (attention_weights, drawn(0, [2, 3, 4, 7], [2, 3, 5, 7])),
    (scaled_dot_product_attention, drawn(0, [2, 3, 4, 7], [2, 3, 5, 7], [2, 3, 5, 6])),
]
