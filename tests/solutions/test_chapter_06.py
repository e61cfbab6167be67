"""Chapter 06: what must hold of positions, against complex numbers and torch's attention."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name
from torch.testing import assert_close

from solutions.alibi import alibi_bias, alibi_slopes
from solutions.masks import causal_mask
from solutions.positions import (
    LearnedPositions,
    position_angles,
    shift_matrix,
    sinusoidal_encoding,
)
from solutions.rotary import apply_rope, interleaved_to_half_split, rotary_attention

seeds = st.integers(0, 2**32)
size = st.integers(1, 6)


def drawn(seed: int, *shapes: list[int]) -> list[Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=rng, dtype=torch.float64) for shape in shapes]


def half_split_rope(x: Tensor, angles: Tensor) -> Tensor:
    """The layout of Hugging Face's Llama."""
    first, second = x.chunk(2, dim=-1)
    quarter = torch.cat([-second, first], dim=-1)
    cos, sin = (torch.cat([t, t], dim=-1) for t in (angles.cos(), angles.sin()))
    return x * cos + quarter * sin


def test_the_first_pair_turns_by_one_and_the_last_nearly_by_one_over_the_base():
    speeds = position_angles(torch.tensor(1), 512)
    assert speeds[0] == 1
    assert 0.0001 < speeds[-1] < 0.000104
    assert_close(speeds[1:] / speeds[:-1], (speeds[1] / speeds[0]).expand(255))


@given(st.integers(0, 2000), st.integers(-2000, 2000), size)
def test_a_step_is_one_matrix_from_every_position(position, step, hands):
    width = 2 * hands
    here, there, by = (
        position_angles(torch.tensor(p, dtype=torch.float64), width)
        for p in (position, position + step, step)
    )
    moved = sinusoidal_encoding(here) @ shift_matrix(by.double())
    assert_close(moved, sinusoidal_encoding(there), rtol=0, atol=1e-2)


@given(seeds, size)
def test_steps_add_up_and_go_back(seed, hands):
    one, other = drawn(seed, [hands], [hands])
    assert_close(shift_matrix(one) @ shift_matrix(other), shift_matrix(one + other))
    assert_close(shift_matrix(one) @ shift_matrix(one).T, torch.eye(2 * hands).double())


@given(seeds, size, size)
def test_turning_is_a_product_of_complex_numbers(seed, length, pairs):
    x, angles = drawn(seed, [length, 2 * pairs], [length, pairs])
    number = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
    expected = torch.view_as_real(number * torch.exp(1j * angles)).flatten(-2)
    assert_close(apply_rope(x, angles), expected)
    assert_close(apply_rope(x, angles).norm(dim=-1), x.norm(dim=-1))


@given(seeds, size, st.integers(0, 50), st.integers(0, 50), st.integers(0, 500))
def test_a_score_depends_on_the_distance_alone(seed, pairs, i, j, moved):
    q, k, speeds = drawn(seed, [2 * pairs], [2 * pairs], [pairs])

    def score(at: int, other: int) -> Tensor:
        turned = (apply_rope(x[None], p * speeds[None])[0] for x, p in ((q, at), (k, other)))
        return torch.dot(*turned)

    assert_close(score(i, j), score(i + moved, j + moved), rtol=0, atol=1e-8)


@given(seeds, size, size, size)
def test_both_layouts_give_the_same_scores(seed, length, heads, pairs):
    width = heads * 2 * pairs
    x, angles, w_q, w_k = drawn(seed, [length, width], [length, pairs], *[[width, width]] * 2)

    def scores(turn, *weights: Tensor) -> Tensor:
        q, k = ((x @ w.T).unflatten(-1, (heads, -1)).transpose(0, 1) for w in weights)
        return turn(q, angles) @ turn(k, angles).mT

    reordered = [interleaved_to_half_split(w, heads) for w in (w_q, w_k)]
    assert_close(scores(apply_rope, w_q, w_k), scores(half_split_rope, *reordered))


@given(seeds, st.lists(st.integers(1, 4), min_size=1, max_size=5), size, size)
def test_in_pieces_and_at_once_agree(seed, lengths, heads, pairs):
    total = sum(lengths)
    q, k, v = drawn(seed, *[[2, heads, total, 2 * pairs]] * 3)
    angles = position_angles(torch.arange(total + 3), 2 * pairs).double()
    at_once, whole = rotary_attention(q, k, v, angles)
    pieces, cache = [], None
    for piece in zip(*(x.split(lengths, dim=2) for x in (q, k, v)), strict=True):
        out, cache = rotary_attention(*piece, angles, cache)
        pieces.append(out)
    assert_close(torch.cat(pieces, dim=2), at_once)
    assert_close(cache, whole)
    turned = (apply_rope(x, angles[:total]) for x in (q, k))
    assert_close(at_once, F.scaled_dot_product_attention(*turned, v, is_causal=True))


@pytest.mark.parametrize("power", range(8))
def test_slopes_of_a_power_of_two_are_geometric(power):
    slopes = alibi_slopes(2**power)
    assert slopes[-1] == pytest.approx(2**-8)
    assert slopes[0] == pytest.approx(2 ** (-8 / 2**power))
    ratios = [b / a for a, b in pairwise(slopes)]
    assert ratios == pytest.approx([slopes[0]] * len(ratios))


@given(st.integers(1, 200))
def test_slopes_are_all_different_and_begin_with_those_of_the_smaller_power(heads):
    slopes, smaller = alibi_slopes(heads), 2 ** int(math.log2(heads))
    assert len(set(slopes)) == heads
    assert slopes[:smaller] == alibi_slopes(smaller)
    assert set(slopes) <= set(alibi_slopes(2 * smaller))


def test_slopes_of_twelve_heads_as_the_chapter_tells():
    extra = [2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]
    assert alibi_slopes(12) == pytest.approx([2.0**-i for i in range(1, 9)] + extra)


@given(seeds, size, size, size)
def test_the_bias_hides_the_future_and_its_rows_are_those_of_the_whole(seed, heads, n_q, more):
    (slopes,) = drawn(seed, [heads])
    n_k = n_q + more
    bias = alibi_bias(slopes.abs(), n_q, n_k)
    hidden = ~causal_mask(n_q, n_k)
    assert bias.isinf().eq(hidden).all()
    assert_close(bias, alibi_bias(slopes.abs(), n_k, n_k)[:, -n_q:])
    assert bias[:, ~hidden].le(0).all()


def test_a_table_gives_each_place_its_row():
    add = LearnedPositions(9, 3)
    x = torch.randn(2, 4, 3)
    assert_close(add(x, start=5) - x, add.table.weight[5:].expand(2, 4, 3))


ANGLES = position_angles(torch.arange(9), 6)
Q, K, V = torch.randn(3, 2, 5, 4, 6)
TRACED = [
    (position_angles, (torch.arange(5), 6)),
    (sinusoidal_encoding, (ANGLES,)),
    (shift_matrix, (ANGLES[1],)),
    (LearnedPositions(9, 7).forward, (torch.randn(2, 3, 7), 4)),
    (apply_rope, (Q, ANGLES[:4])),
    (interleaved_to_half_split, (torch.randn(12, 12), 2)),
    (rotary_attention, (Q, K, V, ANGLES)),
    (alibi_bias, (torch.rand(3), 4, 5)),
]
