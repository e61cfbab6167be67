"""Exercise: FLOPs and bytes of one attention head.

Out of scope: projections and heads (chapter 04), caches (chapter 05).
"""

from collections.abc import Iterator

import torch
from torch import Generator

from autograder.compare import values
from autograder.exercises.chapter_02 import CHAPTER
from autograder.inputs import integer
from autograder.spec import Case, Exercise, Trial
from autograder.wire import call
from solutions.costs import attention_cost

NAMES = ("n_q", "n_k", "d_k", "d_v")
Pair = tuple[int, int]


def _trial(*numbers: int, **options: int) -> Trial:
    pairs = [*zip(NAMES, numbers, strict=True), *options.items()]
    words = ", ".join(f"{name} = {value}" for name, value in pairs)
    return Trial(call(*numbers, **options), words, returns="flops, bytes")


def _sizes(rng: Generator) -> list[int]:
    return (torch.randperm(87, generator=rng)[: len(NAMES)] + 11).tolist()


def everything(rng: Generator) -> Iterator[Trial]:
    yield _trial(*_sizes(rng))
    yield _trial(*(10 * n for n in _sizes(rng)))
    yield _trial(2, 3, 1, 1)


def decoding(rng: Generator) -> Iterator[Trial]:
    _, n_k, d_k, d_v = _sizes(rng)
    yield _trial(1, n_k, d_k, d_v)


def one_key(rng: Generator) -> Iterator[Trial]:
    n_q, _, d_k, d_v = _sizes(rng)
    yield _trial(n_q, 1, d_k, d_v)


def narrow_numbers(rng: Generator) -> Iterator[Trial]:
    yield _trial(*_sizes(rng), bytes_per_number=2)
    yield _trial(*_sizes(rng), bytes_per_number=integer(rng, 5, 8))
    yield _trial(*_sizes(rng), bytes_per_number=1)


def long_sequence(rng: Generator) -> Iterator[Trial]:
    yield _trial(1000, 1000 * integer(rng, 2, 3), 64, 128, bytes_per_number=2)


CASES = (
    Case("four different sizes", everything, values, weight=2),
    Case("one query, as when a model writes a token", decoding, values),
    Case("one key", one_key, values),
    Case("numbers of other sizes than 4 bytes", narrow_numbers, values),
    Case("thousands of tokens", long_sequence, values),
)


