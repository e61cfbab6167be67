"""Chapter 11 against models of torch and transformers, and what must hold of any model."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name
from torch.testing import assert_close

from solutions.blocks import DecoderBlock, EncoderBlock
from solutions.causal import CausalSelfAttention
from solutions.counts import count_parameters, gpt2_parameters
from solutions.decoder import TransformerLM, tie_weights
from solutions.heads import merge_heads, split_heads
from solutions.initial import init_residual_scale
from solutions.masked import masked_attention
from solutions.masks import causal_mask
from solutions.norms import layer_norm
from solutions.rotary import interleaved_to_half_split
from solutions.seq2seq import CrossBlock, EncoderDecoder

seeds = st.integers(0, 2**32)
size = st.integers(1, 6)


def drawn(seed: int, *shapes: tuple[int, ...]) -> list[Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=rng) for shape in shapes]


def ids(seed: int, vocabulary: int, *shape: int) -> Tensor:
    return torch.randint(vocabulary, shape, generator=torch.Generator().manual_seed(seed))


# Counts


@given(size, size, size, st.integers(1, 40), st.booleans())
@settings(max_examples=30)
def test_the_count_is_that_of_the_module(layers, groups, share, d_ff, tied):
    heads, vocabulary = groups * share, 17
    sizes = {"layers": layers, "heads": heads, "d_ff": d_ff, "kv_heads": groups}
    model = TransformerLM(vocabulary, 4 * heads, **sizes)
    if tied:
        tie_weights(model)
    counted = count_parameters(vocabulary, 4 * heads, **sizes, tied=tied)
    assert counted == sum(weight.numel() for weight in model.parameters())


def test_published_counts():
    llama = {"layers": 32, "heads": 32}
    assert count_parameters(32_000, 4096, d_ff=11_008, **llama) == 6_738_415_616
    assert count_parameters(128_256, 4096, d_ff=14_336, kv_heads=8, **llama) == 8_030_261_248
    assert gpt2_parameters(50_257, 1024, 768, 12) == 124_439_808


# Blocks


@given(seeds, size, st.integers(1, 4))
@settings(max_examples=30)
def test_an_encoder_block_knows_no_order(seed, length, heads):
    torch.manual_seed(seed)
    block = EncoderBlock(3 * heads, heads, 7)
    (x,) = drawn(seed, (2, length, 3 * heads))
    order = torch.randperm(length)
    assert_close(block(x[:, order]), block(x)[:, order], rtol=1e-4, atol=1e-5)


@given(seeds, st.integers(2, 7), st.data())
@settings(max_examples=30)
def test_a_decoder_block_in_chunks_is_the_whole(seed, length, data):
    torch.manual_seed(seed)
    block = DecoderBlock(24, 6, 10, kv_heads=data.draw(st.sampled_from([1, 2, 3, 6])))
    (x,) = drawn(seed, (2, length, 24))
    whole, _ = block(x)
    cut = data.draw(st.integers(1, length - 1))
    first, cache = block(x[:, :cut])
    second, _ = block(x[:, cut:], cache)
    assert_close(torch.cat([first, second], 1), whole, rtol=1e-4, atol=1e-5)


def test_padding_in_front_changes_nothing():
    torch.manual_seed(0)
    model = TransformerLM(11, 24, layers=2, heads=6, d_ff=10, kv_heads=3)
    tokens = ids(1, 11, 1, 5)
    padded = torch.cat([torch.zeros(1, 3, dtype=torch.int64), tokens], 1)
    keep = torch.arange(8)[None] >= 3
    logits, _ = model(padded, keep=keep)
    assert_close(logits[:, 3:], model(tokens)[0], rtol=1e-4, atol=1e-5)


def test_a_cross_block_is_torchs_decoder_layer_but_for_the_parts():
    """With the same attention, torch's layer adds the same two sums before its own feed-forward."""
    torch.manual_seed(1)
    block = CrossBlock(12, 3, 7)
    layer = nn.TransformerDecoderLayer(
        12, 3, 7, dropout=0.0, batch_first=True, norm_first=True, bias=False
    )
    layer.norm1, layer.norm2 = block.norm_1, block.norm_2
    pairs = (block.attend, layer.self_attn), (block.cross, layer.multihead_attn)
    with torch.no_grad():
        for ours, theirs in pairs:
            rows = [ours.w_q.weight, ours.w_k.weight, ours.w_v.weight]
            theirs.in_proj_weight.copy_(torch.cat(rows))
            theirs.out_proj.weight.copy_(ours.w_o.weight)
        layer.linear2.weight.zero_()
        block.feed_forward.w_down.weight.zero_()
    x, memory = drawn(2, (2, 4, 12), (2, 5, 12))
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    assert_close(block(x, memory), layer(x, memory, mask), rtol=1e-4, atol=1e-5)


