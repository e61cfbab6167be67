"""Exercise: reorder the rows of a projection for the other layout of RoPE."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_06 import CHAPTER
from autograder.inputs import described, integer, normal
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.rotary import interleaved_to_half_split

SHAPES = ((2, 3), (2, 5), (3, 4), (3, 5), (4, 3), (4, 5), (5, 3), (5, 4))  # heads, pairs


def _trial(weight: Tensor, heads: int) -> Trial:
    of = {"D": len(weight)}
    words = f"{described('weight', 'D D', of)}, heads = {heads}"
    return Trial(call(weight, heads), words, of, "D D")


def _drawn(rng: Generator, heads: int, pairs: int) -> Trial:
    of = {"D": 2 * heads * pairs}
    return _trial(normal(rng, "D D", of), heads)


def _any(rng: Generator) -> Trial:
    return _drawn(rng, *SHAPES[integer(rng, 0, len(SHAPES) - 1)])


def several_heads(rng: Generator) -> Iterator[Trial]:
    yield _any(rng)
    yield _any(rng)


def one_head(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 1, integer(rng, 3, 6))


def narrow_heads(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, integer(rng, 3, 6), 1)
    yield _drawn(rng, integer(rng, 3, 6), 2)


def not_in_order(rng: Generator) -> Iterator[Trial]:
    trial = _any(rng)
    weight, heads = trial.request.calls[0].args
    yield _trial(weight.mT, heads)


def integers(rng: Generator) -> Iterator[Trial]:
    trial = _any(rng)
    weight, heads = trial.request.calls[0].args
    yield _trial(torch.arange(weight.numel()).reshape(weight.shape), heads)
    yield from in_dtypes(trial)


def exactly(rng: Generator) -> Iterator[Trial]:
    """Numbers that float32 does not have."""
    weight, heads = _drawn(rng, 2, 3).request.calls[0].args
    yield _trial(2**40 + torch.arange(weight.numel()).reshape(weight.shape), heads)
    yield _trial(1e200 * weight.double(), heads)


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_any(rng), rng)


def kept(rng: Generator) -> Iterator[Trial]:
    yield _any(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_any(rng))


CASES = (
    Case("in each head, first entries before second ones", several_heads, values, weight=2),
    Case("works with one head", one_head, values),
    Case("works for heads with one pair or two", narrow_heads, values),
    Case("works where the matrix is not in order in memory", not_in_order, values),
    Case("the dtype is kept, also of integers", integers, values),
    Case("every number comes back as it was", exactly, values),
    Case("the gradient reaches the matrix", gradients, values),
    Case("the matrix itself is not changed", kept, inputs_kept),
    Case("works on whatever device the matrix is on", devices, values),
)


def _rows(weight: Tensor, *shape: int) -> Tensor:
    """Cut the axis of the rows into several."""
    return weight.reshape(*shape, weight.shape[-1])


def back_again(weight: Tensor, heads: int) -> Tensor:
    """You go the other way, from halves to neighbours. For three pairs the rows of a head are now 0
    3 1 4 2 5; asked is 0 2 4 1 3 5.
    """
    return _rows(weight, heads, 2, -1).transpose(1, 2).flatten(0, 2)


def heads_ignored(weight: Tensor, heads: int) -> Tensor:
    """Rows move from one head to another: the whole matrix is reordered as if it were one head. Do
    it within each head.
    """
    return interleaved_to_half_split(weight, 1)


def columns(weight: Tensor, heads: int) -> Tensor:
    """The columns are reordered. In `nn.Linear` row r of the weight makes entry r of the query."""
    return interleaved_to_half_split(weight.mT, heads).mT


def both(weight: Tensor, heads: int) -> Tensor:
    """Rows and columns are reordered. What comes in, x, has not changed: only the rows."""
    return columns(interleaved_to_half_split(weight, heads), heads)


def second_ones_first(weight: Tensor, heads: int) -> Tensor:
    """The second entries of the pairs come before the first ones. Exchange the two."""
    return _rows(weight, heads, -1, 2).flip(2).transpose(1, 2).flatten(0, 2)


def heads_by_turns(weight: Tensor, heads: int) -> Tensor:
    """Rows are dealt out to the heads by turns: row 0 to head 0, row 1 to head 1. Head 0 owns the
    first K rows, all next to each other.
    """
    return _rows(weight, -1, 2, heads).transpose(0, 1).flatten(0, 2)


def heads_for_width(weight: Tensor, heads: int) -> Tensor:
    """`heads` is taken for the width of a head. It says how many there are."""
    return interleaved_to_half_split(weight, len(weight) // heads)


def halves_swapped(weight: Tensor, heads: int) -> Tensor:
    """The two halves of each head have changed places. Every second row belongs in front."""
    return _rows(weight, heads, 2, -1).flip(1).flatten(0, 2)


def unchanged(weight: Tensor, heads: int) -> Tensor:
    """The rows are in the order in which they came. A reshape alone moves nothing."""
    return weight.clone()


def transposed(weight: Tensor, heads: int) -> Tensor:
    """The order of the rows is right, but the matrix is transposed."""
    return interleaved_to_half_split(weight, heads).mT


def cut_in_heads(weight: Tensor, heads: int) -> Tensor:
    """The result still has an axis for the heads. It is (D, D), as what came in."""
    return _rows(interleaved_to_half_split(weight, heads), heads, -1)


def pairs_swapped(weight: Tensor, heads: int) -> Tensor:
    """The two entries of each pair have changed places, and the pairs stay where they are."""
    return _rows(weight, -1, 2).flip(1).flatten(0, 1)


def first_head_alone(weight: Tensor, heads: int) -> Tensor:
    """Only the first head is reordered. All have the same layout."""
    width = len(weight) // heads
    return torch.cat([interleaved_to_half_split(weight[:width], 1), weight[width:]])


def order_alone(weight: Tensor, heads: int) -> Tensor:
    """You return the order of the rows. Use it: the matrix is asked."""
    return interleaved_to_half_split(
        torch.arange(len(weight), device=weight.device)[:, None], heads
    )


def through_float32(weight: Tensor, heads: int) -> Tensor:
    """The numbers pass through float32 on their way: large integers and float64 come back changed.
    Rows only move; no dtype is needed for that.
    """
    return interleaved_to_half_split(weight.float(), heads).to(weight.dtype)


def by_view(weight: Tensor, heads: int) -> Tensor:
    """As conversion scripts do."""
    rows, inner = weight.shape
    pieces = weight.reshape(heads, rows // heads // 2, 2, inner)
    return pieces.transpose(1, 2).reshape(rows, inner)


def by_index(weight: Tensor, heads: int) -> Tensor:
    width = weight.size(0) // heads
    order = [
        head * width + entry
        for head in range(heads)
        for entry in (*range(0, width, 2), *range(1, width, 2))
    ]
    return weight[order]


def head_by_head(weight: Tensor, heads: int) -> Tensor:
    pieces = [torch.cat([head[::2], head[1::2]]) for head in weight.chunk(heads)]
    return torch.cat(pieces)


def by_gather(weight: Tensor, heads: int) -> Tensor:
    rows = torch.arange(len(weight), device=weight.device).view(heads, -1, 2)
    return weight.index_select(0, rows.permute(0, 2, 1).reshape(-1))


EXERCISE = Exercise(
    solution=interleaved_to_half_split,
    chapter=CHAPTER,
    title="From one layout to the other",
    points=2,
    minutes=8,
    difficulty=3,
    statement=(
        "A model was trained with pairs of neighbours. It is to run in code that pairs entry i "
        "with entry i + K/2. Reorder the rows of its query or key matrix, so that all scores stay "
        "what they were."
    ),
    example=(
        "One head of width 6 has the pairs (0, 1), (2, 3) and (4, 5). In the other layout they "
        "are (0, 3), (1, 4) and (2, 5). So the first entries 0, 2, 4 come first, and then the "
        "second ones 1, 3, 5."
    ),
    conventions=(
        "The weight is laid out as in `nn.Linear`: row r makes entry r of all queries. Head 0 owns "
        "the first K rows, head 1 the next K.",
        "With 2 heads of width 4 the new order of the rows is 0, 2, 1, 3, 4, 6, 5, 7.",
        "K is even. Only the order changes: every number stays, to the last bit, and so do shape, "
        "dtype and device.",
    ),
    hints=(
        "Do it for one head first: which rows come first, and how can a slice take them?",
        "With the rows split into axes for heads, pairs and the two of a pair, the answer is an "
        "exchange of two axes.",
        "Afterwards join the axes again, in their new order.",
    ),
    cases=CASES,
    mistakes=(
        back_again,
        heads_ignored,
        columns,
        both,
        second_ones_first,
        heads_by_turns,
        heads_for_width,
        halves_swapped,
        unchanged,
        transposed,
        cut_in_heads,
        pairs_swapped,
        first_head_alone,
        order_alone,
        through_float32,
        on_the_cpu(interleaved_to_half_split),
        always_float32(interleaved_to_half_split),
        cut_from_autograd(interleaved_to_half_split),
        changed_in_place(interleaved_to_half_split),
    ),
    alternatives=(by_view, by_index, head_by_head, by_gather),
)