def once_per_term(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """You count a multiplication and an addition as one operation. Here they are two FLOPs (some
    papers count multiply-adds, half as many).
    """
    flops, size = attention_cost(n_q, n_k, d_k, d_v, bytes_per_number=bytes_per_number)
    return flops // 2, size


def exact_additions(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """You count one addition less than multiplications for each sum. That is exact, but the custom
    (and the exercise) counts one of each for every term.
    """
    return n_q * n_k * (2 * d_k - 1) + n_q * d_v * (2 * n_k - 1), n_q * n_k * bytes_per_number


def scores_only(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """Only q k^T is counted. The weights meet the values in a second product."""
    return 2 * n_q * n_k * d_k, n_q * n_k * bytes_per_number


def values_only(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """Only the product with the values is counted. The scores q k^T come first."""
    return 2 * n_q * n_k * d_v, n_q * n_k * bytes_per_number


def key_width_twice(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """Both products are counted with d_k. The second one makes rows of d_v numbers."""
    return 4 * n_q * n_k * d_k, n_q * n_k * bytes_per_number


def value_width_twice(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """Both products are counted with d_v. The first one adds up d_k terms."""
    return 4 * n_q * n_k * d_v, n_q * n_k * bytes_per_number


def queries_squared(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """You use n_q twice. Every query meets every key, and there are n_k of those."""
    return attention_cost(n_q, n_q, d_k, d_v, bytes_per_number=bytes_per_number)


def keys_squared(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """You use n_k twice. Every key meets every query, and there are n_q of those."""
    return attention_cost(n_k, n_k, d_k, d_v, bytes_per_number=bytes_per_number)


def widths_multiplied(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """You multiply d_k and d_v. The two products come one after the other: their costs add."""
    return 2 * n_q * n_k * d_k * d_v, n_q * n_k * bytes_per_number


def linear(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """You add the numbers of queries and keys. Each query meets each key: how many pairs?"""
    return 2 * (n_q + n_k) * (d_k + d_v), n_q * n_k * bytes_per_number


def softmax_counted(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """The scale or the softmax is counted too. It is left out here: a few operations per weight,
    next to 2 d_k + 2 d_v of the products.
    """
    flops, size = attention_cost(n_q, n_k, d_k, d_v, bytes_per_number=bytes_per_number)
    return flops + n_q * n_k, size


def scale_and_softmax_counted(
    n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4
) -> Pair:
    """The scale and four steps of the softmax are counted too, 5 operations per weight. They are
    left out here.
    """
    flops, size = attention_cost(n_q, n_k, d_k, d_v, bytes_per_number=bytes_per_number)
    return flops + 5 * n_q * n_k, size


def second_sum_forgotten(
    n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4
) -> Pair:
    """n_k is missing in the second product: each number of an answer adds up one term for each
    key.
    """
    return 2 * n_q * n_k * d_k + 2 * n_q * d_v, n_q * n_k * bytes_per_number


def counted_in_numbers(
    n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4
) -> Pair:
    """Your memory is counted in numbers. How many bytes does one take?"""
    return attention_cost(n_q, n_k, d_k, d_v)[0], n_q * n_k


def always_four(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """Every number takes 4 bytes in your count, whatever `bytes_per_number` says."""
    return attention_cost(n_q, n_k, d_k, d_v)


def counted_in_bits(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """Your memory is in bits: 8 times the bytes."""
    flops, size = attention_cost(n_q, n_k, d_k, d_v, bytes_per_number=bytes_per_number)
    return flops, 8 * size


def scores_and_weights(
    n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4
) -> Pair:
    """You count two matrices, scores and weights. Asked is one (the softmax can overwrite it)."""
    flops, size = attention_cost(n_q, n_k, d_k, d_v, bytes_per_number=bytes_per_number)
    return flops, 2 * size


def inputs_too(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """The memory of q, k and v is in your count. Asked is that of the weights alone."""
    flops, _ = attention_cost(n_q, n_k, d_k, d_v)
    numbers = n_q * n_k + n_q * d_k + n_k * (d_k + d_v)
    return flops, numbers * bytes_per_number


def output_memory(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """You count the memory of the answers, n_q by d_v. Asked is that of the weights, n_q by n_k."""
    return attention_cost(n_q, n_k, d_k, d_v)[0], n_q * d_v * bytes_per_number


def swapped(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """You return (bytes, flops). The FLOPs come first."""
    flops, size = attention_cost(n_q, n_k, d_k, d_v, bytes_per_number=bytes_per_number)
    return size, flops


def factored(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> list[int]:
    pairs = n_q * n_k
    return [pairs * (2 * d_k + 2 * d_v), pairs * bytes_per_number]


def in_floats(
    n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4
) -> tuple[float, float]:
    per_pair = 2.0 * d_k + 2.0 * d_v
    return float(n_q) * n_k * per_pair, float(n_q * n_k) * bytes_per_number


def measured(n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4) -> Pair:
    """Count on tensors without data."""
    weights = torch.empty(n_q, n_k, device="meta")
    answers = torch.empty(n_q, d_v, device="meta")
    flops = weights.numel() * 2 * d_k + answers.numel() * 2 * n_k
    return flops, weights.numel() * bytes_per_number


EXERCISE = Exercise(
    solution=attention_cost,
    chapter=CHAPTER,
    title="The price of n by n",
    points=2,
    minutes=5,
    difficulty=1,
    statement=(
        "Return the FLOPs of the two matrix products of attention and the bytes of its matrix of "
        "weights, for one head and one sequence. Leave out the scale and the softmax."
    ),
    example=(
        "Two queries, three keys, d_k = 4, d_v = 5: there are 6 scores of 4 multiplications and "
        "4 additions each, 48 FLOPs; and 2 x 5 answers of 3 multiplications and 3 additions each, "
        "60 FLOPs. Together 108. Six float32 weights take 24 bytes: (108, 24)."
    ),
    conventions=(
        "One multiplication and one addition per term are 2 FLOPs; papers that count "
        "multiply-adds give half of that.",
        "Bytes: one n_q by n_k matrix, `bytes_per_number` bytes each; q, k, v and the answers are "
        "not counted.",
    ),
    hints=(
        "How many pairs of a query and a key are there, and how many terms has the score of one "
        "pair?",
        "The second product takes (n_q, n_k) times (n_k, d_v).",
    ),
    cases=CASES,
    mistakes=(
        once_per_term,
        exact_additions,
        scores_only,
        values_only,
        key_width_twice,
        value_width_twice,
        queries_squared,
        keys_squared,
        widths_multiplied,
        linear,
        softmax_counted,
        scale_and_softmax_counted,
        second_sum_forgotten,
        counted_in_numbers,
        always_four,
        counted_in_bits,
        scores_and_weights,
        inputs_too,
        output_memory,
        swapped,
    ),
    alternatives=(factored, in_floats, measured),
)
