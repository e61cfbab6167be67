"""Exercise: how many numbers a language model of this course learns.

Out of scope: GPT-2's parts (the next exercise), FLOPs and bytes.
"""

from collections.abc import Iterator

import torch
from torch import Generator

from autograder.compare import values, whole_number
from autograder.exercises.chapter_11 import CHAPTER
from autograder.inputs import integer
from autograder.spec import Case, Exercise, Trial
from autograder.wire import call
from solutions.counts import count_parameters
from solutions.decoder import TransformerLM, tie_weights

GROUPS = ((2, 3), (3, 2), (2, 5), (4, 2), (3, 3))  # key/value heads, query heads for each


def _drawn(rng: Generator, **fixed: int | None) -> tuple[tuple[int, int], dict[str, int | None]]:
    """Draw all sizes but `tied`, and a number of key/value heads that is not that of the heads."""
    g, share = GROUPS[integer(rng, 0, len(GROUPS) - 1)]
    vocabulary, wide, layers, width = (torch.randperm(17, generator=rng)[:4] + 5).tolist()
    d_model = 2 * width * g * share
    of = {"layers": layers, "heads": g * share, "d_ff": 3 * wide + d_model, "kv_heads": g}
    return (7 * vocabulary + 4, d_model), of | fixed


def _trial(sizes: tuple[tuple[int, int], dict[str, int | None]], **options: bool) -> Trial:
    (vocabulary, d_model), named = sizes
    named = {name: value for name, value in (named | options).items() if value is not None}
    words = f"vocabulary = {vocabulary}, d_model = {d_model}"
    words += "".join(f", {name} = {value}" for name, value in named.items())
    return Trial(call(vocabulary, d_model, **named), words)


def plain(rng: Generator) -> Iterator[Trial]:
    for _ in range(2):
        yield _trial(_drawn(rng, kv_heads=None))


def in_groups(rng: Generator) -> Iterator[Trial]:
    for _ in range(2):
        yield _trial(_drawn(rng))
    sizes, named = _drawn(rng)
    yield _trial((sizes, named | {"kv_heads": named["heads"]}))
    yield _trial((sizes, named | {"kv_heads": 1}))


def tied_ones(rng: Generator) -> Iterator[Trial]:
    yield _trial(_drawn(rng), tied=True)
    yield _trial(_drawn(rng, kv_heads=None), tied=True)
    yield _trial(_drawn(rng), tied=False)


def depths(rng: Generator) -> Iterator[Trial]:
    yield _trial(_drawn(rng, layers=1))
    yield _trial(_drawn(rng, layers=0))
    (vocabulary, d_model), named = _drawn(rng)
    yield _trial(((1, d_model), named))
    yield _trial(((vocabulary, 6), named | {"heads": 1, "kv_heads": 1}))


def large(rng: Generator) -> Iterator[Trial]:
    vocabulary = 128_001 + 2 * integer(rng, 0, 999)  # odd: float32 is too coarse
    sizes: dict[str, int | None] = {"layers": 81, "heads": 63, "d_ff": 28_671, "kv_heads": 7}
    yield _trial(((vocabulary, 63 * 129), sizes))


CASES = (
    Case("as many key heads as query heads", plain, values, weight=2),
    Case("query heads that share keys and values", in_groups, values),
    Case("one matrix for embedding and output counts once", tied_ones, values),
    Case("one block, none, one head, one token", depths, values),
    Case("a large model, to the last number", large, whole_number),
)


def _count(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    attend: int,
    feed: int,
    tied: bool = False,
    norms: int = 2,
    last: int = 1,
) -> int:
    """Put the parts together as they should be: a mistake changes a part."""
    block = attend + feed + norms * d_model
    return vocabulary * d_model * (1 if tied else 2) + layers * block + last * d_model


