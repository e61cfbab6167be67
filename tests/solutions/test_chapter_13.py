"""Chapter 13 against loops and counts, and what must hold of whoever writes."""

import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close
from transformers import TopKLogitsWarper, TopPLogitsWarper

from solutions.beams import beam_search
from solutions.decoder import TransformerLM
from solutions.generation import generate, generate_cached
from solutions.sampling import apply_temperature, sample_token, top_k_filter, top_p_filter
from solutions.speculative import speculative_accept

seeds = st.integers(0, 2**32)
size = st.integers(1, 9)


def drawn(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def small(seed: int = 0, vocabulary: int = 7) -> TransformerLM:
    torch.manual_seed(seed)
    model = TransformerLM(vocabulary, d_model=8, layers=2, heads=2, d_ff=12)
    for weights in model.parameters():
        weights.requires_grad_(False).mul_(2.0)
    return model


# From scores to a token


@given(seeds, size, st.floats(0.1, 5.0))
def test_a_temperature_raises_ratios_to_a_power(seed, vocabulary, temperature):
    logits = drawn(seed, vocabulary).double()
    before, after = logits.softmax(-1), apply_temperature(logits, temperature).softmax(-1)
    assert_close(after / after[0], (before / before[0]) ** (1 / temperature))


@given(seeds, size, size)
def test_temperature_0_leaves_what_argmax_says(seed, rows, vocabulary):
    logits = drawn(seed, rows, vocabulary)
    cold = apply_temperature(logits, 0)
    assert torch.equal(cold.isfinite().sum(-1), torch.ones(rows, dtype=torch.int64))
    assert torch.equal(cold.softmax(-1).argmax(-1), logits.argmax(-1))


@given(seeds, size, size, st.integers(1, 12))
def test_top_k_is_that_of_transformers(seed, rows, vocabulary, k):
    logits = drawn(seed, rows, vocabulary)
    assert torch.equal(top_k_filter(logits, k), TopKLogitsWarper(k)(None, logits.clone()))


@given(seeds, size, size, st.floats(0.01, 0.99))
def test_top_p_is_that_of_transformers(seed, rows, vocabulary, p):
    logits = drawn(seed, rows, vocabulary).double()
    assert torch.equal(top_p_filter(logits, p), TopPLogitsWarper(p)(None, logits.clone()))


@given(seeds, size, st.floats(0.0, 1.0))
def test_a_nucleus_is_the_smallest_set(seed, vocabulary, p):
    chances = drawn(seed, vocabulary).double().softmax(-1)
    inside = top_p_filter(chances.log(), p).isfinite()
    assert chances[inside].sum() >= p - 1e-9
    assert chances[inside].sum() - chances[inside].min() < max(p, 1e-12)
    assert inside[chances.argmax()]


@given(seeds, st.integers(2, 9))
def test_each_token_has_a_part_as_long_as_its_probability(seed, vocabulary):
    logits = top_k_filter(drawn(seed, vocabulary).double(), vocabulary - 1)
    grid = (torch.arange(4000, dtype=torch.float64) + 0.5) / 4000
    counts = sample_token(logits.expand(4000, vocabulary), grid).bincount(minlength=vocabulary)
    assert_close(counts / 4000, logits.softmax(-1).float(), atol=1e-3, rtol=0)
    assert counts[logits.isinf()].sum() == 0


# The loop


def test_with_a_cache_and_without_it_is_the_same_text():
    model = small()
    prompt = torch.tensor([[1, 2, 3], [4, 0, 6]])
    whole = generate(model, prompt, steps=9, end=-1)
    text = prompt
    for _ in range(9):
        text = torch.cat([text, model(text)[0][:, -1].argmax(-1, keepdim=True)], 1)
    assert torch.equal(whole, text)


@given(seeds)
def test_padded_rows_write_what_they_write_alone(seed):
    model, uniforms = small(), torch.rand(6, 3, generator=torch.Generator().manual_seed(seed))
    prompt = torch.randint(7, (3, 5), generator=torch.Generator().manual_seed(seed))
    keep = torch.arange(5) >= torch.tensor([[0], [3], [1]])
    together = generate_cached(model, prompt, keep, uniforms, end=2)
    for i in range(3):
        own = prompt[i : i + 1, keep[i]]
        alone = generate_cached(model, own, torch.ones_like(own) > 0, uniforms[:, i : i + 1], 2)
        new = alone[0, own.shape[1] :]
        assert torch.equal(together[i, 5 : 5 + len(new)], new)
        assert (together[i, 5 + len(new) :] == 2).all()


@pytest.mark.parametrize("seed", range(5))
def test_nothing_comes_after_the_end(seed):
    model, prompt = small(seed), torch.tensor([[1, 2], [3, 3], [5, 6]])
    text = generate(model, prompt, steps=12, end=4)
    ended = (text[:, 2:] == 4).cumsum(1) > 0
    assert (text[:, 2:][ended] == 4).all()
    assert text.shape[1] == 14 or not ended[:, :-1].all(1).all()


# Beams


def by_force(model: TransformerLM, prompt: Tensor, steps: int, end: int, alpha: float) -> float:
    """Score every continuation there is."""
    found = -math.inf
    for text in itertools.product(range(5), repeat=steps):
        cut = text.index(end) + 1 if end in text else steps
        whole = torch.cat([prompt, torch.tensor(text[:cut])])
        chances = model(whole[None])[0][0].log_softmax(-1)
        total = sum(float(chances[i - 1, whole[i]]) for i in range(len(prompt), len(whole)))
        found = max(found, total / cut**alpha)
    return found


@pytest.mark.parametrize("alpha", [0.0, 0.7, 1.0])
def test_with_enough_beams_nothing_is_missed(alpha):
    model, prompt = small(3, vocabulary=5), torch.tensor([1, 2])
    text, score = beam_search(model, prompt, 200, 3, end=4, alpha=alpha)
    assert float(score) == pytest.approx(by_force(model, prompt, 3, 4, alpha), abs=1e-4)
    assert 4 not in text[2:-1]


def test_one_beam_is_greedy():
    model, prompt = small(1), torch.tensor([1, 2, 3])
    text, _ = beam_search(model, prompt, 1, 8, end=-1)
    assert torch.equal(text, generate(model, prompt[None], 8, end=-1)[0])


# Speculation


@pytest.mark.parametrize("seed", range(4))
def test_what_is_written_has_the_distribution_of_the_target(seed):
    """Integrate over the first number on a grid, and over the draft exactly."""
    target, guess = (
        drawn(seed, 2, 5).double().softmax(-1),
        drawn(seed + 9, 1, 5).double().softmax(-1),
    )
    grid = (torch.arange(50, dtype=torch.float64) + 0.5) / 50
    written = torch.zeros(5, dtype=torch.float64)
    for token in range(5):
        for first, last in itertools.product(grid, grid):
            numbers = torch.stack([first, last])
            text = speculative_accept(target, guess, torch.tensor([token]), numbers)
            written[text[0]] += guess[0, token] / 2500
    assert_close(written, target[0], atol=0.02, rtol=0)


def test_equal_models_keep_everything():
    rows = drawn(0, 4, 6).softmax(-1)
    draft = torch.tensor([1, 5, 2])
    text = speculative_accept(rows, rows[:3], draft, torch.full((4,), 0.9999))
    assert torch.equal(text[:3], draft)
    assert len(text) == 4


MODEL, PROMPT = small(), torch.tensor([[1, 2, 3, 4], [5, 0, 6, 1]])
TRACED = [
    (apply_temperature, (drawn(0, 3, 4, 7), 0.0)),
    (top_k_filter, (drawn(0, 3, 4, 7), 2)),
    (top_p_filter, (drawn(0, 3, 4, 7), 0.6)),
    (sample_token, (drawn(0, 3, 4, 7), torch.full((3, 4), 0.5))),
    (generate, (MODEL, PROMPT, 3, -1)),
    (generate_cached, (MODEL, PROMPT, PROMPT >= 0, torch.full((3, 2), 0.5), -1)),
    (beam_search, (MODEL, PROMPT[0], 1, 3, -1)),
    (
        speculative_accept,
        (
            drawn(1, 4, 7).softmax(-1),
            drawn(2, 3, 7).softmax(-1),
            torch.tensor([1, 2, 3]),
            torch.full((4,), 0.99),
        ),
    ),
]
