"""Exercise: which keys a query may see if it must not see the future.

Out of scope: more queries than keys.
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import values
from autograder.exercises.chapter_03 import CHAPTER
from autograder.inputs import sizes
from autograder.slips import as_numbers
from autograder.spec import Case, Exercise, Trial
from autograder.wire import call
from solutions.masks import causal_mask

Device = torch.device | str


def _trial(n_q: int, n_k: int, *device: str) -> Trial:
    words = f"n_q = {n_q}, n_k = {n_k}" + "".join(f", device {name}" for name in device)
    return Trial(call(n_q, n_k, *device), words, {"L": n_q, "M": n_k}, "L M")


def _ordered(rng: Generator) -> list[int]:
    return sorted(sizes(rng, "L M").values())


def as_many(rng: Generator) -> Iterator[Trial]:
    for n in sizes(rng, "L M").values():
        yield _trial(n, n)


def fewer_queries(rng: Generator) -> Iterator[Trial]:
    n_q, n_k = _ordered(rng)
    yield _trial(n_q, n_k)
    yield _trial(n_q, 2 * n_q + 1)


def one_query(rng: Generator) -> Iterator[Trial]:
    for n_k in (*_ordered(rng), 1):
        yield _trial(1, n_k)


def devices(rng: Generator) -> Iterator[Trial]:
    n = max(_ordered(rng))
    yield _trial(n, n, "cpu")
    yield _trial(n, n, "meta")


CASES = (
    Case("no query sees a later key, each sees its own", as_many, values, weight=2),
    Case("fewer queries are the last of the sequence", fewer_queries, values, weight=2),
    Case("a single query sees every key", one_query, values),
    Case("the mask is made on the device that is asked for", devices, values),
)


def _ones(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    return torch.ones(n_q, n_k, dtype=torch.bool, device=device)


def top_left(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    """Your triangle starts in the upper left corner, as `is_causal` of torch's attention has it.
    Here the queries are the last of the sequence: which keys does the last one see?
    """
    return _ones(n_q, n_k, device).tril()


def strict(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    """No token sees itself. It may: what it predicts is the next one."""
    return causal_mask(n_q, n_k, device).tril(n_k - n_q - 1)


def one_too_many(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    """Each query sees one key too many, the next token: just what it has to predict."""
    return _ones(n_q, n_k, device).tril(n_k - n_q + 1)


def inverted(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    """True and False are exchanged: this is the mask of `nn.MultiheadAttention`, in which True
    hides. In this course True means "may attend".
    """
    return ~causal_mask(n_q, n_k, device)


def transposed(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    """Each query sees itself and the future instead of itself and the past: the other triangle."""
    return _ones(n_q, n_k, device).triu(n_k - n_q)


def upper_from_top_left(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    """This is the upper triangle, which marks what to hide, and it starts in the upper left corner.
    Mark what may be seen, from the lower right corner.
    """
    return _ones(n_q, n_k, device).triu(1)


def strict_from_top_left(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    """Your triangle starts in the upper left corner and leaves out the diagonal. A token may see
    itself, and the last query sees every key.
    """
    return _ones(n_q, n_k, device).tril(-1)


def moved_the_other_way(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    """The diagonal has moved to the wrong side: with more keys than queries, queries should see
    more, not less. What is the position of query 0?
    """
    return _ones(n_q, n_k, device).tril(n_q - n_k)


def everything(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    """Nothing is hidden: every query sees every key."""
    return _ones(n_q, n_k, device)


def keys_first(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    """The axes are exchanged: a row is a query, a column is a key."""
    return causal_mask(n_q, n_k, device).T


def square(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    """The mask is square, with a row for every key. There should be a row for each query only."""
    return causal_mask(n_k, n_k, device)


def additive(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    """This is an additive mask, of 0 and -inf. Asked are booleans, True where a query may look."""
    hidden = ~causal_mask(n_q, n_k, device)
    return torch.zeros(n_q, n_k, device=device).masked_fill(hidden, float("-inf"))


def more_axes(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    """The mask has axes for the batch and for heads. Two axes are enough, (L, M): the others come
    by broadcasting.
    """
    return causal_mask(n_q, n_k, device)[None, None]


def device_ignored(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    """The mask is made on the CPU whatever `device` says."""
    return causal_mask(n_q, n_k)


def by_comparison(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    positions = torch.arange(n_k - n_q, n_k, device=device)
    return torch.arange(n_k, device=device) <= positions.unsqueeze(1)


def not_the_future(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    return torch.triu(torch.ones((n_q, n_k), device=device), diagonal=n_k - n_q + 1) == 0


def history_in_front(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    """A full block for what was before, then a triangle (as in Llama's code)."""
    history = torch.ones(n_q, n_k - n_q, dtype=torch.bool, device=device)
    square_part = torch.tril(torch.ones(n_q, n_q, dtype=torch.bool, device=device))
    return torch.hstack([history, square_part])


def rows_of_a_square(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    return torch.ones(n_k, n_k, device=device).tril().bool()[-n_q:]


def pair_by_pair(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    rows = [[j - i <= n_k - n_q for j in range(n_k)] for i in range(n_q)]
    return torch.tensor(rows, device=device)


def row_by_row(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    mask = torch.zeros(n_q, n_k, device=device).bool()
    for i in range(n_q):
        mask[i, : n_k - n_q + i + 1] = True
    return mask


EXERCISE = Exercise(
    solution=causal_mask,
    chapter=CHAPTER,
    title="The causal mask",
    points=2,
    minutes=6,
    difficulty=1,
    statement=(
        "Write `causal_mask(n_q, n_k, device)`: a table of booleans, True where a query may look. "
        "There may be fewer queries than keys, when a sequence goes on and the earlier tokens are "
        "only there as keys. The queries are then the last ones of the sequence. Ready-made causal "
        "masks are not allowed."
    ),
    example=(
        "With 2 queries and 4 keys, the queries stand at positions 2 and 3. The first sees keys "
        "0, 1 and 2, the second all four: [[True, True, True, False], [True, True, True, True]]."
    ),
    conventions=(
        'True means "may attend", as in `F.scaled_dot_product_attention`.',
        "A token may see itself.",
        "The mask is aligned at the lower right: the last query sees every key. A single query "
        "with 5 keys gives a row of five True.",
        "n_k is at least n_q. The result has two axes, (L, M), and holds booleans.",
    ),
    hints=(
        "At which position of the sequence does query i stand?",
        "With as many queries as keys it is a triangle. What happens to its diagonal with each "
        "further key in front?",
        "`tril` and `triu` take a second argument that moves the diagonal; or compare two "
        "`arange`, one of them as a column.",
    ),
    cases=CASES,
    mistakes=(
        top_left,
        strict,
        one_too_many,
        inverted,
        transposed,
        upper_from_top_left,
        strict_from_top_left,
        moved_the_other_way,
        everything,
        keys_first,
        square,
        *as_numbers(causal_mask),
        additive,
        more_axes,
        device_ignored,
    ),
    alternatives=(
        by_comparison,
        not_the_future,
        history_in_front,
        rows_of_a_square,
        pair_by_pair,
        row_by_row,
    ),
    forbidden=(
        "torch.nn.attention.bias.causal_lower_right",
        "torch.nn.attention.bias.CausalBias",
        "torch.nn.Transformer.generate_square_subsequent_mask",
        "torch.nn.modules.transformer._generate_square_subsequent_mask",
    ),
)
