"""Exercise: (B, L, D) -> (B, H, L, K), the vector of each token cut into heads.

Out of scope: grouped heads (chapter 05).
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
from solutions.heads import split_heads


def _trial(x: Tensor, of: dict[str, int]) -> Trial:
    words = f"{described('x', 'B L D', of)}, heads = {of['H']}"
    return Trial(call(x, of["H"]), words, of, "B H L K")


def _drawn(rng: Generator, **fixed: int) -> Trial:
    of = sizes(rng, "B L H K") | fixed
    of["D"] = of["H"] * of["K"]
    return _trial(normal(rng, "B L D", of), of)


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


def not_in_order(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    of = dict(trial.sizes)
    yield _trial(normal(rng, "L D B", of).permute(2, 0, 1), of)


def integers(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    of = dict(trial.sizes)
    x = torch.randperm(of["B"] * of["L"] * of["D"], generator=rng)
    yield _trial(x.reshape(of["B"], of["L"], of["D"]), of)
    yield from in_dtypes(trial)


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)


def kept(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


CASES = (
    Case("each head gets its piece of every token", one_batch, values, weight=2),
    Case("works with one head, one entry, one token, one example", small, values),
    Case("works where all sizes are equal", equal_sizes, values),
    Case("works where x is not in order in memory", not_in_order, values),
    Case("the dtype of x is kept, also of integers", integers, values),
    Case("the gradient reaches x", gradients, values),
    Case("x itself is not changed", kept, inputs_kept),
    Case("works on whatever device x is on", devices, values),
)


def split_at_once(x: Tensor, heads: int) -> Tensor:
    """The axes are named (B, H, L, K) in one reshape. A reshape moves no number: the first head
    gets all entries of the first tokens. Cut each token's vector first, then exchange two axes.
    """
    return x.reshape(x.shape[0], heads, x.shape[1], -1)


def entry_by_entry(x: Tensor, heads: int) -> Tensor:
    """Head 0 gets every H-th entry of a token instead of the first K: the last axis was cut into
    (K, H), not into (H, K).
    """
    return x.reshape(*x.shape[:2], -1, heads).permute(0, 3, 1, 2)


def not_exchanged(x: Tensor, heads: int) -> Tensor:
    """The pieces are right, but the axes are (B, L, H, K). Heads come before tokens here, so that
    a head can be treated like an example of a batch. (Several fast kernels do keep heads third.)
    """
    return x.reshape(*x.shape[:2], heads, -1)


def exchanged_with_last(x: Tensor, heads: int) -> Tensor:
    """The pieces are right, but the token axis has changed places with the last one: count the axes
    of (B, L, H, K) from 0.
    """
    return x.reshape(*x.shape[:2], heads, -1).transpose(1, 3)


def heads_taken_for_width(x: Tensor, heads: int) -> Tensor:
    """You cut pieces of `heads` entries. `heads` says how many pieces there are, not how wide."""
    return x.reshape(*x.shape[:2], -1, heads).transpose(1, 2)


def heads_outside(x: Tensor, heads: int) -> Tensor:
    """The head axis is in front of the batch, (H, B, L, K). The batch comes first."""
    return torch.stack(x.chunk(heads, dim=-1))


def heads_last(x: Tensor, heads: int) -> Tensor:
    """The heads are stacked along the last axis, (B, L, K, H). Where should their axis be?"""
    return torch.stack(x.chunk(heads, dim=-1), dim=-1)


def folded(x: Tensor, heads: int) -> Tensor:
    """Batch and heads are folded into one axis, (B H, L, K). Here they stay two axes."""
    return split_heads(x, heads).flatten(0, 1)


def axis_lost(x: Tensor, heads: int) -> Tensor:
    """You squeeze: axes of size 1 get lost. With one example, one head or one token the result
    still has four axes.
    """
    return split_heads(x, heads).squeeze()


def in_a_tuple(x: Tensor, heads: int) -> tuple[Tensor, ...]:
    """You return the pieces one by one. Put them into one tensor with an axis for the heads."""
    return x.chunk(heads, dim=-1)


def first_example(x: Tensor, heads: int) -> Tensor:
    """Only the first example of the batch is split."""
    return split_heads(x[:1], heads)


def repeated(x: Tensor, heads: int) -> Tensor:
    """Every head gets the whole vector. Each should get its own piece of K = D / heads entries."""
    return x.unsqueeze(1).repeat(1, heads, 1, 1)


def tokens_shared_out(x: Tensor, heads: int) -> Tensor:
    """The tokens are shared out among the heads. Each head sees every token, but only a piece of
    its vector.
    """
    return torch.stack(x.tensor_split(heads, dim=1), dim=1)


def by_permute(x: Tensor, heads: int) -> Tensor:
    batch, length, width = x.shape
    return x.contiguous().view(batch, length, heads, width // heads).permute(0, 2, 1, 3)


def by_chunks(x: Tensor, heads: int) -> Tensor:
    return torch.stack(x.chunk(heads, dim=-1), dim=1).contiguous()


def by_slices(x: Tensor, heads: int) -> Tensor:
    size = x.size(-1) // heads
    out = x.new_empty(x.size(0), heads, x.size(1), size)
    for head in range(heads):
        out[:, head] = x[..., head * size : (head + 1) * size]
    return out


def by_unflatten(x: Tensor, heads: int) -> Tensor:
    return torch.einsum("blhk->bhlk", x.reshape(*x.shape[:2], heads, x.shape[2] // heads))


EXERCISE = Exercise(
    solution=split_heads,
    chapter=CHAPTER,
    title="Split into heads",
    points=2,
    minutes=6,
    difficulty=2,
    statement=(
        "After a projection each token has one long vector in which the heads lie next to each "
        "other. Cut it into one piece for each head, and give the heads an axis of their own, "
        "before the axis of the tokens."
    ),
    example=(
        "Two tokens with the vectors 0 1 2 3 and 4 5 6 7, and two heads. Head 0 gets the first "
        "half of each, 0 1 and 4 5; head 1 gets 2 3 and 6 7. The result has the shape "
        "(1, 2, 2, 2), and its entry [0, 1] is [[2, 3], [6, 7]]."
    ),
    conventions=(
        "Head 0 gets entries 0 to K - 1 of every token, head 1 the next K, and so on: with D = 6 "
        "and 2 heads, entry 3 of a token is entry 0 of head 1.",
        "D is a multiple of heads; K = D / heads.",
        "The result may share its memory with x.",
    ),
    hints=(
        "Write down the four sizes of the result, and those of x. Which axis is cut in two?",
        "Cutting the last axis in two gives (B, L, H, K). What is still different?",
        "One call that names axes anew, then one that exchanges two of them.",
    ),
    cases=CASES,
    mistakes=(
        split_at_once,
        entry_by_entry,
        not_exchanged,
        exchanged_with_last,
        heads_taken_for_width,
        heads_outside,
        heads_last,
        axis_lost,
        folded,
        in_a_tuple,
        first_example,
        repeated,
        tokens_shared_out,
        changed_in_place(split_heads),
        on_the_cpu(split_heads),
        always_float32(split_heads),
        cut_from_autograd(split_heads),
    ),
    alternatives=(by_permute, by_chunks, by_slices, by_unflatten),
)
