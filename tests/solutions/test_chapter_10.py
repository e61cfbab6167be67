"""Chapter 10 against full attention under a mask, torch's own, transformers, and slow loops."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name
from torch.testing import assert_close
from torch.utils.flop_counter import FlopCounterMode

from solutions.linear import linear_attention
from solutions.masks import causal_mask
from solutions.sparse import layer_windows, receptive_field, sparse_mask
from solutions.windows import rolling_cache_step, window_mask, windowed_attention

seeds = st.integers(0, 2**32)
size = st.integers(1, 4)
tokens = st.integers(1, 20)
width = st.integers(1, 24)
shapes = st.tuples(size, size, tokens, size, size)


def drawn(seed: int, *shapes: list[int]) -> list[Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=rng) for shape in shapes]


def qkv(seed: int, shape: tuple[int, ...]) -> list[Tensor]:
    """Draw queries, keys and values for (B, H, L, K, W)."""
    *leading, k, w = shape
    return drawn(seed, [*leading, k], [*leading, k], [*leading, w])


# Masks


@given(tokens, tokens, width)
def test_a_query_sees_as_many_keys_as_the_window_holds_or_as_there_are(n_q, before, w):
    mask = window_mask(n_q, n_q + before, w)
    expected = [min(w, before + i + 1) for i in range(n_q)]
    assert mask.sum(-1).tolist() == expected
    assert mask.diagonal(before).all()
    assert not mask[~causal_mask(n_q, n_q + before)].any()


@given(tokens, tokens, width)
def test_rows_of_a_long_mask_are_the_mask_of_the_last_queries(n_q, before, w):
    n = n_q + before
    assert torch.equal(window_mask(n_q, n, w), window_mask(n, n, w)[-n_q:])
    assert torch.equal(window_mask(n_q, n, n), causal_mask(n_q, n))


def test_the_window_is_that_of_transformers():
    masking = pytest.importorskip("transformers.masking_utils")
    overlay = masking.sliding_window_overlay(3)
    rows = [[bool(overlay(0, 0, i, j)) and j <= i for j in range(7)] for i in range(7)]
    assert torch.equal(window_mask(7, 7, 3), torch.tensor(rows))


@given(tokens, width, st.integers(0, 5), st.integers(1, 24))
def test_a_sparse_mask_is_what_one_of_three_rules_allows(n, w, sinks, stride):
    mask = sparse_mask(n, w, sinks, stride)
    for i in range(n):
        for j in range(n):
            allowed = i - j < w or j < sinks or (i - j) % stride == 0
            assert mask[i, j] == (allowed and j <= i)


# Layers


@given(st.integers(1, 30), st.integers(1, 9), st.integers(1, 9))
def test_one_layer_in_so_many_is_full(layers, w, every):
    windows = layer_windows(layers, w, every)
    assert [i + 1 for i, one in enumerate(windows) if one is None] == [
        i for i in range(1, layers + 1) if i % every == 0
    ]
    assert windows.count(w) == layers - layers // every


@given(st.lists(st.one_of(st.none(), st.integers(1, 6)), max_size=5), tokens)
def test_the_receptive_field_is_the_product_of_the_masks(windows, n):
    heard = torch.eye(n)
    for w in windows:
        heard = window_mask(n, n, n if w is None else w).float() @ heard
    assert receptive_field(windows, n) == int((heard[-1] > 0).sum())


# Attention in a window


@given(seeds, shapes, width)
def test_blocks_give_what_a_mask_gives(seed, shape, w):
    n = shape[2]
    q, keys, values = qkv(seed, shape)
    expected = F.scaled_dot_product_attention(q, keys, values, window_mask(n, n, w))
    assert_close(windowed_attention(q, keys, values, w), expected, rtol=1e-4, atol=1e-5)


def test_the_work_is_in_proportion_to_length_and_window():
    def flops(n: int, w: int) -> int:
        q, k, v = drawn(0, *[[1, 2, n, 8]] * 3)
        with FlopCounterMode(display=False) as counter:
            windowed_attention(q, k, v, w)
        return counter.get_total_flops()

    assert flops(512, 16) == 2 * flops(256, 16) == flops(256, 32)
    assert flops(512, 16) == 2 * 2 * 2 * 8 * 512 * 2 * 16  # products, 2 FLOPs, heads, K, n, 2w


# The rolling cache


@given(seeds, shapes, st.integers(1, 9))
def test_step_by_step_is_prefill(seed, shape, w):
    b, h, n, k, v = shape
    q, keys, values = qkv(seed, shape)
    cache = torch.full((b, h, w, k), 1e3), torch.full((b, h, w, v), -1e3)
    answers = []
    for i in range(n):
        one = slice(i, i + 1)
        answer, cache = rolling_cache_step(
            q[:, :, one], keys[:, :, one], values[:, :, one], cache, i
        )
        answers.append(answer)
    expected = windowed_attention(q, keys, values, w)
    assert_close(torch.cat(answers, 2), expected, rtol=1e-4, atol=1e-5)
    for j in range(max(0, n - w), n):
        assert torch.equal(cache[0][:, :, j % w], keys[:, :, j])
        assert torch.equal(cache[1][:, :, j % w], values[:, :, j])


def test_slots_may_be_in_any_order():
    q, k, v = drawn(0, *[[2, 3, 1, 4]] * 3)
    keys, values = drawn(1, *[[2, 3, 5, 4]] * 2)
    order = torch.tensor([3, 0, 4, 1, 2])
    first, _ = rolling_cache_step(q, k, v, (keys, values), 12)
    keys[:, :, 12 % 5], values[:, :, 12 % 5] = k[:, :, 0], v[:, :, 0]
    again = F.scaled_dot_product_attention(q, keys[:, :, order], values[:, :, order])
    assert_close(first, again)


# Linear attention


@given(seeds, shapes, st.data())
def test_a_state_goes_on_where_it_stopped(seed, shape, data):
    n = shape[2]
    q, keys, values = qkv(seed, shape)
    cut = data.draw(st.integers(0, n - 1))
    at_once, last = linear_attention(q, keys, values)
    state = None
    if cut:
        first, state = linear_attention(*(x[:, :, :cut] for x in (q, keys, values)))
        assert_close(first, at_once[:, :, :cut])
    then, again = linear_attention(*(x[:, :, cut:] for x in (q, keys, values)), state)
    assert_close(then, at_once[:, :, cut:], rtol=1e-4, atol=1e-5)
    assert_close(again, last, rtol=1e-4, atol=1e-5)


@given(seeds, tokens, size, size)
def test_it_is_a_mean_with_weights_that_a_loop_computes(seed, n, k, v):
    q, keys, values = (x.double() for x in drawn(seed, [n, k], [n, k], [n, v]))
    answers, _ = linear_attention(q[None, None], keys[None, None], values[None, None])
    for i in range(n):
        weights = torch.stack([(F.elu(q[i]) + 1) @ (F.elu(keys[j]) + 1) for j in range(i + 1)])
        assert (weights > 0).all()
        assert_close(answers[0, 0, i], weights / weights.sum() @ values[: i + 1])


TRACED = [
    (window_mask, (5, 9, 3)),
    (windowed_attention, (*qkv(0, (2, 3, 11, 4, 5)), 3)),
    (sparse_mask, (9, 3, 2, 4)),
    (linear_attention, tuple(qkv(1, (2, 3, 7, 4, 5)))),
]
