"""Chapter 09 against loops over tokens, and what must hold of routers."""

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name
from torch.testing import assert_close

from solutions.experts import MixtureOfExperts, expert_parameters
from solutions.routing import (
    balanced_hash,
    dispatch_slots,
    expert_capacity,
    load_balancing_loss,
    noisy_logits,
    top_k_route,
)

seeds = st.integers(0, 2**32)
size = st.integers(1, 6)


def drawn(seed: int, *shapes: list[int]) -> list[Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=rng) for shape in shapes]


def choices(seed: int, tokens: int, experts: int, k: int) -> Tensor:
    (scores,) = drawn(seed, [tokens, experts])
    return scores.argsort(-1)[:, :k]


# The router


@given(seeds, size, st.integers(1, 8), st.data())
def test_softmax_first_or_last_is_the_same(seed, tokens, experts, data):
    k = data.draw(st.integers(1, experts))
    (logits,) = drawn(seed, [tokens, experts])
    weights, chosen = top_k_route(logits, k)
    best = logits.topk(k)
    assert torch.equal(chosen, best.indices)
    assert_close(weights, best.values.softmax(-1))
    assert_close(weights.sum(-1), torch.ones(tokens))


def test_with_one_expert_no_gradient_reaches_the_scores():
    logits = drawn(0, [5, 4])[0].requires_grad_()
    for k, some in ((1, False), (2, True)):
        weights, _ = top_k_route(logits, k)
        (grad,) = torch.autograd.grad((weights * torch.arange(5)[:, None]).square().sum(), logits)
        assert bool((grad.abs() > 1e-6).any()) == some


@given(seeds, size, size, size)
def test_the_deviation_of_noisy_scores_is_softplus(seed, tokens, width, experts):
    x, w_router, w_noise = drawn(seed, [tokens, width], [experts, width], [experts, width])
    zero, one = torch.zeros(tokens, experts), torch.ones(tokens, experts)
    clean = noisy_logits(x, w_router, w_noise, one, training=False)
    assert_close(clean, x @ w_router.T)
    assert_close(noisy_logits(x, w_router, w_noise, zero, training=True), clean)
    up = noisy_logits(x, w_router, w_noise, one, training=True)
    down = noisy_logits(x, w_router, w_noise, -one, training=True)
    assert_close((up - down) / 2, (1 + (x @ w_noise.T).exp()).log(), rtol=1e-4, atol=1e-5)
    assert_close((up + down) / 2, clean, rtol=1e-4, atol=1e-5)


# Balance


@given(seeds, st.integers(1, 5), st.integers(1, 6), st.data())
def test_balanced_choices_cost_one_whatever_the_scores_are(seed, rounds, experts, data):
    k = data.draw(st.integers(1, experts))
    tokens = torch.arange(rounds * experts)
    chosen = (tokens[:, None] + torch.arange(k)) % experts
    (logits,) = drawn(seed, [len(tokens), experts])
    assert_close(load_balancing_loss(logits, chosen), torch.tensor(1.0))


@pytest.mark.parametrize("experts", [2, 5, 9])
def test_collapse_costs_as_many_as_there_are_experts(experts):
    logits = torch.zeros(7, experts)
    logits[:, 1] = 60
    loss = load_balancing_loss(logits, torch.ones(7, 1, dtype=torch.int64))
    assert_close(loss, torch.tensor(float(experts)))


def test_the_gradient_is_the_one_in_the_chapter():
    logits = drawn(1, [11, 5])[0].requires_grad_()
    chosen = choices(2, 11, 5, 2)
    load_balancing_loss(logits, chosen).backward()
    p = logits.detach().softmax(-1)
    share = F.one_hot(chosen, 5).float().mean((0, 1))
    assert_close(logits.grad, 5 / 11 * p * (share - p @ share[:, None]))


# Places


@given(
    st.integers(0, 5000), st.integers(1, 300), st.integers(1, 8), st.sampled_from([0.5, 1, 1.25])
)
def test_capacity_is_exact(tokens, experts, k, factor):
    exact = math.ceil(Fraction(tokens * k, experts) * Fraction(factor))
    assert expert_capacity(tokens, experts, k, factor) == exact


