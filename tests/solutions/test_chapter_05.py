"""Chapter 05 against PyTorch's own attention, and against one pass over all tokens."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name
from torch.testing import assert_close

from solutions.cache import cached_attention, extend_cache, kv_cache_bytes
from solutions.grouped import GroupedQueryAttention, grouped_query_attention, pool_kv_heads
from solutions.heads import MultiHeadAttention

seeds = st.integers(0, 2**32)
size = st.integers(1, 5)
chunks = st.lists(st.integers(1, 4), min_size=1, max_size=5)


def drawn(seed: int, *shapes: tuple[int, ...]) -> list[Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=rng, dtype=torch.float64) for shape in shapes]


def layer(seed: int, heads: int, kv_heads: int, width: int) -> GroupedQueryAttention:
    made = GroupedQueryAttention(heads * width, heads, kv_heads).double()
    for weight, values in zip(
        made.parameters(), drawn(seed, *(tuple(w.shape) for w in made.parameters())), strict=True
    ):
        weight.data.copy_(values)
    return made


# The cache


@given(seeds, size, size, size, chunks)
def test_a_cache_that_grows_in_chunks_holds_everything_in_order(seed, b, g, width, lengths):
    k, v = drawn(seed, *[(b, g, sum(lengths), width)] * 2)
    cache = None
    for new_k, new_v in zip(k.split(lengths, 2), v.split(lengths, 2), strict=True):
        cache = extend_cache(cache, new_k, new_v)
    assert torch.equal(cache[0], k)
    assert torch.equal(cache[1], v)


def test_a_fork_leaves_the_shared_prefix_alone():
    k, v, more = drawn(0, *[(2, 3, 4, 5)] * 3)
    prefix = extend_cache(None, k, v)
    before = [part.clone() for part in prefix]
    one, other = extend_cache(prefix, more, more), extend_cache(prefix, -more, -more)
    assert [part.shape[2] for part in (*one, *other)] == [8] * 4
    assert all(map(torch.equal, prefix, before))


@given(seeds, size, size, size, chunks)
def test_chunks_of_any_size_give_what_one_pass_gives(seed, b, h, width, lengths):
    q, k, v = drawn(seed, *[(b, h, sum(lengths), width)] * 3)
    cache, answers = None, []
    for piece in zip(*(t.split(lengths, 2) for t in (q, k, v)), strict=True):
        answer, cache = cached_attention(*piece, cache)
        answers.append(answer)
    whole = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert_close(torch.cat(answers, 2), whole)


@given(st.tuples(size, size, size, size, size), st.sampled_from([torch.float32, torch.bfloat16]))
def test_bytes_are_those_of_real_tensors(numbers, kind):
    layers, g, width, tokens, batch = numbers
    cache = [torch.empty(batch, g, tokens, width, dtype=kind) for _ in range(2 * layers)]
    counted = kv_cache_bytes(layers, g, width, tokens, batch=batch, bytes_per_number=kind.itemsize)
    assert counted == sum(part.nbytes for part in cache)


@pytest.mark.parametrize(
    ("layers", "kv_heads", "kib"), [(32, 32, 512), (32, 8, 128), (80, 8, 320), (80, 64, 2560)]
)
def test_bytes_of_published_models_per_token(layers, kv_heads, kib):
    assert kv_cache_bytes(layers, kv_heads, 128, 1) == kib * 1024


# Shared heads


@given(seeds, st.tuples(size, size, size, size, size, size), st.booleans())
def test_grouped_attention_is_torchs(seed, numbers, masked):
    b, g, share, length, tokens, width = numbers
    shapes = (b, g * share, length, width), (b, g, tokens, width), (b, g, tokens, width)
    q, k, v, noise = drawn(seed, *shapes, (b, g * share, length, tokens))
    mask = (noise > 0).index_fill(-1, torch.tensor([0]), value=True) if masked else None
    torchs = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
    assert_close(grouped_query_attention(q, k, v, mask), torchs)


@given(seeds, st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), chunks)
def test_a_layer_in_chunks_is_the_layer_in_one_pass(seed, g, share, width, lengths):
    attend = layer(seed, g * share, g, width)
    (x,) = drawn(seed + 1, (2, sum(lengths), g * share * width))
    whole, all_at_once = attend(x)
    cache, answers = None, []
    for piece in x.split(lengths, 1):
        answer, cache = attend(piece, cache)
        answers.append(answer)
    assert_close(torch.cat(answers, 1), whole)
    assert_close(cache, all_at_once)


def test_a_layer_with_a_key_for_each_query_is_multi_head_attention():
    attend, plain = layer(0, 3, 3, 4), MultiHeadAttention(12, 3).double()
    plain.load_state_dict(attend.state_dict())
    (x,) = drawn(1, (2, 5, 12))
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    assert_close(attend(x)[0], plain(x, mask=mask))


# From many heads to few


@given(seeds, st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))
def test_pooling_equal_heads_changes_no_answer(seed, g, share, width):
    heads, d = g * share, g * share * width
    few = layer(seed, heads, g, width)
    many = layer(seed, heads, heads, width)
    state = few.state_dict()
    for name in ("w_k.weight", "w_v.weight"):
        each = state[name].unflatten(0, (g, width)).repeat_interleave(share, 0).flatten(0, 1)
        assert_close(pool_kv_heads(each, heads, g), state[name])
        state[name] = each
    many.load_state_dict(state)
    (x,) = drawn(seed + 1, (2, 4, d))
    assert_close(many(x)[0], few(x)[0])


@given(seeds, st.integers(1, 3), st.integers(2, 3), st.integers(1, 3))
def test_no_common_matrix_is_nearer_to_a_group_than_its_mean(seed, g, share, width):
    heads, d = g * share, g * share * width
    w, away = drawn(seed, (d, d), (g * width, d))
    groups = w.reshape(g, share, width, d)

    def distance(shared: Tensor) -> float:
        return float((groups - shared.reshape(g, 1, width, d)).square().sum())

    mean = pool_kv_heads(w, heads, g)
    assert distance(mean) < distance(mean + 0.1 * away)


# Function -> arguments under which its shape comments and docstring are compared with its tensors.
CACHE = tuple(drawn(0, *[(2, 3, 4, 5)] * 2))
TRACED = [
    (extend_cache, [CACHE, *drawn(1, *[(2, 3, 6, 5)] * 2)]),
    (cached_attention, [*drawn(2, *[(2, 3, 6, 5)] * 3), CACHE]),
    (grouped_query_attention, drawn(3, (2, 6, 7, 5), (2, 3, 8, 5), (2, 3, 8, 5))),
    (pool_kv_heads, [*drawn(4, (30, 30)), 6, 3]),
    (layer(5, 6, 3, 5).forward, [*drawn(6, (2, 7, 30)), CACHE]),
]
