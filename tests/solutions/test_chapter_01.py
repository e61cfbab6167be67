"""Chapter 01 against PyTorch's own operations, and against what the chapter claims."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name
from torch.testing import assert_close

from solutions.additive import additive_scores
from solutions.kernel import kernel_attention
from solutions.local import local_attention_weights
from solutions.lookup import hard_lookup, soft_lookup
from solutions.messages import message_passing

seeds = st.integers(0, 2**32)
size = st.integers(1, 9)
leading = st.lists(st.integers(1, 4), max_size=2)
searches = st.tuples(leading, size, size, size)  # batch axes, queries, keys, width


def drawn(seed: int, *shapes: list[int]) -> list[Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=rng, dtype=torch.float64) for shape in shapes]


def searched(seed: int, batch: list[int], n_q: int, n_k: int, d_k: int) -> list[Tensor]:
    return drawn(seed, [*batch, n_q, d_k], [*batch, n_k, d_k], [*batch, n_k, 3])


# Lookups


@given(seeds, searches, st.floats(0, 5))
def test_soft_lookup_is_torchs_attention_with_another_scale(seed, sizes, sharpness):
    q, k, v = searched(seed, *sizes)
    expected = F.scaled_dot_product_attention(q, k, v, scale=sharpness)
    assert_close(soft_lookup(q, k, v, sharpness), expected)


@given(seeds, searches)
def test_a_very_sharp_lookup_is_hard(seed, sizes):
    q, k, v = searched(seed, *sizes)
    assert_close(soft_lookup(q, k, v, sharpness=1e15), hard_lookup(q, k, v))


def test_the_gradient_of_a_lookup_is_the_covariance_of_values_and_keys():
    q, k, v = searched(0, [], 1, 6, 4)
    jacobian = torch.autograd.functional.jacobian(lambda x: soft_lookup(x, k, v), q)
    p = (q @ k.mT).softmax(-1).mT
    centred_k, centred_v = k - (p * k).sum(0), v - (p * v).sum(0)
    assert_close(jacobian[0, :, 0], (p * centred_v).mT @ centred_k)


def test_the_gradient_of_a_hard_lookup_reaches_the_chosen_values_alone():
    q, k, v = (x.requires_grad_() for x in searched(0, [2], 3, 5, 4))
    grads = torch.autograd.grad(hard_lookup(q, k, v).sum(), (q, k, v), allow_unused=True)
    assert grads[0] is None
    assert grads[1] is None
    assert grads[2].sum() == hard_lookup(q, k, v).numel()


# Kernel regression


@given(seeds, searches, st.floats(0.1, 10))
def test_kernel_attention_is_a_softmax_of_squared_distances(seed, sizes, bandwidth):
    q, k, v = searched(seed, *sizes)
    distances = torch.cdist(q, k, compute_mode="donot_use_mm_for_euclid_dist")
    kernels = (-(distances**2) / (2 * bandwidth**2)).softmax(-1)
    assert_close(kernel_attention(q, k, v, bandwidth), kernels @ v)


@given(seeds, size, size, st.floats(0.2, 5))
def test_with_keys_of_one_length_a_kernel_is_a_soft_lookup(seed, n_q, n_k, bandwidth):
    q, k, v = searched(seed, [], n_q, n_k, 4)
    k = F.normalize(k, dim=-1)
    expected = soft_lookup(q, k, v, sharpness=bandwidth**-2)
    assert_close(kernel_attention(q, k, v, bandwidth), expected)


def test_far_away_the_nearest_key_decides():
    k, v = torch.tensor([[0.0], [1.0]]), torch.tensor([[5.0], [7.0]])
    answers = kernel_attention(torch.tensor([[1e6], [-1e6]]), k, v, 1.0)
    assert answers.tolist() == [[7.0], [5.0]]


# Neighbourhoods and graphs


@given(seeds, leading, size, size, st.integers(0, 9))
def test_local_weights_are_a_softmax_over_a_slice(seed, batch, n_q, n_k, radius):
    n_q = min(n_q, n_k + radius)
    (scores,) = drawn(seed, [*batch, n_q, n_k])
    weights = local_attention_weights(scores, radius)
    for i in range(n_q):
        near = slice(max(0, i - radius), i + radius + 1)
        assert_close(weights[..., i, near], scores[..., i, near].softmax(-1))
    assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))


@given(seeds, leading, st.integers(2, 7))
def test_messages_are_torchs_masked_attention(seed, batch, nodes):
    scores, messages, chance = drawn(seed, [*batch, nodes, nodes], [*batch, nodes, 3], [nodes] * 2)
    edges = chance > 0.5
    units = torch.eye(nodes, dtype=torch.float64).expand_as(scores)
    expected = F.scaled_dot_product_attention(scores, units, messages, edges, scale=1.0)
    expected = torch.where(edges.any(-1, keepdim=True), expected, 0.0)
    assert_close(message_passing(scores, messages, edges), expected)


@given(seeds, st.integers(2, 7))
def test_renaming_the_nodes_renames_the_answers(seed, nodes):
    scores, messages, chance = drawn(seed, [nodes, nodes], [nodes, 3], [nodes, nodes])
    edges, order = chance > 0, chance[0].argsort()
    renamed = [x[order][:, order] for x in (scores, edges)]
    answers = message_passing(renamed[0], messages[order], renamed[1])
    assert_close(answers, message_passing(scores, messages, edges)[order])


def test_a_node_that_hears_nobody_passes_no_gradient_and_no_nan():
    scores, messages = (x.requires_grad_() for x in drawn(0, [3, 3], [3, 2]))
    edges = torch.tensor([[True, True, False], [False] * 3, [True, False, False]])
    grads = torch.autograd.grad(message_passing(scores, messages, edges).sum(), (scores, messages))
    assert all(bool(grad.isfinite().all()) for grad in grads)
    assert not grads[0][1].any()


# Additive scores


@given(seeds, leading, size, size)
def test_additive_scores_are_a_network_on_each_pair(seed, batch, n_q, n_k):
    q, k, *weights = drawn(seed, [*batch, n_q, 2], [*batch, n_k, 3], [2, 5], [3, 5], [5])
    w_q, w_k, u = weights
    scores = additive_scores(q, k, *weights)
    for i in range(n_q):
        for j in range(n_k):
            hidden = F.linear(q[..., i, :], w_q.T) + F.linear(k[..., j, :], w_k.T)
            assert_close(scores[..., i, j], (hidden.tanh() * u).sum(-1))


def test_without_the_bend_the_query_would_not_matter():
    q, k, w_q, w_k, u = drawn(0, [2, 4], [5, 3], [4, 6], [3, 6], [6])
    small = 1e-6  # where tanh is nearly a straight line
    weights = additive_scores(small * q, small * k, w_q, w_k, u / small).softmax(-1)
    assert_close(weights[0], weights[1], rtol=1e-6, atol=1e-6)
    assert not math.isclose(*additive_scores(q, k, w_q, w_k, u).softmax(-1)[:, 0].tolist())


# Function -> arguments under which its shape comments and docstring are compared with its tensors.
TRACED = [
    (hard_lookup, drawn(0, [2, 4, 7], [2, 5, 7], [2, 5, 6])),
    (soft_lookup, drawn(0, [2, 3, 4, 7], [2, 3, 5, 7], [2, 3, 5, 6])),
    (kernel_attention, [*drawn(0, [2, 4, 7], [2, 5, 7], [2, 5, 6]), 1.5]),
    (local_attention_weights, [*drawn(0, [2, 6, 7]), 2]),
    (additive_scores, drawn(0, [2, 4, 7], [2, 5, 3], [7, 6], [3, 6], [6])),
    (message_passing, [*drawn(0, [2, 5, 5], [2, 5, 3]), torch.ones(5, 5).tril().bool()]),
]
