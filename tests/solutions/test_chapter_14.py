"""Chapter 14 against torch's own, loops, and what must hold of pictures and decisions."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name
from torch.testing import assert_close

from solutions.decisions import (
    DecisionTransformer,
    interleave_tokens,
    remaining_returns,
    returns_to_go,
)
from solutions.patches import add_grid_positions, patchify
from solutions.vision import ViT

seeds = st.integers(0, 2**32)
size = st.integers(1, 5)


def drawn(seed: int, *shapes: list[int]) -> list[Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=rng) for shape in shapes]


# Patches


@given(seeds, st.tuples(size, size), size, size, size)
def test_patches_are_those_of_torch(seed, first, rows, columns, side):
    batch, channels = first
    (pictures,) = drawn(seed, [batch, channels, rows * side, columns * side])
    unfolded = F.unfold(pictures, side, stride=side)
    assert torch.equal(patchify(pictures, side), unfolded.mT)
    folded = F.fold(patchify(pictures, side).mT, pictures.shape[2:], side, stride=side)
    assert torch.equal(folded, pictures)


@given(seeds, size, size, size, st.integers(1, 4))
def test_a_projection_of_patches_is_a_convolution(seed, channels, rows, columns, side):
    shapes = [2, channels, rows * side, columns * side], [7, channels, side, side], [7]
    pictures, kernel, bias = drawn(seed, *shapes)
    maps = F.conv2d(pictures, kernel, bias, stride=side)
    tokens = F.linear(patchify(pictures, side), kernel.flatten(1), bias)
    assert_close(tokens, maps.flatten(2).mT, rtol=1e-4, atol=1e-5)


@given(size, size, st.integers(1, 4))
def test_the_code_of_a_grid_is_two_codes(rows, columns, quarter):
    width = 4 * quarter
    code = add_grid_positions(torch.zeros(2, rows * columns, width), columns)
    assert torch.equal(code[0], code[1])
    for i in range(rows):
        for j in range(columns):
            for half, place in ((0, i), (1, j)):
                for k in range(quarter):
                    angle = place / 10_000 ** (2 * k / (width // 2))
                    found = code[0, i * columns + j, half * width // 2 + 2 * k :][:2]
                    wanted = torch.tensor([math.sin(angle), math.cos(angle)])
                    assert_close(found, wanted, rtol=1e-4, atol=1e-5)


# Pictures


def vit(seed: int) -> ViT:
    torch.manual_seed(seed)
    model = ViT((2, 4, 6), 2, 5, d_model=8, layers=2, heads=2)
    torch.nn.init.normal_(model.positions)
    return model


@given(seeds, st.permutations(range(6)))
def test_without_positions_a_picture_is_a_heap_of_patches(seed, order):
    model = vit(seed)
    (pictures,) = drawn(seed, [3, 2, 4, 6])
    shuffled = F.fold(patchify(pictures, 2)[:, order].mT, (4, 6), 2, stride=2)
    with torch.no_grad():
        model.positions.zero_()
        assert_close(model(shuffled), model(pictures), rtol=1e-4, atol=1e-4)


@given(seeds)
def test_positions_that_move_with_their_patches_change_nothing(seed):
    model = vit(seed)
    (pictures,) = drawn(seed, [3, 2, 4, 6])
    order = [3, 1, 5, 0, 2, 4]
    with torch.no_grad():
        before = model(pictures)
        model.positions[1:] = model.positions[1:][order]
        shuffled = F.fold(patchify(pictures, 2)[:, order].mT, (4, 6), 2, stride=2)
        assert_close(model(shuffled), before, rtol=1e-4, atol=1e-4)


@given(seeds)
def test_pictures_of_a_batch_do_not_hear_of_each_other(seed):
    model = vit(seed)
    (pictures,) = drawn(seed, [3, 2, 4, 6])
    with torch.no_grad():
        alone = torch.cat([model(picture[None]) for picture in pictures])
        assert_close(model(pictures), alone, rtol=1e-4, atol=1e-5)


# Returns


@given(seeds, size, st.integers(1, 9))
def test_returns_to_go_are_sums_over_what_follows(seed, batch, steps):
    rewards, coin = drawn(seed, [batch, steps], [batch, steps])
    last = coin > 0.5
    expected = torch.zeros_like(rewards)
    for i in range(batch):
        for t in range(steps):
            for later in range(t, steps):
                expected[i, t] += rewards[i, later]
                if last[i, later]:
                    break
    assert_close(returns_to_go(rewards, last), expected, rtol=1e-4, atol=1e-5)


@given(seeds, size, st.integers(1, 9))
def test_a_target_that_is_the_return_leaves_the_returns_to_go(seed, batch, steps):
    (rewards,) = drawn(seed, [batch, steps])
    never = torch.zeros(batch, steps, dtype=torch.bool)
    to_go = returns_to_go(rewards, never)
    left = remaining_returns(to_go[:, 0], rewards)
    assert_close(left[:, :-1], to_go, rtol=1e-4, atol=1e-5)
    assert_close(left[:, -1], torch.zeros(batch), rtol=0, atol=1e-5)


@given(seeds, st.integers(1, 5), size, size, size)
def test_each_kind_lies_where_it_is_looked_for(seed, count, batch, steps, width):
    kinds = drawn(seed, *[[batch, steps, width]] * count)
    tokens = interleave_tokens(*kinds)
    assert tokens.shape == (batch, count * steps, width)
    for i, kind in enumerate(kinds):
        assert torch.equal(tokens[:, i::count], kind)


# Decisions


def decider() -> DecisionTransformer:
    torch.manual_seed(0)
    return DecisionTransformer(3, 4, 8, layers=2, heads=2, steps=9)


def episode(seed: int, batch: int = 2, length: int = 5) -> list[Tensor]:
    returns, states, coin = drawn(seed, [batch, length], [batch, length, 3], [batch, length, 4])
    return [returns, states, coin.argmax(-1), torch.arange(length).expand(batch, -1)]


@pytest.mark.parametrize(("changed", "first"), [(0, 2), (1, 2), (2, 3), (3, 2)])
def test_a_step_hears_of_its_return_and_state_and_of_earlier_actions(changed, first):
    model, given_ = decider(), episode(1)
    other = [tensor.clone() for tensor in given_]
    other[changed][:, 2] = 3 - other[changed][:, 2] if changed >= 2 else 5.0
    if changed == 3:
        other[3][:, 2] = 7
    with torch.no_grad():
        moved = (model(*other) - model(*given_)).abs().amax((0, 2))
    assert (moved[:first] < 1e-6).all()
    assert (moved[first:] > 1e-6).all()


@given(st.integers(1, 4))
def test_the_beginning_of_an_episode_gets_the_same_scores_alone(length):
    model, whole = decider(), episode(2)
    with torch.no_grad():
        part = model(*(tensor[:, :length] for tensor in whole))
        assert_close(part, model(*whole)[:, :length], rtol=1e-4, atol=1e-5)


LAST = torch.tensor([[False, True, False], [False, False, False]])
TRACED = [
    (patchify, (drawn(0, [2, 3, 4, 6])[0], 2)),
    (add_grid_positions, (drawn(0, [2, 6, 8])[0], 3)),
    (vit(0).forward, (drawn(0, [3, 2, 4, 6])[0],)),
    (returns_to_go, (drawn(0, [2, 3])[0], LAST)),
    (remaining_returns, (drawn(0, [2])[0], drawn(1, [2, 4])[0])),
    (interleave_tokens, tuple(drawn(0, [2, 4, 5], [2, 4, 5]))),
    (decider().forward, tuple(episode(3))),
]
