"""Exercise: how many weights has a layer of multi-head attention?

Out of scope: biases, and keys and values that heads share (chapter 05).
"""

from collections.abc import Iterator

from torch import Generator

from autograder.compare import values
from autograder.exercises.chapter_04 import CHAPTER
from autograder.inputs import integer, sizes
from autograder.spec import Case, Exercise, Trial
from autograder.wire import call
from solutions.heads import attention_parameters

NAMES = ("d_model", "heads", "d_k", "d_v")
Width = int | None


def _trial(*numbers: Width, **named: int) -> Trial:
    pairs = [*zip(NAMES, numbers, strict=False), *named.items()]
    words = ", ".join(f"{name} = {value}" for name, value in pairs)
    return Trial(call(*numbers, **named), words, returns="weights")


def _widths(rng: Generator) -> list[int]:
    """Draw d_model, heads, d_k, d_v: all different, and d_model is not heads times d_k."""
    of = sizes(rng, "H K W X")
    return [10 * of["H"] * of["X"], of["H"], 4 * of["K"] + 1, 4 * of["W"] + 3]


def usual(rng: Generator) -> Iterator[Trial]:
    for _ in range(2):
        d_model, heads, _, _ = _widths(rng)
        yield _trial(d_model, heads)


def any_widths(rng: Generator) -> Iterator[Trial]:
    yield _trial(*_widths(rng))
    yield _trial(*_widths(rng))


def key_width(rng: Generator) -> Iterator[Trial]:
    d_model, heads, d_k, _ = _widths(rng)
    yield _trial(d_model, heads, d_k)


def value_width(rng: Generator) -> Iterator[Trial]:
    d_model, heads, _, d_v = _widths(rng)
    yield _trial(d_model, heads, d_v=d_v)


def one_head(rng: Generator) -> Iterator[Trial]:
    d_model, _, d_k, d_v = _widths(rng)
    yield _trial(d_model, 1)
    yield _trial(d_model, 1, d_k, d_v)


def large(rng: Generator) -> Iterator[Trial]:
    yield _trial(1024 * integer(rng, 2, 9), 128, 128, 256)


CASES = (
    Case("the width of the model is shared out among heads", usual, values),
    Case("heads of any width", any_widths, values, weight=2),
    Case("only the width of keys is given", key_width, values),
    Case("only the width of values is given", value_width, values),
    Case("one head", one_head, values),
    Case("a layer of a large model", large, values),
)


def _filled(d_model: int, heads: int, d_k: Width, d_v: Width) -> tuple[int, int]:
    usual_width = d_model // heads
    return usual_width if d_k is None else d_k, usual_width if d_v is None else d_v


def no_output(d_model: int, heads: int, d_k: Width = None, d_v: Width = None) -> int:
    """Three kinds of matrices are counted. A fourth one mixes what the heads found."""
    d_k, d_v = _filled(d_model, heads, d_k, d_v)
    return d_model * heads * (2 * d_k + d_v)


def always_square(d_model: int, heads: int, d_k: Width = None, d_v: Width = None) -> int:
    """You count four square matrices. They are square only where heads times the width of a head
    is the width of the model.
    """
    return 4 * d_model**2


def one_head_counted(d_model: int, heads: int, d_k: Width = None, d_v: Width = None) -> int:
    """The matrices of one head are counted. Every head has its own."""
    return attention_parameters(d_model, heads, d_k, d_v) // heads


def square_output(d_model: int, heads: int, d_k: Width = None, d_v: Width = None) -> int:
    """The output matrix is counted as d_model by d_model. How long is the vector that comes in,
    when all heads are side by side?
    """
    d_k, d_v = _filled(d_model, heads, d_k, d_v)
    return d_model * heads * (2 * d_k + d_v) + d_model**2


def output_from_keys(d_model: int, heads: int, d_k: Width = None, d_v: Width = None) -> int:
    """The output matrix is counted with the width of keys. What the heads hand over are values."""
    d_k, d_v = _filled(d_model, heads, d_k, d_v)
    return d_model * heads * (3 * d_k + d_v)


def values_like_keys(d_model: int, heads: int, d_k: Width = None, d_v: Width = None) -> int:
    """Values are counted as wide as keys. They have a width of their own, d_v."""
    d_k, _ = _filled(d_model, heads, d_k, d_v)
    return 4 * d_model * heads * d_k


def value_width_after_keys(d_model: int, heads: int, d_k: Width = None, d_v: Width = None) -> int:
    """Where d_v is not given you take d_k for it, which some libraries do. Here None means d_model
    / heads for each of the two.
    """
    d_k, _ = _filled(d_model, heads, d_k, d_v)
    return attention_parameters(d_model, heads, d_k, d_k if d_v is None else d_v)


