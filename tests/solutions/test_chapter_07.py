"""Chapter 07 against PyTorch's own operations."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name
from torch.testing import assert_close

from solutions.norms import (
    LayerNorm,
    RMSNorm,
    layer_norm,
    layer_norm_backward,
    rms_norm,
    standardise,
)
from solutions.residual import post_norm_block, pre_norm_block

seeds = st.integers(0, 2**32)
size = st.integers(1, 7)
wide = st.integers(2, 9)


def drawn(seed: int, *shapes: tuple[int, ...], mean: float = 0.0, std: float = 1.0) -> list[Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return [mean + std * torch.randn(s, generator=rng, dtype=torch.float64) for s in shapes]


# Norms


@given(seeds, size, size, wide)
def test_layer_norm_is_torchs(seed, b, length, d):
    (x,) = drawn(seed, (b, length, d), mean=5.0, std=3.0)
    weight, bias = drawn(seed, (d,), (d,))
    for eps in (1e-5, 0.3):
        assert_close(layer_norm(x, weight, bias, eps), F.layer_norm(x, (d,), weight, bias, eps))
    assert_close(layer_norm(x, weight, bias), F.layer_norm(x, (d,), weight, bias))


@given(seeds, size, size, size)
def test_rms_norm_is_torchs(seed, b, length, d):
    (x,) = drawn(seed, (b, length, d), mean=5.0, std=3.0)
    (weight,) = drawn(seed, (d,))
    for eps in (1e-5, 0.3):
        assert_close(rms_norm(x, weight, eps), F.rms_norm(x, (d,), weight, eps))
    assert_close(rms_norm(x, weight), F.rms_norm(x, (d,), weight, 1e-6))


@given(seeds, size, wide, wide)
def test_standardise_over_batch_and_positions_is_batch_norm(seed, b, length, d):
    (x,) = drawn(seed, (b, length, d), mean=5.0, std=3.0)
    theirs = F.batch_norm(x.mT, None, None, training=True).mT
    assert_close(standardise(x, (0, 1)), theirs)
    assert_close(standardise(x, 1), F.instance_norm(x.mT).mT)


@pytest.mark.parametrize("scale", [1e-3, 1.0])
def test_small_vectors_are_torchs_too(scale):
    (x,) = drawn(0, (6, 4), std=scale)
    one = torch.ones(4, dtype=torch.float64)
    assert_close(layer_norm(x, one, 0 * one), F.layer_norm(x, (4,)))
    assert_close(rms_norm(x, one, 1e-6), F.rms_norm(x, (4,), eps=1e-6))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_half_precision_is_float32_inside(dtype, scale):
    (x,) = drawn(1, (5, 8), std=scale)
    x, one = x.to(dtype), torch.ones(8, dtype=dtype)
    exact = F.layer_norm(x.double(), (8,), eps=1e-12)
    assert_close(layer_norm(x, one, 0 * one, 1e-12), exact.to(dtype), atol=2e-2, rtol=0)
    exact = F.rms_norm(x.double(), (8,), eps=1e-12)
    assert_close(rms_norm(x, one, 1e-12), exact.to(dtype), atol=2e-2, rtol=0)


def test_a_large_mean_leaves_the_variance_alone():
    (x,) = drawn(2, (5, 64), mean=2000.0)
    assert_close(standardise(x.float(), -1), standardise(x, -1).float(), atol=1e-3, rtol=0)


@given(seeds, st.floats(0.1, 100), st.floats(-50, 50))
def test_scale_and_offset_go_unseen(seed, scale, offset):
    (x,) = drawn(seed, (3, 8))
    one = torch.ones(8, dtype=torch.float64)
    assert_close(standardise(scale * x + offset, -1, 0.0), standardise(x, -1, 0.0))
    assert_close(rms_norm(scale * x, one, 0.0), rms_norm(x, one, 0.0))


@pytest.mark.parametrize(("mine", "theirs"), [(LayerNorm, nn.LayerNorm), (RMSNorm, nn.RMSNorm)])
def test_modules_take_the_weights_of_torchs(mine, theirs):
    (x,) = drawn(3, (2, 3, 6), mean=5.0, std=3.0)
    there, here = theirs(6, eps=1e-3), mine(6, eps=1e-3)
    assert here.state_dict().keys() == there.state_dict().keys()
    assert_close(here(x.float()), there(x.float()))
    for weight in there.parameters():
        nn.init.normal_(weight)
    here.load_state_dict(there.state_dict())
    assert_close(here(x.float()), there(x.float()))


@given(seeds, size, size, wide, st.sampled_from([1e-5, 0.5]))
def test_the_way_back_is_autograds(seed, b, length, d, eps):
    x, grad = drawn(seed, (b, length, d), (b, length, d), mean=2.0, std=3.0)
    leaves = [x, *drawn(seed + 1, (d,), (d,))]
    for leaf in leaves:
        leaf.requires_grad_()
    expected = torch.autograd.grad(F.layer_norm(x, (d,), *leaves[1:], eps), leaves, grad)
    mine = layer_norm_backward(grad, x.detach(), leaves[1].detach(), eps)
    for one, other in zip(mine, expected, strict=True):
        assert_close(one, other)


def test_the_way_back_of_one_vector():
    x, grad, weight = drawn(4, (6,), (6,), (6,))
    shapes = [one.shape for one in layer_norm_backward(grad, x, weight)]
    assert shapes == [(6,)] * 3


# Blocks


def layers() -> tuple[nn.TransformerEncoderLayer, nn.TransformerEncoderLayer]:
    """Torch's encoder layer with RMS norms, post and pre, with the same weights."""
    options = {"dropout": 0.0, "batch_first": True, "dtype": torch.float64}
    made = []
    for norm_first in (False, True):
        layer = nn.TransformerEncoderLayer(8, 2, 16, norm_first=norm_first, **options)
        layer.norm1, layer.norm2 = (nn.RMSNorm(8, 1e-6, dtype=torch.float64) for _ in range(2))
        made.append(layer.train())
    with torch.no_grad():
        for weight in made[0].parameters():
            weight.normal_()
    made[1].load_state_dict(made[0].state_dict())
    return made[0], made[1]


