"""Exercise: how many numbers GPT-2 learns.

Out of scope: the course's own model (the exercise before).
"""

from collections.abc import Iterator

import torch
from torch import Generator, nn

from autograder.compare import values, whole_number
from autograder.exercises.chapter_11 import CHAPTER
from autograder.inputs import integer
from autograder.spec import Case, Exercise, Trial
from autograder.wire import call
from solutions.counts import gpt2_parameters

NAMES = ("vocabulary", "positions", "d_model", "layers")


def _trial(*numbers: int) -> Trial:
    words = ", ".join(f"{name} = {value}" for name, value in zip(NAMES, numbers, strict=True))
    return Trial(call(*numbers), words)


def _drawn(rng: Generator) -> list[int]:
    many, some, wide, layers = (torch.randperm(23, generator=rng)[:4] + 3).tolist()
    return [11 * many + 1, 7 * some + 2, 2 * wide + 1, layers]


def small(rng: Generator) -> Iterator[Trial]:
    for _ in range(3):
        yield _trial(*_drawn(rng))


def one_or_none(rng: Generator) -> Iterator[Trial]:
    vocabulary, positions, d_model, layers = _drawn(rng)
    yield _trial(vocabulary, positions, d_model, 1)
    yield _trial(vocabulary, positions, 1, layers)
    yield _trial(vocabulary, positions, d_model, 0)


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    size = integer(rng, 3, 9)
    yield _trial(size, size, size, size)


def large(rng: Generator) -> Iterator[Trial]:
    yield _trial(50_257 + 2 * integer(rng, 0, 99), 2047, 12_289, 97)


CASES = (
    Case("a small model, every part of it", small, values, weight=2),
    Case("one block, none, and a width of one", one_or_none, values),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("a large model, to the last number", large, whole_number),
)


