"""Exercise: hide the padding behind each sequence of a batch."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_03 import CHAPTER
from autograder.inputs import integer, sizes
from autograder.slips import as_numbers, changed_in_place
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere
from autograder.wire import call
from solutions.masks import padding_mask


def _trial(lengths: Tensor, n_k: int) -> Trial:
    of = {"B": len(lengths), "1": 1, "M": n_k}
    return Trial(call(lengths, n_k), f"lengths {lengths.tolist()}, n_k = {n_k}", of, "B 1 1 M")


def _drawn(rng: Generator, batch: int, n_k: int) -> Trial:
    return _trial(torch.randint(1, n_k, (batch,), generator=rng), n_k)


def unequal(rng: Generator) -> Iterator[Trial]:
    for _ in range(2):
        of = sizes(rng, "B M")
        lengths = torch.arange(of["B"]) % (of["M"] - 1) + 1  # short ones and long ones
        yield _trial(lengths[torch.randperm(of["B"], generator=rng)], of["M"])


def full_and_empty(rng: Generator) -> Iterator[Trial]:
    n_k = integer(rng, 4, 9)
    yield _trial(torch.tensor([n_k, 0, integer(rng, 1, n_k - 1)]), n_k)
    yield _trial(torch.tensor([n_k, n_k]), n_k)


def all_short(rng: Generator) -> Iterator[Trial]:
    longest = integer(rng, 2, 5)
    yield _trial(torch.tensor([1, longest, 2, 1]), longest + integer(rng, 2, 4))


def special_sizes(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 3, 9)
    yield _drawn(rng, n, n)
    yield _drawn(rng, 1, n)
    yield _trial(torch.tensor([1, 0, 1]), 1)


def devices(rng: Generator) -> Iterator[Trial]:
    (trial, *_) = unequal(rng)
    yield trial
    yield elsewhere(trial)


CASES = (
    Case("real keys are visible, padding is hidden", unequal, values, weight=2),
    Case("sequences may be full or empty", full_and_empty, values),
    Case("all may be shorter than the padded length", all_short, values),
    Case("works where sizes are equal, or 1", special_sizes, values),
    Case("the lengths are not changed", unequal, inputs_kept),
    Case("works on whatever device the lengths are on", devices, values),
)


def inverted(lengths: Tensor, n_k: int) -> Tensor:
    """True and False are exchanged: you mark the padding. Here True means "may attend"."""
    return ~padding_mask(lengths, n_k)


def key_padding_mask(lengths: Tensor, n_k: int) -> Tensor:
    """This is the `key_padding_mask` of `nn.MultiheadAttention`: shape (B, M), and True hides. Here
    True means "may attend", and there is an axis of size 1 for heads and one for queries.
    """
    return ~padding_mask(lengths, n_k)[:, 0, 0]


def one_too_many(lengths: Tensor, n_k: int) -> Tensor:
    """One padded key is left visible in each sequence. With a length of 1, which position is real?
    Positions are counted from 0.
    """
    return padding_mask(lengths + 1, n_k)


def one_too_few(lengths: Tensor, n_k: int) -> Tensor:
    """The last real key of each sequence is hidden. Positions are counted from 0."""
    return padding_mask(lengths - 1, n_k)


def two_axes(lengths: Tensor, n_k: int) -> Tensor:
    """The shape is (B, M). Next to a causal mask (L, M), B would fall on the queries. Keep an axis
    of size 1 for the heads and one for the queries.
    """
    return padding_mask(lengths, n_k)[:, 0, 0]


def three_axes(lengths: Tensor, n_k: int) -> Tensor:
    """The shape is (B, 1, M). Next to scores (B, H, L, M), B would fall on the heads: there should
    be two axes of size 1.
    """
    return padding_mask(lengths, n_k)[:, 0]


def batch_on_the_queries(lengths: Tensor, n_k: int) -> Tensor:
    """The shape is (1, 1, B, M): the batch lies on the axis of the queries. Its axis is the first,
    and the two of size 1 come after it.
    """
    return padding_mask(lengths, n_k).transpose(0, 2)


def hides_queries(lengths: Tensor, n_k: int) -> Tensor:
    """Positions are on the axis of the queries. It is padded *keys* that nobody should listen to,
    and their axis is the last.
    """
    return padding_mask(lengths, n_k).transpose(-2, -1)


def repeated(lengths: Tensor, n_k: int) -> Tensor:
    """The mask is repeated for every query. Leave that axis at size 1: the number of queries is not
    known here, and broadcasting repeats it.
    """
    return padding_mask(lengths, n_k).expand(-1, -1, n_k, -1)


def batch_last(lengths: Tensor, n_k: int) -> Tensor:
    """The batch is on the last axis and the keys are on the first."""
    return padding_mask(lengths, n_k).transpose(0, 3)


def padded_on_the_left(lengths: Tensor, n_k: int) -> Tensor:
    """You hide the beginning: this is for padding on the left. Here it stands at the end."""
    return padding_mask(lengths, n_k).flip(-1)


def up_to_the_longest(lengths: Tensor, n_k: int) -> Tensor:
    """The mask ends with the longest sequence. All were padded to n_k, which may be more."""
    return padding_mask(lengths, int(lengths.max()))


def same_for_all(lengths: Tensor, n_k: int) -> Tensor:
    """All sequences get the mask of the longest. Each has a length of its own."""
    return padding_mask(lengths.amax().expand(len(lengths)), n_k)


def only_the_last(lengths: Tensor, n_k: int) -> Tensor:
    """One key of each sequence is visible. All real ones should be."""
    positions = torch.arange(n_k, device=lengths.device)
    return positions == lengths.reshape(-1, 1, 1, 1) - 1


def additive(lengths: Tensor, n_k: int) -> Tensor:
    """This is an additive mask, of 0 and -inf. Asked are booleans."""
    mask = padding_mask(lengths, n_k)
    return torch.zeros_like(mask, dtype=torch.float32).masked_fill(~mask, float("-inf"))


def positions_on_the_cpu(lengths: Tensor, n_k: int) -> Tensor:
    """The positions are made on the CPU. Make them where the lengths are:
    `device=lengths.device`.
    """
    return torch.arange(n_k) < lengths.reshape(-1, 1, 1, 1)


def by_view(lengths: Tensor, n_k: int) -> Tensor:
    steps = torch.arange(n_k, device=lengths.device).expand(len(lengths), n_k)
    return (steps < lengths.unsqueeze(1)).view(-1, 1, 1, n_k)


def by_counting(lengths: Tensor, n_k: int) -> Tensor:
    ones = torch.ones(lengths.shape[0], 1, 1, n_k, dtype=torch.long, device=lengths.device)
    return ones.cumsum(-1) <= lengths[:, None, None, None]


def by_filling(lengths: Tensor, n_k: int) -> Tensor:
    mask = torch.zeros(len(lengths), n_k, dtype=torch.bool, device=lengths.device)
    for row, length in zip(mask, lengths, strict=True):
        row[:length] = True
    return mask.unsqueeze(1).unsqueeze(2)


def by_lists(lengths: Tensor, n_k: int) -> Tensor:
    rows = [[[[m < length for m in range(n_k)]]] for length in lengths.tolist()]
    return torch.tensor(rows, device=lengths.device)


EXERCISE = Exercise(
    solution=padding_mask,
    chapter=CHAPTER,
    title="Hide the padding",
    points=2,
    minutes=5,
    difficulty=1,
    statement=(
        "Write `padding_mask(lengths, n_k)`. All sequences of a batch were filled up at the end to "
        "the length `n_k`; `lengths` says how many tokens of each are real. Return a mask that "
        "broadcasts over heads and queries."
    ),
    example=(
        "Lengths 1 and 3, padded to 3: the first sequence has one real key, the second has three. "
        "The rows are [True, False, False] and [True, True, True], in a tensor of shape "
        "(2, 1, 1, 3)."
    ),
    conventions=(
        'True means "may attend": it marks the real keys.',
        "The shape is (B, 1, 1, M), so that it fits scores of shape (B, H, L, M): the two axes of "
        "size 1 stand for heads and queries.",
        "Padding is at the end. A length may be 0, and all lengths may be smaller than n_k.",
        "The mask is on the device of the lengths.",
    ),
    hints=(
        "Number the positions of the keys from 0. Which of them are real in a sequence of length "
        "2?",
        "One comparison does it, if positions lie along the last axis and lengths along the first.",
        "`torch.arange`, and `None` or `reshape` for new axes of size 1.",
    ),
    cases=CASES,
    mistakes=(
        inverted,
        one_too_many,
        one_too_few,
        key_padding_mask,
        two_axes,
        three_axes,
        batch_on_the_queries,
        hides_queries,
        repeated,
        batch_last,
        padded_on_the_left,
        up_to_the_longest,
        same_for_all,
        only_the_last,
        *as_numbers(padding_mask),
        additive,
        positions_on_the_cpu,
        changed_in_place(padding_mask),
    ),
    alternatives=(by_view, by_counting, by_filling, by_lists),
)