@pytest.mark.parametrize(("block", "which"), [(post_norm_block, 0), (pre_norm_block, 1)])
def test_blocks_are_those_of_torchs_encoder_layer(block, which):
    layer = layers()[which]
    (x,) = drawn(5, (2, 5, 8), mean=5.0, std=3.0)
    gains = layer.norm1.weight, layer.norm2.weight

    def attend(x: Tensor) -> Tensor:
        return layer.self_attn(x, x, x, need_weights=False)[0]

    def feed_forward(x: Tensor) -> Tensor:
        return layer.linear2(F.relu(layer.linear1(x)))

    assert_close(block(x, attend, feed_forward, gains), layer(x))


def test_silent_sublayers_leave_a_pre_norm_stream_bit_for_bit():
    (x,) = drawn(6, (2, 3, 4), mean=5.0, std=3.0)
    gains = tuple(drawn(7, (4,), (4,)))
    assert torch.equal(pre_norm_block(x, torch.zeros_like, torch.zeros_like, gains), x)


# Function -> arguments under which its shape comments and docstring are compared with its tensors.
GAINS = tuple(drawn(8, (4,), (4,)))
TRACED = [
    (standardise, [*drawn(0, (2, 3, 5)), (0, 1)]),
    (layer_norm, drawn(0, (2, 3, 5), (5,), (5,))),
    (rms_norm, drawn(0, (2, 3, 5), (5,))),
    (layer_norm_backward, drawn(0, (2, 3, 5), (2, 3, 5), (5,))),
    (post_norm_block, [*drawn(0, (2, 3, 4)), torch.tanh, torch.sin, GAINS]),
    (pre_norm_block, [*drawn(0, (2, 3, 4)), torch.tanh, torch.sin, GAINS]),
]