@given(seeds, size, size, st.integers(1, 9), st.data())
def test_places_are_given_in_order(seed, tokens, experts, capacity, data):
    k = data.draw(st.integers(1, experts))
    chosen = choices(seed, tokens, experts, k)
    taken = [0] * experts
    expected = torch.full((tokens, k), -1)
    for choice in range(k):
        for token in range(tokens):
            expert = int(chosen[token, choice])
            if taken[expert] < capacity:
                expected[token, choice] = taken[expert]
                taken[expert] += 1
    assert torch.equal(dispatch_slots(chosen, experts, capacity), expected)


@given(seeds, st.integers(1, 40), st.integers(1, 6))
def test_a_hash_is_never_much_worse_than_the_best(seed, words, experts):
    rng = torch.Generator().manual_seed(seed)
    counts = torch.randperm(500, generator=rng)[:words] + 1
    table = balanced_hash(counts, experts)
    load = torch.zeros(experts, dtype=torch.int64).index_add(0, table, counts)
    best = max(counts.max(), counts.sum() / experts)
    assert load.max() <= 4 / 3 * best + counts.float().mean()
    assert load.sum() == counts.sum()


# The layer


def by_hand(layer: MixtureOfExperts, x: Tensor) -> Tensor:
    """Go through the tokens one by one."""
    tokens = x.flatten(0, 1)
    weights, chosen = top_k_route(tokens @ layer.router.weight.T, layer.k)
    count, places = len(layer.w_up), len(tokens)
    if layer.factor is not None:
        places = expert_capacity(places, count, layer.k, layer.factor)
    slots = dispatch_slots(chosen, count, places)
    out = torch.zeros_like(tokens)
    for t, choice in (slots >= 0).nonzero().tolist():
        i = chosen[t, choice]
        inner = F.silu(layer.w_gate[i] @ tokens[t]) * (layer.w_up[i] @ tokens[t])
        out[t] += weights[t, choice] * (layer.w_down[i] @ inner)
    return out.view_as(x)


@given(
    seeds, st.tuples(size, size), st.integers(1, 5), st.sampled_from([None, 0.5, 2.0]), st.data()
)
def test_the_layer_is_a_loop_over_tokens(seed, lengths, experts, factor, data):
    torch.manual_seed(seed)
    layer = MixtureOfExperts(6, 7, experts, data.draw(st.integers(1, experts)), factor)
    (x,) = drawn(seed, [*lengths, 6])
    with torch.no_grad():
        assert_close(layer(x), by_hand(layer, x), rtol=1e-4, atol=1e-5)


def test_only_chosen_experts_get_a_gradient():
    layer = MixtureOfExperts(6, 7, experts=5, k=2)
    x = drawn(3, [1, 1, 6])[0]
    layer(x).sum().backward()
    _, chosen = top_k_route(layer.router(x[0]), 2)
    moved = layer.w_down.grad.abs().sum((1, 2)) > 0
    assert moved.nonzero().flatten().tolist() == sorted(chosen[0].tolist())


@given(size, size, st.integers(2, 8))
def test_the_count_is_that_of_the_module(d_model, d_ff, experts):
    layer = MixtureOfExperts(d_model, d_ff, experts, k=1)
    total, active = expert_parameters(d_model, d_ff, experts, k=1)
    assert total == sum(parameter.numel() for parameter in layer.parameters())
    resting = sum(w[1:].numel() for w in (layer.w_gate, layer.w_up, layer.w_down))
    assert active == total - resting


def test_published_configurations():
    layers = [expert_parameters(4096, 14336, 8, 2), expert_parameters(2048, 1024, 64, 8)]
    assert [round(32 * n / 1e9, 1) for n in layers[0]] == [45.1, 11.3]
    assert [round(16 * n / 1e9, 1) for n in layers[1]] == [6.4, 0.8]


X, W_ROUTER, W_NOISE, NOISE = drawn(0, [3, 4, 5], [6, 5], [6, 5], [3, 4, 6])
CHOSEN = choices(1, 7, 6, 2)
torch.manual_seed(0)
TRACED = [
    (top_k_route, (NOISE, 2)),
    (noisy_logits, (X, W_ROUTER, W_NOISE, NOISE, True)),
    (load_balancing_loss, (drawn(2, [7, 6])[0], CHOSEN)),
    (dispatch_slots, (CHOSEN, 6, 2)),
    (balanced_hash, (torch.tensor([5, 9, 2, 7]), 3)),
    (MixtureOfExperts(5, 7, 6, 2, 0.75).forward, (X,)),
]