# The encoder-decoder


def reversible() -> EncoderDecoder:
    torch.manual_seed(3)
    return EncoderDecoder(11, 12, layers=2, heads=3, d_ff=10)


@given(seeds)
@settings(max_examples=20)
def test_padding_of_the_source_is_never_heard(seed):
    model, lengths = reversible(), torch.tensor([2, 4, 5])
    source, target = ids(seed, 11, 3, 5), ids(seed + 1, 11, 3, 4)
    other = torch.where(torch.arange(5) < lengths[:, None], source, ids(seed + 2, 11, 3, 5))
    assert_close(model(source, target, lengths), model(other, target, lengths))
    alone = model(source[:1, :2], target[:1])
    assert_close(model(source, target, lengths)[:1], alone, rtol=1e-4, atol=1e-5)


def test_a_later_target_changes_nothing_before_it():
    model, source, target = reversible(), ids(4, 11, 1, 6), ids(5, 11, 1, 5)
    other = target.clone()
    other[0, 3] = (other[0, 3] + 1) % 11
    moved = (model(source, other) - model(source, target)).abs().amax(-1)[0] > 1e-7
    assert moved.tolist() == [False, False, False, True, True]


def test_every_source_token_reaches_every_target():
    model, source, target = reversible(), ids(4, 11, 1, 6), ids(5, 11, 1, 5)
    before = model(source, target)
    for i in range(6):
        other = source.clone()
        other[0, i] = (other[0, i] + 1) % 11
        assert ((model(other, target) - before).abs().amax(-1) > 1e-6).all()


# First weights


@pytest.mark.parametrize("tied", [False, True])
def test_the_first_loss_is_that_of_a_guess(tied):
    torch.manual_seed(6)
    model = TransformerLM(65, 96, layers=4, heads=4, d_ff=256)
    if tied:
        tie_weights(model)
    init_residual_scale(model)
    tokens = ids(7, 65, 8, 33)
    logits, _ = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    assert abs(loss.item() - math.log(65)) < 0.15
    assert (model.head.weight is model.embed.weight) == tied


@pytest.mark.parametrize("layers", [1, 3, 8])
def test_deviations_of_first_weights(layers):
    torch.manual_seed(8)
    model = TransformerLM(60, 32, layers=layers, heads=4, d_ff=48)
    init_residual_scale(model, std=0.3)
    for name, weight in model.named_parameters():
        if weight.ndim == 1:
            assert (weight == 1).all()
            continue
        wanted = 0.3 / math.sqrt(2 * layers) if "w_o" in name or "w_down" in name else 0.3
        assert abs(weight.std().item() / wanted - 1) < 5 / math.sqrt(2 * weight.numel())


# The same functions as in transformers


def half_split(weight: Tensor, heads: int) -> Tensor:
    """Reorder a projection with any number of rows for code that pairs halves."""
    rows = interleaved_to_half_split(torch.arange(len(weight))[:, None], heads)
    return weight[rows.flatten()]


@pytest.mark.parametrize("kv_heads", [1, 2, 6])
@torch.no_grad()
def test_llama_of_transformers_gives_the_same_logits(kv_heads):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(9)
    model = TransformerLM(37, 24, layers=3, heads=6, d_ff=40, kv_heads=kv_heads)
    for weight in model.parameters():
        weight.normal_(std=0.3)
    config = transformers.LlamaConfig(
        vocab_size=37,
        hidden_size=24,
        intermediate_size=40,
        num_hidden_layers=3,
        num_attention_heads=6,
        num_key_value_heads=kv_heads,
        rms_norm_eps=1e-6,
        rope_theta=10_000.0,
        max_position_embeddings=64,
        tie_word_embeddings=False,
    )
    theirs = transformers.LlamaForCausalLM(config).eval()
    state = {
        "model.embed_tokens.weight": model.embed.weight,
        "model.norm.weight": model.norm.weight,
        "lm_head.weight": model.head.weight,
    }
    for i, block in enumerate(model.blocks):
        layer, attend, feed = f"model.layers.{i}", block.attend, block.feed_forward
        state |= {
            f"{layer}.input_layernorm.weight": block.norm_1.weight,
            f"{layer}.post_attention_layernorm.weight": block.norm_2.weight,
            f"{layer}.self_attn.q_proj.weight": half_split(attend.w_q.weight, 6),
            f"{layer}.self_attn.k_proj.weight": half_split(attend.w_k.weight, kv_heads),
            f"{layer}.self_attn.v_proj.weight": attend.w_v.weight,
            f"{layer}.self_attn.o_proj.weight": attend.w_o.weight,
            f"{layer}.mlp.gate_proj.weight": feed.w_gate.weight,
            f"{layer}.mlp.up_proj.weight": feed.w_up.weight,
            f"{layer}.mlp.down_proj.weight": feed.w_down.weight,
        }
    assert theirs.load_state_dict(state, strict=True)
    tokens = ids(10, 37, 2, 9)
    expected = theirs(tokens).logits
    logits, caches = model(tokens[:, :5])
    later, _ = model(tokens[:, 5:], caches)
    got = torch.cat([logits, later], 1)
    assert (got - expected).abs().max() <= 1e-5 * expected.abs().max()