def _attend(d_model: int, heads: int, kv_heads: int | None) -> int:
    return 2 * d_model * d_model + 2 * d_model * (kv_heads or heads) * (d_model // heads)


def norms_forgotten(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """The norms are missing. Each has d_model factors; how many are there in a block, and after
    the last one?
    """
    attend, feed = _attend(d_model, heads, kv_heads), 3 * d_model * d_ff
    return _count(
        vocabulary, d_model, layers=layers, attend=attend, feed=feed, tied=tied, norms=0, last=0
    )


def last_norm_forgotten(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """The norms of the blocks are there; the one between the last block and the output is not."""
    attend, feed = _attend(d_model, heads, kv_heads), 3 * d_model * d_ff
    return _count(vocabulary, d_model, layers=layers, attend=attend, feed=feed, tied=tied, last=0)


def one_norm(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """You count one norm in a block. Each of its two sublayers has its own."""
    attend, feed = _attend(d_model, heads, kv_heads), 3 * d_model * d_ff
    return _count(vocabulary, d_model, layers=layers, attend=attend, feed=feed, tied=tied, norms=1)


def layer_norms(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """Your norms have a factor and a shift for each entry, as layer norms do. RMS norms have
    factors alone.
    """
    attend, feed = _attend(d_model, heads, kv_heads), 3 * d_model * d_ff
    return _count(
        vocabulary, d_model, layers=layers, attend=attend, feed=feed, tied=tied, norms=4, last=2
    )


def two_matrices(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """Your feed-forward layer has two matrices. A gated one has three."""
    attend, feed = _attend(d_model, heads, kv_heads), 2 * d_model * d_ff
    return _count(vocabulary, d_model, layers=layers, attend=attend, feed=feed, tied=tied)


def not_grouped(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """Your keys and values have as many heads as the queries. With `kv_heads` they have fewer, and
    w_k and w_v fewer rows.
    """
    return count_parameters(vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff, tied=tied)


def keys_grouped_alone(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """Only w_k has fewer rows when heads share. So has w_v."""
    shared = d_model * (kv_heads or heads) * (d_model // heads)
    attend, feed = 3 * d_model * d_model + shared, 3 * d_model * d_ff
    return _count(vocabulary, d_model, layers=layers, attend=attend, feed=feed, tied=tied)


def no_output_matrix(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """Your attention has three matrices. The fourth, w_o, mixes what the heads found."""
    attend = _attend(d_model, heads, kv_heads) - d_model * d_model
    feed = 3 * d_model * d_ff
    return _count(vocabulary, d_model, layers=layers, attend=attend, feed=feed, tied=tied)


def every_head_whole(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """Each of your heads is d_model wide. The heads share that width: more heads are narrower."""
    rows = 2 * heads + 2 * (kv_heads or heads)
    attend, feed = rows * d_model * d_model, 3 * d_model * d_ff
    return _count(vocabulary, d_model, layers=layers, attend=attend, feed=feed, tied=tied)


def always_tied(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """You count one table of V x d_model. Unless they are tied, embedding and output have one
    each.
    """
    return count_parameters(
        vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff, kv_heads=kv_heads, tied=True
    )


def never_tied(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """You count the table of the tokens twice although it is tied: it is one matrix with two
    uses.
    """
    return count_parameters(
        vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff, kv_heads=kv_heads
    )


def with_biases(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """You count biases in the blocks. These matrices have none."""
    shared = (kv_heads or heads) * (d_model // heads)
    attend = _attend(d_model, heads, kv_heads) + 2 * d_model + 2 * shared
    feed = 3 * d_model * d_ff + 2 * d_ff + d_model
    return _count(vocabulary, d_model, layers=layers, attend=attend, feed=feed, tied=tied)


def head_with_bias(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """You count a bias for each token in the output. It has none."""
    return vocabulary + count_parameters(
        vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff, kv_heads=kv_heads, tied=tied
    )


def one_block(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """You count one block. Each of the blocks has weights of its own."""
    return count_parameters(
        vocabulary, d_model, layers=1, heads=heads, d_ff=d_ff, kv_heads=kv_heads, tied=tied
    )


def in_float32(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """The number went through float32, which holds 7 digits. Count in whole numbers."""
    exact = count_parameters(
        vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff, kv_heads=kv_heads, tied=tied
    )
    return int(torch.tensor(float(exact)))


def in_bytes(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """You count bytes, four for each number. Count the numbers."""
    return 4 * count_parameters(
        vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff, kv_heads=kv_heads, tied=tied
    )


def counted_on_meta(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """Make the model without memory, and count what is there."""
    with torch.device("meta"):
        model = TransformerLM(
            vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff, kv_heads=kv_heads
        )
    if tied:
        tie_weights(model)
    return sum(weight.numel() for weight in model.parameters())


def part_by_part(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """Add up a list of shapes."""
    kv_heads = heads if kv_heads is None else kv_heads
    width = d_model // heads
    shapes = [(vocabulary, d_model), (1, d_model)]
    if not tied:
        shapes.append((d_model, vocabulary))
    for _ in range(layers):
        shapes += [(d_model, heads * width), (heads * width, d_model)]
        shapes += 2 * [(kv_heads * width, d_model)]
        shapes += 3 * [(d_ff, d_model)] + 2 * [(1, d_model)]
    return sum(rows * columns for rows, columns in shapes)


def all_times_d_model(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """Every matrix has a side of d_model: count the other sides, d_model taken out."""
    groups = kv_heads if kv_heads else heads
    sides = 2 * d_model + 2 * groups * d_model // heads + 3 * d_ff + 2
    return d_model * ((2 - int(tied)) * vocabulary + layers * sides + 1)


EXERCISE = Exercise(
    solution=count_parameters,
    chapter=CHAPTER,
    title="How large is it?",
    points=2,
    minutes=7,
    difficulty=2,
    statement=(
        "Count the numbers that a language model of this chapter learns, from its sizes alone, "
        "without making it: the embedding, for each block attention, gated feed-forward layer "
        "and two RMS norms, one more RMS norm at the end, and the output matrix. "
        "Published models have billions of them: return an exact int."
    ),
    example=(
        "Vocabulary 10, d_model 4, 1 block, 2 heads, d_ff 6: two tables of 40, attention 4 x 16, "
        "feed-forward 3 x 24, three norms of 4, in all 80 + 64 + 72 + 12 = 228. With one "
        "key/value head w_k and w_v are half as large, 212; tied as well, 172."
    ),
    conventions=(
        "No biases anywhere. An RMS norm has d_model factors and nothing else.",
        "A head is d_model / heads wide, key/value heads as well. `kv_heads=None` means as many "
        "as there are query heads.",
        "Tied: embedding and output are one matrix, which counts once. Rotary positions learn "
        "nothing.",
    ),
    hints=(
        "Count one block first: attention, feed-forward, norms.",
        "w_q and w_o have d_model rows. How many have w_k and w_v?",
        "Outside of the blocks there are the table or tables of the tokens, and one norm.",
    ),
    cases=CASES,
    mistakes=(
        norms_forgotten,
        last_norm_forgotten,
        one_norm,
        layer_norms,
        two_matrices,
        not_grouped,
        keys_grouped_alone,
        no_output_matrix,
        every_head_whole,
        always_tied,
        never_tied,
        with_biases,
        head_with_bias,
        one_block,
        in_float32,
        in_bytes,
    ),
    alternatives=(counted_on_meta, part_by_part, all_times_d_model),
)
