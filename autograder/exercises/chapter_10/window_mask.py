"""Exercise: which keys a query may see if it looks back only so far.

Out of scope: more queries than keys, windows of no width.
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import values
from autograder.exercises.chapter_10 import CHAPTER
from autograder.inputs import integer
from autograder.slips import as_numbers
from autograder.spec import Case, Exercise, Trial
from autograder.wire import call
from solutions.masks import causal_mask
from solutions.windows import window_mask

Device = torch.device | str


def _trial(n_q: int, n_k: int, w: int, *device: str) -> Trial:
    words = f"n_q = {n_q}, n_k = {n_k}, w = {w}" + "".join(f", device {d}" for d in device)
    return Trial(call(n_q, n_k, w, *device), words, {"L": n_q, "M": n_k}, "L M")


def as_many(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 7, 9)
    yield _trial(n, n, 3)
    yield _trial(n + 2, n + 2, 4)


def fewer_queries(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 8, 10)
    yield _trial(integer(rng, 4, 6), n, 3)
    yield _trial(2, n, 5)


def one_query(rng: Generator) -> Iterator[Trial]:
    yield _trial(1, integer(rng, 6, 9), 4)
    yield _trial(1, 1, integer(rng, 2, 4))


def width_one(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 5, 8)
    yield _trial(n, n, 1)
    yield _trial(n - 2, n, 1)


def wide(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 5, 8)
    yield _trial(n, n, n)
    yield _trial(n, n, n - 1)
    yield _trial(n - 2, n, n + 3)
    yield _trial(n, n, 10**12)


def several_hundred(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 290, 300)
    yield _trial(3, n, n - 20)


def devices(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 6, 8)
    yield _trial(n, n, 3, "cpu")
    yield _trial(n, n, 3, "meta")


CASES = (
    Case("each query sees itself and those just before it", as_many, values, weight=2),
    Case("fewer queries are the last of the sequence", fewer_queries, values, weight=2),
    Case("a single query sees the last keys", one_query, values),
    Case("a window of one shows each query itself alone", width_one, values),
    Case("a window as wide as the sequence, and wider", wide, values),
    Case("a window of several hundred", several_hundred, values),
    Case("the mask is made on the device that is asked for", devices, values),
)


def _distance(n_q: int, n_k: int, device: Device = "cpu") -> Tensor:
    places = torch.arange(n_k, device=device)
    return places[n_k - n_q :, None] - places


def one_too_wide(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """Each query sees one key too many: w before itself, and itself. The window counts w keys with
    the query's own among them, so a key at distance w is hidden.
    """
    return window_mask(n_q, n_k, w + 1, device)


def one_too_narrow(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """The farthest key is missing: with w = 3, position 5 sees 3, 4 and 5, which is three keys."""
    return window_mask(n_q, n_k, w - 1, device)


def itself_left_out(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """Queries see w keys before them, but not their own. A token is in its own window."""
    distance = _distance(n_q, n_k, device)
    return (distance > 0) & (distance <= w)


def itself_lost(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """Queries see the w - 1 keys before them and not their own, which is the w-th."""
    distance = _distance(n_q, n_k, device)
    return (distance > 0) & (distance < w)


def both_sides(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """The window lies on both sides of a query, and shows it the future: it should look back only.
    (That is the window of an encoder.)
    """
    return _distance(n_q, n_k, device).abs() < w


def a_radius(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """You take w for a radius, w keys on either side, as in chapter 1. Here w counts keys, looks
    back only, and includes the query's own.
    """
    return _distance(n_q, n_k, device).abs() <= w


def half_on_each_side(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """Half of the window lies before a query and half behind it, as in Longformer's encoder. Here
    all of it lies before, the query's own position included.
    """
    return _distance(n_q, n_k, device).abs() <= w // 2


def future_open(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """Keys that lie too far back are hidden, but not those that come later: a negative distance is
    also less than w.
    """
    return _distance(n_q, n_k, device) < w


def no_window(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """This is the causal mask: w is not used."""
    return causal_mask(n_q, n_k, device)


def forgets_too_much(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """The mask shows what is far and hides what is near: keys at a distance of w and more."""
    return _distance(n_q, n_k, device) >= w


def looks_ahead(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """The window begins at the query and reaches forward. It should end there and reach back."""
    distance = -_distance(n_q, n_k, device)
    return (distance >= 0) & (distance < w)


def top_left(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """Your band starts in the upper left corner. If there are fewer queries than keys, the queries
    are the last of the sequence: where does the last one stand?
    """
    return window_mask(n_k, n_k, w, device)[:n_q]


def two_corners(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """The two edges of your band are aligned at different corners: with fewer queries than keys,
    one has moved along and the other has stayed. Count both from the position of the query.
    """
    ones = torch.ones(n_q, n_k, dtype=torch.bool, device=device)
    return ones.tril(n_k - n_q) & ones.triu(1 - w)


def other_edge_moved(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """The edge that hides the future starts in the upper left corner, and the other edge does not.
    Count both from the position of the query.
    """
    ones = torch.ones(n_q, n_k, dtype=torch.bool, device=device)
    return ones.tril() & ones.triu(n_k - n_q + 1 - w)


def in_blocks(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """The sequence is cut into blocks of w, and each query sees the part of its block that lies
    before it: the first of a block sees itself alone. The window slides: it goes along with the
    query.
    """
    block = torch.arange(n_k, device=device) // w
    return causal_mask(n_q, n_k, device) & (block[n_k - n_q :, None] == block)


def early_rows_empty(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """Queries at the beginning, before which there are fewer than w - 1 keys, see nothing. They see
    as many as there are.
    """
    full = torch.arange(n_k - n_q, n_k, device=device)[:, None] >= w - 1
    return window_mask(n_q, n_k, w, device) & full


def inverted(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """True and False are exchanged: this is a mask in which True hides. In this course True means
    "may attend".
    """
    return ~window_mask(n_q, n_k, w, device)


def keys_first(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """The axes are exchanged: a row is a query, a column is a key."""
    return window_mask(n_q, n_k, w, device).T


def square(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """The mask is square, with a row for every key. There should be a row for each query only."""
    return window_mask(n_k, n_k, w, device)


def additive(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """This is an additive mask, of 0 and -inf. Asked are booleans, True where a query may look."""
    seen = window_mask(n_q, n_k, w, device)
    return torch.zeros(n_q, n_k, device=device).masked_fill(~seen, float("-inf"))


def more_axes(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """The mask has axes for the batch and for heads. Two axes are enough, (L, M): the others come
    by broadcasting.
    """
    return window_mask(n_q, n_k, w, device)[None, None]


def device_ignored(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """The mask is made on the CPU whatever `device` says."""
    return window_mask(n_q, n_k, w)


def counted_in_bytes(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """Positions are counted in a type that ends early (int8, or half precision): some hundred
    tokens later they are wrong. Count in int64.
    """
    places = torch.arange(n_k, device=device).to(torch.int8)
    distance = places[n_k - n_q :, None].int() - places.int()
    return (distance >= 0) & (distance < w)


def two_triangles(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    everything = torch.ones((n_q, n_k), dtype=torch.bool, device=device)
    start = n_k - n_q
    w = min(w, n_k)
    return everything.tril(diagonal=start).triu(diagonal=start - w + 1)


def difference_of_masks(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    """Everything so far, without what lies too far back."""
    past = torch.tril(torch.ones(n_q, n_k, device=device), n_k - n_q)
    too_far = torch.tril(torch.ones(n_q, n_k, device=device), n_k - n_q - min(w, n_k))
    return (past - too_far).bool()


def row_by_row(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    mask = torch.zeros(n_q, n_k, device=device).bool()
    for i in range(n_q):
        place = n_k - n_q + i
        mask[i, max(0, place - w + 1) : place + 1] = True
    return mask


def pair_by_pair(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    rows = [[0 <= i - j < w for j in range(n_k)] for i in range(n_k - n_q, n_k)]
    return torch.tensor(rows, device=device)


def last_rows(n_q: int, n_k: int, w: int, device: Device = "cpu") -> Tensor:
    i = torch.arange(n_k, device=device).view(-1, 1)
    j = i.view(1, -1)
    return torch.logical_and(j <= i, j > i - w)[-n_q:]


EXERCISE = Exercise(
    solution=window_mask,
    chapter=CHAPTER,
    title="The mask of a window",
    points=2,
    minutes=7,
    difficulty=1,
    statement=(
        "Write `window_mask(n_q, n_k, w, device)`: a table of booleans, True where a query may "
        "look. It sees w keys: its own and the w - 1 before it. At the beginning of the sequence, "
        "where there are not so many, it sees those that exist. As with `causal_mask`, the "
        "queries are the last ones of the sequence."
    ),
    example=(
        "With w = 3, position 5 sees keys 3, 4 and 5. With 3 queries, 4 keys and w = 2 the queries "
        "stand at positions 1, 2 and 3: [[True, True, False, False], [False, True, True, False], "
        "[False, False, True, True]]."
    ),
    conventions=(
        'True means "may attend", as in `F.scaled_dot_product_attention`.',
        "w counts the query's own key. (Elsewhere it may mean w keys before it, w keys on either "
        "side, or w in all, half of them on either side.)",
        "The mask is aligned at the lower right: the last query stands at the last key.",
        "n_k is at least n_q and w at least 1; w may be larger than n_k. The result has two axes, "
        "(L, M), and holds booleans.",
    ),
    hints=(
        "At which position of the sequence does query i stand, and how far is it from key j?",
        "A query sees a key under two conditions on this distance: not in the future, and not too "
        "far back. What is the distance of the w-th key?",
        "Compare two `arange`, one of them as a column; or cut a table of ones with `tril` and "
        "`triu`.",
    ),
    cases=CASES,
    mistakes=(
        one_too_wide,
        one_too_narrow,
        itself_left_out,
        itself_lost,
        both_sides,
        a_radius,
        half_on_each_side,
        future_open,
        no_window,
        forgets_too_much,
        looks_ahead,
        top_left,
        two_corners,
        other_edge_moved,
        in_blocks,
        early_rows_empty,
        inverted,
        keys_first,
        square,
        *as_numbers(window_mask),
        additive,
        more_axes,
        device_ignored,
        counted_in_bytes,
    ),
    alternatives=(two_triangles, difference_of_masks, row_by_row, pair_by_pair, last_rows),
    forbidden=(
        "torch.nn.attention.bias.causal_lower_right",
        "torch.nn.attention.bias.CausalBias",
        "torch.nn.attention.flex_attention.create_mask",
        "torch.nn.attention.flex_attention.create_block_mask",
    ),
)