def keys_forgotten(d_model: int, heads: int, d_k: Width = None, d_v: Width = None) -> int:
    """One matrix of width d_k is counted for each head. Queries and keys have one each."""
    d_k, d_v = _filled(d_model, heads, d_k, d_v)
    return d_model * heads * (d_k + 2 * d_v)


def both_or_none(d_model: int, heads: int, d_k: Width = None, d_v: Width = None) -> int:
    """As soon as one width is missing, you take d_model / heads for both. Each may be given without
    the other.
    """
    if d_k is None or d_v is None:
        d_k, d_v = _filled(d_model, heads, None, None)
    return attention_parameters(d_model, heads, d_k, d_v)


def square_per_head(d_model: int, heads: int, d_k: Width = None, d_v: Width = None) -> int:
    """You count four square matrices for each head. Those of a head are narrow: d_model by d_k, or
    by d_v.
    """
    return 4 * heads * d_model**2


def all_of_one_shape(d_model: int, heads: int, d_k: Width = None, d_v: Width = None) -> int:
    """You count 3 h + 1 matrices of one shape. The output matrix is larger than the others, and the
    matrices of values are as wide as values.
    """
    d_k, _ = _filled(d_model, heads, d_k, d_v)
    return (3 * heads + 1) * d_model * d_k


def full_width(d_model: int, heads: int, d_k: Width = None, d_v: Width = None) -> int:
    """Where no width is given, every head gets the full width of the model. It gets a share."""
    d_k, d_v = (d_model if width is None else width for width in (d_k, d_v))
    return 2 * d_model * heads * (d_k + d_v)


def with_biases(d_model: int, heads: int, d_k: Width = None, d_v: Width = None) -> int:
    """Biases are counted too. The layers of this course have none unless it is said."""
    d_k, d_v = _filled(d_model, heads, d_k, d_v)
    return attention_parameters(d_model, heads, d_k, d_v) + heads * (2 * d_k + d_v) + d_model


def matrices_counted(d_model: int, heads: int, d_k: Width = None, d_v: Width = None) -> int:
    """You count matrices, not the numbers in them."""
    return 3 * heads + 1


def output_per_head(d_model: int, heads: int, d_k: Width = None, d_v: Width = None) -> int:
    """You count the whole output matrix once for each head. There is one, and each head has a block
    of it.
    """
    d_k, d_v = _filled(d_model, heads, d_k, d_v)
    return d_model * heads * (2 * d_k + d_v + heads * d_v)


def widths_per_layer(d_model: int, heads: int, d_k: Width = None, d_v: Width = None) -> int:
    """d_k and d_v are taken as the widths of all heads together. They are those of one head."""
    widths = (d_model if width is None else width for width in (d_k, d_v))
    return 2 * d_model * sum(widths)


def matrix_by_matrix(
    d_model: int, heads: int, d_k: int | None = None, d_v: int | None = None
) -> int:
    keys = d_model // heads if d_k is None else d_k
    hands = d_model // heads if d_v is None else d_v
    shapes = heads * [(d_model, keys), (d_model, keys), (d_model, hands)]
    shapes.append((heads * hands, d_model))
    return sum(rows * columns for rows, columns in shapes)


def with_or(d_model: int, heads: int, d_k: int | None = None, d_v: int | None = None) -> float:
    share = d_model / heads
    return 2 * heads * d_model * ((d_k or share) + (d_v or share))


EXERCISE = Exercise(
    solution=attention_parameters,
    chapter=CHAPTER,
    title="The weights of a layer",
    points=2,
    minutes=6,
    difficulty=2,
    statement=(
        "Count the numbers in all matrices of one layer of multi-head attention, for heads of any "
        "width. Large models do choose widths that are no share of the model's width."
    ),
    example=(
        "With d_model = 512 and 8 heads, a head is 512 / 8 = 64 wide. The queries of all heads "
        "take 8 x 512 x 64 = 262,144 numbers, and so do keys, values and the output matrix: "
        "1,048,576 together."
    ),
    conventions=(
        "Queries and keys are d_k wide, values d_v; a width that is not given is d_model / heads. "
        "Each may be given without the other: with d_model = 20, 2 heads and d_k = 3, values are "
        "10 wide.",
        "d_model is a multiple of heads where a width is not given.",
        "No biases.",
    ),
    hints=(
        "Go through the table with the four kinds of matrices: how many, and which shape?",
        "The output matrix takes the merged vector of all heads. How long is that?",
    ),
    cases=CASES,
    mistakes=(
        no_output,
        always_square,
        one_head_counted,
        square_output,
        output_from_keys,
        values_like_keys,
        value_width_after_keys,
        keys_forgotten,
        both_or_none,
        square_per_head,
        all_of_one_shape,
        full_width,
        with_biases,
        matrices_counted,
        output_per_head,
        widths_per_layer,
    ),
    alternatives=(matrix_by_matrix, with_or),
)
