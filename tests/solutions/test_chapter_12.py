"""Chapter 12 against torch's own optimiser, loss and clipping, and against slow loops."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name
from torch.testing import assert_close

from solutions.corpus import bigram_table, make_batches
from solutions.decoder import TransformerLM
from solutions.losses import bits_per_character, lm_loss
from solutions.optimiser import adamw_step, clip_gradients, lr_schedule, parameter_groups
from solutions.trainer import Trainer

seeds = st.integers(0, 2**32)
size = st.integers(1, 6)


def drawn(seed: int, *shapes: list[int]) -> list[Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=rng) for shape in shapes]


# Batches


@given(seeds, size, size, st.integers(0, 20))
def test_rows_are_pieces_of_the_text(seed, context, batch, more):
    tokens = torch.arange(100, 100 + context + 1 + more)
    rng = torch.Generator().manual_seed(seed)
    inputs, targets = make_batches(tokens, context, batch, rng)
    assert inputs.shape == targets.shape == (batch, context)
    assert torch.equal(inputs + 1, targets)
    assert torch.equal(inputs, inputs[:, :1] + torch.arange(context))
    assert targets.max() <= tokens[-1]


def test_every_place_is_equally_likely():
    rng = torch.Generator().manual_seed(0)
    inputs, _ = make_batches(torch.arange(13), 3, 20_000, rng)
    counts = inputs[:, 0].bincount()
    assert len(counts) == 10
    assert float((counts / 2000 - 1).abs().max()) < 0.1


# Loss


@given(seeds, size, size, st.integers(1, 9))
def test_the_loss_is_a_mean_of_logarithms(seed, batch, length, vocabulary):
    (logits,) = drawn(seed, [batch, length, vocabulary])
    targets = torch.randint(vocabulary, (batch, length))
    costs = [
        -math.log(logits[b, i].softmax(-1)[targets[b, i]])
        for b in range(batch)
        for i in range(length)
    ]
    assert_close(lm_loss(logits, targets), torch.tensor(sum(costs) / len(costs)))


def test_what_does_not_count_may_be_anything():
    (logits,) = drawn(1, [3, 4, 5])
    targets = torch.randint(5, (3, 4))
    targets[1, 2:] = -100
    changed = logits.clone()
    changed[1, 2:] = 1e3
    assert_close(lm_loss(logits, targets), lm_loss(changed, targets))


def test_a_perfect_code_for_even_letters():
    assert bits_per_character(math.log(2), 10, 10) == pytest.approx(1)
    assert bits_per_character(math.log(256), 10, 40) == pytest.approx(2)


@given(seeds, st.integers(2, 60), st.integers(1, 6), st.floats(0.01, 3))
def test_the_table_is_a_count_of_pairs(seed, length, vocabulary, extra):
    tokens = torch.randint(vocabulary, (length,), generator=torch.Generator().manual_seed(seed))
    table = bigram_table(tokens, vocabulary, extra)
    ids = tokens.tolist()
    for a in range(vocabulary):
        seen = [ids[i + 1] for i in range(length - 1) if ids[i] == a]
        for b in range(vocabulary):
            p = (seen.count(b) + extra) / (len(seen) + vocabulary * extra)
            assert float(table[a, b]) == pytest.approx(math.log(p), rel=1e-4, abs=1e-5)


# Steps


@given(st.integers(0, 50), st.integers(1, 200), st.floats(1e-6, 1), st.floats(0, 1))
def test_the_schedule_meets_its_ends(warmup, more, peak, share):
    total, floor = warmup + more, share * peak
    rates = [lr_schedule(s, warmup, total, peak, floor) for s in range(total + 5)]
    assert rates[warmup] == pytest.approx(peak)
    assert rates[total:] == pytest.approx([floor] * 5)
    assert rates[: warmup + 1] == sorted(rates[: warmup + 1])
    assert rates[warmup:] == sorted(rates[warmup:], reverse=True)


@given(seeds, size, st.floats(1e-4, 0.5), st.floats(0, 2))
def test_steps_are_those_of_torch(seed, width, lr, decay):
    weights, *gradients = drawn(seed, *[[width, 3]] * 6)
    theirs = nn.Parameter(weights.clone())
    optimiser = torch.optim.AdamW([theirs], lr=lr, betas=(0.9, 0.95), weight_decay=decay)
    mean = square = torch.zeros_like(weights)
    for t, gradient in enumerate(gradients, start=1):
        weights, mean, square = adamw_step(weights, gradient, mean, square, t, lr, decay=decay)
        theirs.grad = gradient.clone()
        optimiser.step()
    assert_close(weights, theirs.detach(), rtol=1e-4, atol=1e-5)


def test_each_parameter_is_in_one_group():
    model = TransformerLM(11, d_model=8, layers=2, heads=2, d_ff=6)
    named = dict(model.named_parameters())
    decayed, spared = parameter_groups(named)
    assert sorted(decayed + spared) == sorted(named)
    assert all("norm" in name for name in spared)
    assert {named[name].ndim for name in decayed} == {2}


@given(seeds, st.floats(0.01, 20))
def test_clipping_is_that_of_torch(seed, limit):
    gradients = drawn(seed, [3, 4], [5], [])
    copies = [nn.Parameter(torch.zeros_like(g)) for g in gradients]
    for copy, gradient in zip(copies, gradients, strict=True):
        copy.grad = gradient.clone()
    length = nn.utils.clip_grad_norm_(copies, limit)
    clipped, mine = clip_gradients(gradients, limit)
    assert_close(mine, length)
    for copy, one in zip(copies, clipped, strict=True):
        assert_close(one, copy.grad, rtol=1e-4, atol=1e-6)


# The trainer

PLAN = {"peak": 0.02, "warmup": 3, "total": 12, "floor": 0.001}


def model_and_batches() -> tuple[TransformerLM, list[tuple[Tensor, Tensor]]]:
    torch.manual_seed(0)
    model = TransformerLM(11, d_model=8, layers=1, heads=2, d_ff=6)
    text = torch.randint(11, (200,))
    rng = torch.Generator().manual_seed(1)
    return model, [make_batches(text, 5, 7, rng) for _ in range(12)]


def by_hand(model: nn.Module, batches: list[tuple[Tensor, Tensor]], limit: float) -> list[float]:
    """Train with torch's own pieces, whole batches at a time."""
    two = [p for p in model.parameters() if p.ndim > 1]
    one = [p for p in model.parameters() if p.ndim < 2]
    groups = [{"params": two, "weight_decay": 0.1}, {"params": one, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.95))
    losses = []
    for step, (x, y) in enumerate(batches, start=1):
        loss = F.cross_entropy(model(x)[0].flatten(0, 1), y.flatten())
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), limit)
        for group in optimiser.param_groups:
            group["lr"] = lr_schedule(step, 3, 12, 0.02, 0.001)
        optimiser.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("parts", [1, 3, 7])
@pytest.mark.parametrize("limit", [0.1, 1.0])
def test_training_in_parts_is_training_by_hand(parts, limit):
    model, batches = model_and_batches()
    trainer = Trainer(model, limit=limit, **PLAN)
    losses = [trainer.step(x, y, parts=parts) for x, y in batches]
    other, _ = model_and_batches()
    assert losses == pytest.approx(by_hand(other, batches, limit), rel=1e-3)


def test_an_evaluation_leaves_no_trace():
    model, batches = model_and_batches()
    trainer = Trainer(model, **PLAN)
    trainer.step(*batches[0])
    before = {name: value.clone() for name, value in model.state_dict().items()}
    for mode in (True, False):
        model.train(mode)
        whole = trainer.evaluate(*batches[1])
        assert trainer.evaluate(*batches[1], parts=3) == pytest.approx(whole, rel=1e-5)
        assert model.training == mode
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


TEXT = torch.randint(6, (40,), generator=torch.Generator().manual_seed(2))
TRACED = [
    (lm_loss, (drawn(0, [2, 3, 6])[0], TEXT[:6].view(2, 3))),
    (bigram_table, (TEXT, 6)),
]
