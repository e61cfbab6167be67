"""Exercise: (B, H, L, K) -> (B, L, D), the way back from split_heads.

Out of scope: the output matrix, which comes after it.
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_04 import CHAPTER
from autograder.inputs import described, normal, sizes
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.heads import merge_heads


def _trial(x: Tensor, of: dict[str, int]) -> Trial:
    return Trial(call(x), described("x", "B H L K", of), of, "B L D")


def _drawn(rng: Generator, **fixed: int) -> Trial:
    of = sizes(rng, "B H L K") | fixed
    of["D"] = of["H"] * of["K"]
    return _trial(normal(rng, "B H L K", of), of)


def one_batch(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def small(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, H=1)
    yield _drawn(rng, K=1)
    yield _drawn(rng, L=1)
    yield _drawn(rng, B=1)


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    side = sizes(rng, "L")["L"]
    yield _drawn(rng, B=side, L=side, H=side, K=side)


def after_splitting(rng: Generator) -> Iterator[Trial]:
    of = dict(_drawn(rng).sizes)
    yield _trial(normal(rng, "B L H K", of).transpose(1, 2), of)  # as split_heads leaves it


def integers(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    of = dict(trial.sizes)
    shape = [of[letter] for letter in "BHLK"]
    yield _trial(torch.randperm(torch.Size(shape).numel(), generator=rng).reshape(shape), of)
    yield from in_dtypes(trial)


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)


def kept(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


CASES = (
    Case("the pieces of a token lie side by side again", one_batch, values, weight=2),
    Case("works with one head, one entry, one token, one example", small, values),
    Case("works where all sizes are equal", equal_sizes, values),
    Case("undoes splitting", after_splitting, values),
    Case("the dtype of x is kept, also of integers", integers, values),
    Case("the gradient reaches x", gradients, values),
    Case("x itself is not changed", kept, inputs_kept),
    Case("works on whatever device x is on", devices, values),
)


def merged_at_once(x: Tensor) -> Tensor:
    """The shape is right, but one reshape does it all, and a reshape moves no number: pieces of
    different tokens of one head end up side by side. Exchange two axes first.
    """
    return x.reshape(x.shape[0], x.shape[2], -1)


def entry_by_entry(x: Tensor) -> Tensor:
    """The entries of the heads are interleaved: first entry 0 of every head, then entry 1. All
    entries of head 0 come first.
    """
    return x.permute(0, 2, 3, 1).flatten(-2)


def view_after_exchange(x: Tensor) -> Tensor:
    """After an exchange of axes the numbers are not in order in memory, and `view` refuses to work
    on that. `reshape` copies where it must.
    """
    return x.transpose(1, 2).view(x.shape[0], x.shape[2], -1)


def not_merged(x: Tensor) -> Tensor:
    """The axes are exchanged, but there are still four: heads and entries should become one."""
    return x.transpose(1, 2)


def not_exchanged(x: Tensor) -> Tensor:
    """The last two axes are merged as they come: you get one long row for each head. Tokens and
    heads have to change places before.
    """
    return x.flatten(-2)


def under_each_other(x: Tensor) -> Tensor:
    """The heads are put one under the other, (B, H L, K). They belong side by side."""
    return x.flatten(1, 2)


def exchanged_with_last(x: Tensor) -> Tensor:
    """Heads and entries have changed places, where heads and tokens should: count the axes of
    (B, H, L, K) from 0.
    """
    return x.transpose(1, 3).flatten(-2)


def added(x: Tensor) -> Tensor:
    """You add the heads up. They are put side by side; what adds them is the output matrix that
    comes later.
    """
    return x.sum(1)


def averaged(x: Tensor) -> Tensor:
    """You average the heads. They are put side by side: D is H times K."""
    return x.mean(1, dtype=x.dtype if x.is_floating_point() else torch.float32)


def heads_backwards(x: Tensor) -> Tensor:
    """The last head comes first. Which one has the first K entries?"""
    return merge_heads(x.flip(1))


def first_example(x: Tensor) -> Tensor:
    """Only the first example of the batch is merged."""
    return merge_heads(x[:1])


def batch_lost(x: Tensor) -> Tensor:
    """The axis of size 1 that you squeeze away is the batch, or a head, or a token."""
    return merge_heads(x).squeeze()


def by_cat(x: Tensor) -> Tensor:
    return torch.cat(x.unbind(1), dim=-1)


def by_permute(x: Tensor) -> Tensor:
    batch, heads, length, width = x.size()
    return x.permute(0, 2, 1, 3).contiguous().view(batch, length, heads * width)


def by_einsum(x: Tensor) -> Tensor:
    return torch.einsum("bhlk->blhk", x).reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])


def by_slices(x: Tensor) -> Tensor:
    size = x.shape[-1]
    out = x.new_zeros(x.shape[0], x.shape[2], x.shape[1] * size)
    for head in range(x.shape[1]):
        out[..., head * size : (head + 1) * size] = x[:, head]
    return out


EXERCISE = Exercise(
    solution=merge_heads,
    chapter=CHAPTER,
    title="Merge the heads",
    points=2,
    minutes=5,
    difficulty=2,
    statement=(
        "When every head has its answers, a token's pieces are scattered over the heads. Put them "
        "side by side into one vector for each token again: the way back from `split_heads`."
    ),
    example=(
        "Two heads, two tokens, two entries. Head 0 found 0 1 for the first token and 2 3 for the "
        "second; head 1 found 4 5 and 6 7. Merged, the first token has 0 1 4 5 and the second "
        "2 3 6 7."
    ),
    conventions=(
        "Head 0 comes first in the vector: with K = 3, entry 1 of head 2 becomes entry 7.",
        "The result may share its memory with x.",
    ),
    hints=(
        "Which two axes of (B, H, L, K) have to be neighbours before they can become one?",
        "Do the steps of `split_heads` backwards, in the opposite order.",
        "If `view` complains about strides, there is a call that copies where it has to.",
    ),
    cases=CASES,
    mistakes=(
        merged_at_once,
        entry_by_entry,
        view_after_exchange,
        not_merged,
        not_exchanged,
        under_each_other,
        exchanged_with_last,
        added,
        averaged,
        heads_backwards,
        first_example,
        batch_lost,
        changed_in_place(merge_heads),
        on_the_cpu(merge_heads),
        always_float32(merge_heads),
        cut_from_autograd(merge_heads),
    ),
    alternatives=(by_cat, by_permute, by_einsum, by_slices),
)
