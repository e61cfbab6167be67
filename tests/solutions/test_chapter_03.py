"""Chapter 03 against PyTorch's own operations."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name
from torch.nn.attention.bias import causal_lower_right
from torch.testing import assert_close

from solutions.documents import document_mask
from solutions.masked import find_leak, masked_attention, masked_softmax
from solutions.masks import additive_mask, causal_mask, combine_masks, padding_mask

seeds = st.integers(0, 2**32)
size = st.integers(1, 7)


def drawn(seed: int, *shapes: tuple[int, ...]) -> list[Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=rng, dtype=torch.float64) for shape in shapes]


def some(seed: int, *shape: int) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.6


# Masks


@given(size, st.integers(0, 6))
def test_the_causal_mask_is_torchs_lower_right_one(n_q, earlier):
    n_k = n_q + earlier
    (v,) = drawn(0, (n_k, 3))
    q, k = torch.zeros(n_q, 2).double(), torch.zeros(n_k, 2).double()
    theirs = F.scaled_dot_product_attention(q, k, v, causal_lower_right(n_q, n_k))
    assert_close(masked_attention(q, k, v, causal_mask(n_q, n_k)), theirs)


def test_torchs_is_causal_is_the_same_for_as_many_queries_as_keys():
    q, k, v = drawn(1, *[(2, 5, 4)] * 3)
    theirs = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert_close(masked_attention(q, k, v, causal_mask(5, 5)), theirs)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.integers(0, 3))
def test_a_padding_mask_lets_through_as_many_keys_as_are_real(lengths, further):
    n_k = max(*lengths, 1) + further
    mask = padding_mask(torch.tensor(lengths), n_k)
    assert mask.shape == (len(lengths), 1, 1, n_k)
    assert mask.sum(-1).flatten().tolist() == lengths
    assert not bool((mask[..., 1:] & ~mask[..., :-1]).any())  # real keys come first


@given(seeds, size, size, size)
def test_combined_masks_are_those_that_are_added(seed, b, n_q, n_k):
    one, two = some(seed, b, 1, 1, n_k), some(seed + 1, n_q, n_k)
    scores = torch.zeros(b, 1, n_q, n_k)
    together = combine_masks(one, None, two)
    added = additive_mask(one, scores) + additive_mask(two, scores)
    assert torch.equal(additive_mask(together, scores), added)


@given(seeds, size)
def test_documents_are_what_each_would_be_alone(seed, length):
    rng = torch.Generator().manual_seed(seed)
    tokens = torch.randint(0, 3, (1, length), generator=rng)
    mask = document_mask(tokens, end=0)[0, 0]
    ends = [i + 1 for i, token in enumerate(tokens[0].tolist()) if token == 0]
    cuts = [0, *ends, length]
    lengths = [b - a for a, b in pairwise(cuts)]
    expected = torch.block_diag(*(causal_mask(n, n).int() for n in lengths if n))
    assert torch.equal(mask, expected.bool())


# Attention


@given(seeds, size, size, size, size)
def test_masked_attention_is_torchs_with_either_kind_of_mask(seed, n_q, n_k, d_k, d_v):
    q, k, v = drawn(seed, (2, 3, n_q, d_k), (2, 3, n_k, d_k), (2, 3, n_k, d_v))
    mask = some(seed, 2, 1, n_q, n_k)
    mine = masked_attention(q, k, v, mask)
    for theirs in (mask, additive_mask(mask, q)):
        assert_close(mine, F.scaled_dot_product_attention(q, k, v, theirs))
    assert_close(masked_attention(q, k, v), F.scaled_dot_product_attention(q, k, v))


@given(seeds)
def test_masked_attention_is_that_of_the_module_which_hides_where_true(seed):
    (x,) = drawn(seed, (2, 5, 4))
    layer = nn.MultiheadAttention(4, 1, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(4).repeat(3, 1))
        layer.out_proj.weight.copy_(torch.eye(4))
    lengths = torch.tensor([3, 5])
    real = padding_mask(lengths, 5)[:, 0]  # (B, 1, M): there are no heads here
    theirs, _ = layer(x, x, x, attn_mask=~causal_mask(5, 5), key_padding_mask=~real[:, 0])
    mine = masked_attention(x, x, x, combine_masks(causal_mask(5, 5), real))
    assert_close(mine, theirs)


@given(seeds, size, size)
def test_gradients_of_rows_that_see_nothing_are_zero_and_others_are_torchs(seed, n_q, n_k):
    tensors = drawn(seed, (n_q, 3), (n_k, 3), (n_k, 2), (n_q, 2))
    q, k, v, cotangent = tensors
    mask = some(seed, n_q, n_k)
    mask[0] = False
    grads = []
    for attend in (masked_attention, F.scaled_dot_product_attention):
        leaves = [tensor.clone().requires_grad_() for tensor in (q, k, v)]
        grads.append(torch.autograd.grad(attend(*leaves, mask), leaves, cotangent))
    for mine, theirs in zip(*grads, strict=True):
        assert_close(mine, theirs)
    assert bool((grads[0][0][0] == 0).all())


@pytest.mark.parametrize("hidden", [-1e30, 0.0, 1e30])
def test_hidden_scores_do_not_matter(hidden):
    scores = torch.tensor([[-3e4, -3e4, hidden]])
    weights = masked_softmax(scores, torch.tensor([True, True, False]))
    assert weights.tolist() == [[0.5, 0.5, 0.0]]


# The detector


@given(seeds, size)
def test_no_leak_is_found_in_causal_attention_and_all_without_a_mask(seed, n):
    (x,) = drawn(seed, (n, 3))
    causal = find_leak(lambda x: masked_attention(x, x, x, causal_mask(n, n)), x)
    blind = find_leak(lambda x: masked_attention(x, x, x), x)
    assert not bool(causal.any())
    assert torch.equal(blind, torch.ones(n, n).triu(1).bool())


# Function -> arguments under which its shape comments and docstring are compared with its tensors.
TRACED = [
    (causal_mask, [4, 7]),
    (padding_mask, [torch.tensor([2, 5, 0]), 6]),
    (masked_softmax, [*drawn(0, (2, 3, 5)), some(0, 3, 5)]),
    (masked_attention, [*drawn(0, (2, 4, 7), (2, 5, 7), (2, 5, 6)), some(0, 4, 5)]),
    (document_mask, [torch.tensor([[3, 0, 4, 4], [5, 6, 7, 0]]), 0]),
    (find_leak, [torch.tanh, *drawn(0, (4, 3))]),
]
