"""Exercise: bytes of all keys and values of a model.

Out of scope: weights and activations (chapter 12), windows (chapter 10).
"""

import math
from collections.abc import Iterator

import torch
from torch import Generator

from autograder.compare import values
from autograder.exercises.chapter_05 import CHAPTER
from autograder.inputs import integer
from autograder.spec import Case, Exercise, Trial
from autograder.wire import call
from solutions.cache import kv_cache_bytes

NAMES = ("layers", "kv_heads", "head_width", "tokens")


def _trial(*numbers: int, **options: int) -> Trial:
    pairs = [*zip(NAMES, numbers, strict=True), *options.items()]
    words = ", ".join(f"{name} = {value}" for name, value in pairs)
    return Trial(call(*numbers, **options), words)


def _sizes(rng: Generator) -> list[int]:
    return (torch.randperm(37, generator=rng)[: len(NAMES)] + 3).tolist()


def four_numbers(rng: Generator) -> Iterator[Trial]:
    yield _trial(*_sizes(rng))
    yield _trial(*(7 * n for n in _sizes(rng)))


def many_sequences(rng: Generator) -> Iterator[Trial]:
    yield _trial(*_sizes(rng), batch=integer(rng, 2, 9))


def other_numbers(rng: Generator) -> Iterator[Trial]:
    yield _trial(*_sizes(rng), bytes_per_number=4)
    yield _trial(*_sizes(rng), bytes_per_number=1)
    yield _trial(*_sizes(rng), batch=integer(rng, 2, 4), bytes_per_number=integer(rng, 5, 8))


def ones(rng: Generator) -> Iterator[Trial]:
    for i in range(len(NAMES)):
        numbers = _sizes(rng)
        numbers[i] = 1
        yield _trial(*numbers)


def large_model(rng: Generator) -> Iterator[Trial]:
    yield _trial(61, 8, 128, 1000 * integer(rng, 300, 999) + 7, batch=64)  # odd part: over 2**24


CASES = (
    Case("four different sizes, all others as usual", four_numbers, values, weight=2),
    Case("many sequences at a time", many_sequences, values),
    Case("numbers of other sizes than 2 bytes", other_numbers, values),
    Case("a single layer, head, entry or token", ones, values),
    Case("a large model and terabytes, to the byte", large_model, values),
)


def values_forgotten(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> int:  # fmt: skip
    """You count the keys alone. Each has a value of the same size."""
    return layers * kv_heads * head_width * tokens * batch * bytes_per_number


def queries_too(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> int:  # fmt: skip
    """You count three things for each token. Queries are used once and not kept."""
    return 3 * layers * kv_heads * head_width * tokens * batch * bytes_per_number


def batch_forgotten(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> int:  # fmt: skip
    """`batch` is not used. Every sequence has keys and values of its own."""
    return 2 * layers * kv_heads * head_width * tokens * bytes_per_number


def always_two_bytes(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> int:  # fmt: skip
    """Every number takes 2 bytes in your count, whatever `bytes_per_number` says."""
    return kv_cache_bytes(layers, kv_heads, head_width, tokens, batch=batch)


def in_numbers(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> int:  # fmt: skip
    """You count numbers. How many bytes does one take?"""
    return 2 * layers * kv_heads * head_width * tokens * batch


def in_bits(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> int:  # fmt: skip
    """Your count is in bits: 8 times the bytes."""
    return 16 * layers * kv_heads * head_width * tokens * batch * bytes_per_number


def in_kibibytes(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> float:  # fmt: skip
    """Your count is in KiB, 1024 bytes each. Asked is the number of bytes."""
    return 2 * layers * kv_heads * head_width * tokens * batch * bytes_per_number / 1024


def one_layer(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> int:  # fmt: skip
    """You count one layer. Each layer has projections, and so keys and values, of its own."""
    return 2 * kv_heads * head_width * tokens * batch * bytes_per_number


def one_head(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> int:  # fmt: skip
    """You count one key/value head, as if `head_width` were the width of all of them."""
    return 2 * layers * head_width * tokens * batch * bytes_per_number


def width_forgotten(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> int:  # fmt: skip
    """You count keys and values. How many numbers does each of them consist of?"""
    return 2 * layers * kv_heads * tokens * batch * bytes_per_number


def one_token(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> int:  # fmt: skip
    """You count what one token takes. All tokens so far are kept."""
    return 2 * layers * kv_heads * head_width * batch * bytes_per_number


def tokens_squared(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> int:  # fmt: skip
    """Your count grows with the square of the tokens. That is true of scores, which are not kept;
    keys and values are one for each token.
    """
    return 2 * layers * kv_heads * head_width * tokens**2 * batch * bytes_per_number


def scores_too(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> int:  # fmt: skip
    """A matrix of weights, tokens by tokens, is in your count. No later token needs old weights."""
    numbers = layers * kv_heads * tokens * (2 * head_width + tokens) * batch
    return numbers * bytes_per_number


def last_token_left_out(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> int:  # fmt: skip
    """You count one token less. `tokens` is the number that are kept."""
    return 2 * layers * kv_heads * head_width * (tokens - 1) * batch * bytes_per_number


def single_precision(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> int:  # fmt: skip
    """The first digits are right and the last ones are not: float32 has 24 binary digits, about 7
    decimal ones. Count in whole numbers of Python, or in float64.
    """
    factors = [2, layers, kv_heads, head_width, tokens, batch, bytes_per_number]
    return int(torch.tensor(factors, dtype=torch.float32).prod())


def by_product(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> int:  # fmt: skip
    return math.prod((2, layers, kv_heads, head_width, tokens, batch, bytes_per_number))


def measured(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> int:  # fmt: skip
    """Count on a tensor without data."""
    keys = torch.empty(batch, kv_heads, tokens, head_width, device="meta")
    return layers * 2 * keys.numel() * bytes_per_number


def in_floats(
    layers: int, kv_heads: int, head_width: int, tokens: int, *, batch: int = 1,
    bytes_per_number: int = 2,
) -> float:  # fmt: skip
    per_token = 2.0 * layers * kv_heads * head_width * bytes_per_number
    return per_token * float(tokens * batch)


EXERCISE = Exercise(
    solution=kv_cache_bytes,
    chapter=CHAPTER,
    title="The price of memory",
    points=1,
    minutes=4,
    difficulty=1,
    statement=(
        "How many bytes do the keys and values of a whole model take, in all layers and for all "
        "sequences that it works on? Return the number of bytes."
    ),
    example=(
        "Llama 3 8B, one token: 32 layers with 8 key/value heads each make 256 keys of 128 "
        "numbers, and 256 values. Together 65,536 numbers of 2 bytes, 131,072 bytes: 128 KiB."
    ),
    conventions=(
        "`kv_heads` counts key/value heads, not query heads: 8 of Llama 3 8B, not 32.",
        "Keys and values are equally wide. Nothing else is counted: no weights, no scores.",
        "Bytes, not bits, KiB or numbers; in bfloat16 a number takes 2.",
    ),
    hints=(
        "How many numbers does one token take in one layer?",
        "There are keys and values.",
        "All factors multiply.",
    ),
    cases=CASES,
    mistakes=(
        values_forgotten,
        queries_too,
        batch_forgotten,
        always_two_bytes,
        in_numbers,
        in_bits,
        in_kibibytes,
        one_layer,
        one_head,
        width_forgotten,
        one_token,
        tokens_squared,
        scores_too,
        last_token_left_out,
        single_precision,
    ),
    alternatives=(by_product, measured, in_floats),
)
