"""Chapter 04 against PyTorch's own module, and what must hold of heads."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from solutions.heads import (
    MultiHeadAttention,
    attention_parameters,
    cross_attention,
    head_contributions,
    merge_heads,
    multi_head_attention,
    split_heads,
)
from solutions.masks import causal_mask, padding_mask

NAMES = ("w_q", "w_k", "w_v", "w_o")
seeds = st.integers(0, 2**32)
size = st.integers(1, 6)


def drawn(seed: int, *shapes: list[int]) -> list[Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=rng) for shape in shapes]


def a_layer(seed: int, counts: tuple[int, ...]) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
    batch, n_q, n_k, heads, width = counts
    d = heads * width
    x, memory, *weights = drawn(seed, [batch, n_q, d], [batch, n_k, d], *[[d, d]] * 4)
    return x, memory, tuple(weights)


def torchs(weights: tuple[Tensor, ...], heads: int) -> nn.MultiheadAttention:
    module = nn.MultiheadAttention(len(weights[0]), heads, bias=False, batch_first=True)
    state = {"in_proj_weight": torch.cat(weights[:3]), "out_proj.weight": weights[3]}
    module.load_state_dict(state)
    return module


five_sizes = st.tuples(size, size, size, size, size)


@given(seeds, five_sizes, st.booleans())
def test_multi_head_attention_is_torchs(seed, counts, causal):
    x, memory, weights = a_layer(seed, counts)
    mask = causal_mask(counts[1], counts[2]) if causal else None
    if mask is not None:
        mask[:, 0] = True  # torch's module gives NaN to those who see nothing
    hide = None if mask is None else ~mask
    expected, _ = torchs(weights, counts[3])(x, memory, memory, attn_mask=hide)
    answer = multi_head_attention(x, memory, weights, counts[3], mask)
    assert_close(answer, expected, rtol=1e-4, atol=1e-4)


@given(seeds, five_sizes)
def test_the_module_is_the_function(seed, counts):
    x, memory, weights = a_layer(seed, counts)
    module = MultiHeadAttention(x.shape[-1], counts[3])
    names = (f"{name}.weight" for name in NAMES)
    module.load_state_dict(dict(zip(names, weights, strict=True)))
    assert_close(module(x, memory), multi_head_attention(x, memory, weights, counts[3]))
    assert_close(module(x), multi_head_attention(x, x, weights, counts[3]))


@given(seeds, five_sizes)
def test_padding_is_as_if_it_were_cut_off(seed, counts):
    x, memory, weights = a_layer(seed, counts)
    batch, _, n_k, heads, _ = counts
    rng = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, n_k + 1, (batch,), generator=rng)
    together = cross_attention(x, memory, lengths, weights, heads)
    for i, length in enumerate(lengths.tolist()):
        alone = multi_head_attention(x[[i]], memory[[i], :length], weights, heads)
        assert_close(together[[i]], alone, rtol=1e-4, atol=1e-4)


def test_an_empty_source_gives_zeros():
    x, memory, weights = a_layer(0, (2, 3, 4, 2, 5))
    answer = cross_attention(x, memory, torch.tensor([0, 4]), weights, 2)
    assert answer[0].eq(0).all()
    assert answer[1].ne(0).all()


@given(seeds, size, size, size, size)
def test_merging_undoes_splitting(seed, batch, length, heads, width):
    (x,) = drawn(seed, [batch, length, heads * width])
    pieces = split_heads(x, heads)
    assert pieces.shape == (batch, heads, length, width)
    assert torch.equal(merge_heads(pieces), x)
    assert torch.equal(pieces[:, 0], x[..., :width])
    assert torch.equal(pieces[:, -1], x[..., -width:])


@given(seeds, size, size, size, size)
def test_contributions_add_up_to_the_output(seed, batch, length, heads, width):
    answers, w_o = drawn(seed, [batch, heads, length, width], [heads * width] * 2)
    parts = head_contributions(answers, w_o)
    assert_close(parts.sum(1), merge_heads(answers) @ w_o.T, rtol=1e-4, atol=1e-4)
    silenced = answers.clone()
    silenced[:, 0] = 0
    rest = merge_heads(silenced) @ w_o.T
    assert_close(parts[:, 1:].sum(1), rest, rtol=1e-4, atol=1e-4)


@given(seeds, st.integers(2, 6), size)
def test_a_later_token_changes_no_earlier_output(seed, length, heads):
    x, _, weights = a_layer(seed, (1, length, 1, heads, 3))
    moved = x.clone()
    moved[:, -1] += 1
    mask = causal_mask(length, length)
    before, after = (multi_head_attention(y, y, weights, heads, mask) for y in (x, moved))
    assert_close(before[:, :-1], after[:, :-1])
    assert not torch.equal(before[:, -1], after[:, -1])


@pytest.mark.parametrize("heads", [1, 2, 4, 8])
def test_the_count_is_that_of_the_modules(heads):
    for module in (MultiHeadAttention(16, heads), nn.MultiheadAttention(16, heads, bias=False)):
        weights = sum(parameter.numel() for parameter in module.parameters())
        assert attention_parameters(16, heads) == weights


def test_the_count_of_large_models_in_the_chapter():
    assert attention_parameters(1024, 128, 128, 128) == 4 * 1024 * 128 * 128
    assert attention_parameters(20, 2, d_k=3) == 2 * 20 * 2 * 3 + 2 * 20 * 2 * 10


def _traced_arguments():
    x, memory, weights = a_layer(0, (2, 3, 4, 5, 6))
    mask = padding_mask(torch.tensor([4, 1]), 4)
    return x, memory, weights, mask


X, MEMORY, WEIGHTS, MASK = _traced_arguments()
ANSWERS, W_O = drawn(0, [2, 5, 3, 6], [30, 30])
TRACED = [
    (split_heads, (X, 5)),
    (merge_heads, (ANSWERS,)),
    (multi_head_attention, (X, MEMORY, WEIGHTS, 5, MASK)),
    (MultiHeadAttention(30, 5).forward, (X, MEMORY, MASK)),
    (cross_attention, (X, MEMORY, torch.tensor([4, 1]), WEIGHTS, 5)),
    (head_contributions, (ANSWERS, W_O)),
]