@pytest.mark.parametrize(
    "config",
    [
        {"vocab_size": 32_000, "intermediate_size": 11_008, "num_key_value_heads": 32},
        {"vocab_size": 128_256, "intermediate_size": 14_336, "num_key_value_heads": 8},
    ],
)
def test_the_count_is_that_of_transformers_llama(config):
    transformers = pytest.importorskip("transformers")
    shape = {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32}
    with torch.device("meta"):
        theirs = transformers.LlamaForCausalLM(transformers.LlamaConfig(**config, **shape))
    counted = count_parameters(
        config["vocab_size"],
        4096,
        layers=32,
        heads=32,
        d_ff=config["intermediate_size"],
        kv_heads=config["num_key_value_heads"],
    )
    assert counted == sum(weight.numel() for weight in theirs.parameters())


def gpt2_of_parts(state: dict[str, Tensor], tokens: Tensor, layers: int, heads: int) -> Tensor:
    """Compute GPT-2's logits with the course's functions from GPT-2's weights, fused and turned."""

    def conv(x: Tensor, name: str) -> Tensor:
        return x @ state[f"{name}.weight"] + state[f"{name}.bias"]

    def norm(x: Tensor, name: str) -> Tensor:
        return layer_norm(x, state[f"{name}.weight"], state[f"{name}.bias"])

    length = tokens.shape[1]
    x = state["transformer.wte.weight"][tokens] + state["transformer.wpe.weight"][:length]
    mask = causal_mask(length, length)
    for i in range(layers):
        layer = f"transformer.h.{i}"
        fused = conv(norm(x, f"{layer}.ln_1"), f"{layer}.attn.c_attn")
        q, k, v = (split_heads(part, heads) for part in fused.chunk(3, -1))
        heard = merge_heads(masked_attention(q, k, v, mask))
        x = x + conv(heard, f"{layer}.attn.c_proj")
        hidden = F.gelu(conv(norm(x, f"{layer}.ln_2"), f"{layer}.mlp.c_fc"), approximate="tanh")
        x = x + conv(hidden, f"{layer}.mlp.c_proj")
    return norm(x, "transformer.ln_f") @ state["transformer.wte.weight"].T


@torch.no_grad()
def test_gpt2_of_transformers_gives_the_same_logits():
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(11)
    config = transformers.GPT2Config(vocab_size=31, n_positions=12, n_embd=24, n_layer=2, n_head=3)
    theirs = transformers.GPT2LMHeadModel(config).eval()
    for weight in theirs.parameters():
        weight.normal_(std=0.3)
    tokens = ids(12, 31, 2, 9)
    expected = theirs(tokens).logits
    got = gpt2_of_parts(theirs.state_dict(), tokens, layers=2, heads=3)
    assert (got - expected).abs().max() <= 1e-5 * expected.abs().max()
    assert gpt2_parameters(31, 12, 24, 2) == sum(w.numel() for w in theirs.parameters())


torch.manual_seed(0)
X, MEMORY = drawn(0, (3, 4, 12), (3, 5, 12))
TOKENS = ids(1, 11, 3, 4)
SOURCE, LENGTHS = ids(2, 11, 3, 5), torch.tensor([2, 5, 3])
WHOLE = EncoderDecoder(11, 12, layers=1, heads=2, d_ff=7)
TRACED = [
    (CausalSelfAttention(12, 6, 2).forward, (X, None, torch.ones(3, 4, dtype=torch.bool))),
    (EncoderBlock(12, 2, 7).forward, (X,)),
    (DecoderBlock(12, 6, 7, 2).forward, (X,)),
    (TransformerLM(11, 12, layers=1, heads=6, d_ff=7, kv_heads=2).forward, (TOKENS,)),
    (CrossBlock(12, 2, 7).forward, (X, MEMORY)),
    (WHOLE.place, (TOKENS,)),
    (WHOLE.encode, (SOURCE, LENGTHS)),
    (WHOLE.decode, (TOKENS, MEMORY, LENGTHS)),
    (WHOLE.forward, (SOURCE, TOKENS, LENGTHS)),
]