def no_biases(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """The biases of the matrices are missing: each row of a matrix has one here."""
    return gpt2_parameters(vocabulary, positions, d_model, layers) - layers * 9 * d_model


def attention_without_biases(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """The four matrices of the attention lack their biases, d_model each."""
    return gpt2_parameters(vocabulary, positions, d_model, layers) - layers * 4 * d_model


def contract_without_bias(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """In the feed-forward layer only the first matrix has a bias. The second has one as well, of
    d_model numbers.
    """
    return gpt2_parameters(vocabulary, positions, d_model, layers) - layers * d_model


def wide_bias_narrow(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """The first matrix of the feed-forward layer has a bias of d_model numbers in your count. A
    bias is as long as the output: the hidden width.
    """
    return gpt2_parameters(vocabulary, positions, d_model, layers) - layers * 3 * d_model


def rms_norms(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """Your norms have factors alone. A layer norm has factors and shifts."""
    norms = 2 * layers + 1
    return gpt2_parameters(vocabulary, positions, d_model, layers) - norms * d_model


def last_norm_forgotten(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """The layer norm before the output is missing."""
    return gpt2_parameters(vocabulary, positions, d_model, layers) - 2 * d_model


def norms_forgotten(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """The layer norms are missing: two in each block, and one at the end."""
    norms = 2 * (2 * layers + 1)
    return gpt2_parameters(vocabulary, positions, d_model, layers) - norms * d_model


def not_tied(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """You count a matrix for the output. GPT-2 uses that of the embedding again: it counts once."""
    tables = vocabulary * d_model
    return gpt2_parameters(vocabulary, positions, d_model, layers) + tables


def output_with_bias(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """You count a bias for each token of the vocabulary. The output has none."""
    return gpt2_parameters(vocabulary, positions, d_model, layers) + vocabulary


def no_positions(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """The positions are missing. They are learned here: a vector for each."""
    return gpt2_parameters(vocabulary, 0, d_model, layers)


def gated(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """Your feed-forward layer has three matrices, as a gated one. This one is plain: two."""
    third = 4 * d_model * d_model + 4 * d_model
    return gpt2_parameters(vocabulary, positions, d_model, layers) + layers * third


def three_in_attention(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """The output matrix of the attention is missing, with its bias: there are four matrices."""
    fourth = d_model * d_model + d_model
    return gpt2_parameters(vocabulary, positions, d_model, layers) - layers * fourth


def twelve_squares(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """A block is 12 squares of d_model in your count: the rule of thumb. Biases and norms belong
    to an exact one.
    """
    return (vocabulary + positions + 12 * layers * d_model) * d_model


def one_block(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """You count one block. Each of the blocks has weights of its own."""
    return gpt2_parameters(vocabulary, positions, d_model, 1)


def in_float32(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """The number went through float32, which holds 7 digits. Count in whole numbers."""
    return int(torch.tensor(float(gpt2_parameters(vocabulary, positions, d_model, layers))))


def counted_on_meta(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """Let torch make the parts without memory, and count what is there."""
    with torch.device("meta"):
        parts: list[nn.Module] = [nn.LayerNorm(d_model)]
        parts += [nn.Embedding(vocabulary, d_model), nn.Embedding(positions, d_model)]
        for _ in range(layers):
            parts += [nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)]
            parts += [nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)]
            parts += [nn.LayerNorm(d_model), nn.LayerNorm(d_model)]
    return sum(weight.numel() for part in parts for weight in part.parameters())


def as_a_polynomial(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """All squares together, all the rest together."""
    squares, singles = 12 * layers, 13 * layers + vocabulary + positions + 2
    return squares * d_model**2 + singles * d_model


def shape_by_shape(vocabulary: int, positions: int, d_model: int, layers: int) -> int:
    """Walk through the matrices (rows, columns), each with a bias as long as its rows."""
    total = (vocabulary + positions) * d_model
    matrices = [(d_model, d_model)] * 4
    matrices += [(4 * d_model, d_model), (d_model, 4 * d_model)]
    for _ in range(layers):
        for rows, columns in matrices:
            total += rows * columns + rows
        total += 4 * d_model
    return total + 2 * d_model


EXERCISE = Exercise(
    solution=gpt2_parameters,
    chapter=CHAPTER,
    title="GPT-2, to the last number",
    points=2,
    minutes=6,
    difficulty=2,
    statement=(
        "Count the numbers that GPT-2 learns. It differs from the model of this chapter: learned "
        "positions, layer norms, a plain feed-forward layer that is four times as wide, biases, "
        "and an output that uses the embedding's matrix again. If your formula is right, it gives "
        "the published number of the small one to the last digit."
    ),
    example=(
        "Vocabulary 10, 5 positions, d_model 2, one block: tables 20 and 10; attention "
        "4 x (4 + 2) = 24; feed-forward (16 + 8) + (16 + 2) = 42; three layer norms of 4. In all "
        "20 + 10 + 24 + 42 + 12 = 108. The number of heads does not matter."
    ),
    conventions=(
        "Every matrix of a block has a bias, as long as its output. Embedding, positions and "
        "output have none.",
        "A layer norm has d_model factors and d_model shifts: two in each block, one at the end.",
        "The output shares the embedding's matrix, which counts once.",
    ),
    hints=(
        "A linear layer from a to b numbers with bias has a times b plus b of them.",
        "In a block: four square matrices, one that expands, one that contracts, two norms.",
        "Outside of the blocks: tokens, positions, one norm.",
    ),
    cases=CASES,
    mistakes=(
        no_biases,
        attention_without_biases,
        contract_without_bias,
        wide_bias_narrow,
        rms_norms,
        last_norm_forgotten,
        norms_forgotten,
        not_tied,
        output_with_bias,
        no_positions,
        gated,
        three_in_attention,
        twelve_squares,
        one_block,
        in_float32,
    ),
    alternatives=(counted_on_meta, as_a_polynomial, shape_by_shape),
)
