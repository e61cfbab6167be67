"""Exercise: a mask of near tokens, first tokens and tokens at regular distances.

Out of scope: fewer queries than keys (window_mask), masks that differ between heads.
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
from solutions.sparse import sparse_mask
from solutions.windows import window_mask

Device = torch.device | str


def _trial(n: int, w: int, sinks: int, stride: int, *device: str) -> Trial:
    words = f"n = {n}, w = {w}, sinks = {sinks}, stride = {stride}"
    words += "".join(f", device {one}" for one in device)
    return Trial(call(n, w, sinks, stride, *device), words, {"L": n}, "L L")


def all_three(rng: Generator) -> Iterator[Trial]:
    yield _trial(integer(rng, 13, 15), 2, 1, 4)
    yield _trial(integer(rng, 16, 18), 3, 2, 5)


def window_alone(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 7, 9)
    yield _trial(n, 3, 0, n)
    yield _trial(n, 2, 0, n + 5)


def with_sinks(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 9, 11)
    yield _trial(n, 2, 3, n)
    yield _trial(n, 3, 1, n + 2)


def strided(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 12, 14)
    yield _trial(n, 1, 0, 3)
    yield _trial(n, 2, 0, 5)


def everything(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 6, 8)
    yield _trial(n, n, 0, n)
    yield _trial(n, 1, n + 1, n)
    yield _trial(n, 2, 1, 1)


def one_token(rng: Generator) -> Iterator[Trial]:
    yield _trial(1, integer(rng, 1, 3), 0, 2)
    yield _trial(1, 2, integer(rng, 1, 3), 3)


def several_hundred(rng: Generator) -> Iterator[Trial]:
    yield _trial(integer(rng, 258, 262), 7, 3, 11)


def devices(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 9, 11)
    yield _trial(n, 2, 1, 4, "cpu")
    yield _trial(n, 2, 1, 4, "meta")


CASES = (
    Case("near tokens, first tokens and regular ones together", all_three, values, weight=2),
    Case("without the other two it is a window", window_alone, values),
    Case("the first tokens are seen by all later ones", with_sinks, values),
    Case("tokens at regular distances are seen", strided, values, weight=2),
    Case("any of the three may show everything", everything, values),
    Case("a single token sees itself", one_token, values),
    Case("some hundred tokens", several_hundred, values),
    Case("the mask is made on the device that is asked for", devices, values),
)


def _distance(n: int, device: Device = "cpu") -> tuple[Tensor, Tensor]:
    key = torch.arange(n, device=device)
    return key[:, None] - key, key


def _parts(n: int, w: int, sinks: int, stride: int, device: Device) -> tuple[Tensor, ...]:
    distance, key = _distance(n, device)
    return distance < w, (key < sinks).expand(n, n), distance % stride == 0


def future_open(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """Tokens see the future. All three rules hold for what is not later than the token itself."""
    near, first, regular = _parts(n, w, sinks, stride, device)
    return near | first | regular


def sinks_ahead(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """The very first tokens see one another, also those that come later. Who is seen by all is
    still not seen by earlier ones.
    """
    _, first, _ = _parts(n, w, sinks, stride, device)
    return sparse_mask(n, w, sinks, stride, device) | first


def stride_ahead(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """Tokens see later ones at multiples of the stride: the remainder of a negative distance is 0
    there, too.
    """
    _, _, regular = _parts(n, w, sinks, stride, device)
    return sparse_mask(n, w, sinks, stride, device) | regular


def all_at_once(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """A token sees only what all three rules allow. One of them is enough."""
    near, first, regular = _parts(n, w, sinks, stride, device)
    return near & first & regular & (_distance(n, device)[0] >= 0)


def one_too_wide(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """The window is one key too wide: it counts the token itself, so a distance of w is outside."""
    return sparse_mask(n, w + 1, sinks, stride, device)


def one_too_narrow(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """The window is one key too narrow: it holds w keys, with the token itself."""
    return sparse_mask(n, w - 1, sinks, stride, device)


def one_sink_more(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """One sink too many: the first `sinks` tokens have the numbers 0 to sinks - 1."""
    return sparse_mask(n, w, sinks + 1, stride, device)


def no_window(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """The window is missing: w is not used."""
    return sparse_mask(n, 1, sinks, stride, device)


def no_sinks(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """The first tokens are not shown to later ones: `sinks` is not used."""
    return sparse_mask(n, w, 0, stride, device)


def no_stride(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """The tokens at regular distances are missing: `stride` is not used."""
    return sparse_mask(n, w, sinks, n, device)


def fixed_columns(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """You show the keys whose own position is a multiple of the stride, the same for all queries.
    Here the distance counts. (That is the other pattern of the same paper.)
    """
    near, first, _ = _parts(n, w, sinks, stride, device)
    distance, key = _distance(n, device)
    return (near | first | (key % stride == 0)) & (distance >= 0)


def last_of_blocks(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """You show the last key of each block of `stride`, the same for all queries. Here the distance
    between query and key counts.
    """
    near, first, _ = _parts(n, w, sinks, stride, device)
    distance, key = _distance(n, device)
    return (near | first | (key % stride == stride - 1)) & (distance >= 0)


def one_step_only(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """Only the key one stride back is shown. All multiples of the stride are."""
    near, first, _ = _parts(n, w, sinks, stride, device)
    distance, _ = _distance(n, device)
    return (near | first | (distance == stride)) & (distance >= 0)


def stride_off_by_one(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """The regular distances are one too large: steps of stride + 1."""
    return sparse_mask(n, w, sinks, stride + 1, device)


def sinks_look_everywhere(
    n: int, w: int, sinks: int, stride: int, device: Device = "cpu"
) -> Tensor:
    """The first tokens see all tokens, rows instead of columns. They are seen by the others."""
    near, first, regular = _parts(n, w, sinks, stride, device)
    seen = (near | regular) & (_distance(n, device)[0] >= 0)
    return seen | first.T


def sinks_both_ways(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """The first tokens are seen by all and see all, as global tokens in an encoder. Here nobody
    sees the future.
    """
    _, first, _ = _parts(n, w, sinks, stride, device)
    return sparse_mask(n, w, sinks, stride, device) | first | first.T


def two_sided(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """The window lies on both sides. It looks back only."""
    distance, _ = _distance(n, device)
    return sparse_mask(n, w, sinks, stride, device) | (distance.abs() < w)


def inverted(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """True and False are exchanged. In this course True means "may attend"."""
    return ~sparse_mask(n, w, sinks, stride, device)


def transposed(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """The axes are exchanged: a row is a query, a column is a key."""
    return sparse_mask(n, w, sinks, stride, device).T


def device_ignored(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """The mask is made on the CPU whatever `device` says."""
    return sparse_mask(n, w, sinks, stride)


def counted_in_bytes(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    """Positions are counted in a type that ends early (int8, or half precision): some hundred
    tokens later they are wrong. Count in int64.
    """
    key = torch.arange(n, device=device).to(torch.int8).int()
    distance = key[:, None] - key
    return ((distance < w) | (key < sinks) | (distance % stride == 0)) & (distance >= 0)


def pair_by_pair(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    rows = [
        [j <= i and (i - j < w or j < sinks or (i - j) % stride == 0) for j in range(n)]
        for i in range(n)
    ]
    return torch.tensor(rows, device=device)


def by_slices(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    mask = torch.zeros(n, n, dtype=torch.bool, device=device)
    for i in range(n):
        mask[i, max(0, i - w + 1) : i + 1] = True
        mask[i, :sinks] = True
        mask[i, i % stride : i + 1 : stride] = True
    return mask.tril()


def diagonal_by_diagonal(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    mask = torch.zeros((n, n), device=device)
    for d in range(n):
        if d < w or d % stride == 0:
            mask = mask + torch.ones(n - d, device=device).diag(-d)
    columns = torch.ones(n, min(sinks, n), device=device)
    first = torch.nn.functional.pad(columns, (0, n - min(sinks, n)))
    return (mask + first.tril()) > 0


def three_masks(n: int, w: int, sinks: int, stride: int, device: Device = "cpu") -> Tensor:
    i = torch.arange(n, device=device).unsqueeze(1)
    j = torch.arange(n, device=device).unsqueeze(0)
    far = torch.logical_or(j.lt(sinks), torch.remainder(i - j, stride).eq(0)) & j.le(i)
    return window_mask(n, n, w, device) | far


EXERCISE = Exercise(
    solution=sparse_mask,
    chapter=CHAPTER,
    title="A sparse mask",
    points=3,
    minutes=10,
    difficulty=2,
    statement=(
        "Write the causal mask in which a token sees three kinds of others: those in a window of "
        "width w, the first `sinks` tokens of the sequence, and all at a distance that is a "
        "multiple of `stride`. One of the three is enough. Your `window_mask` is there."
    ),
    example=(
        "With w = 2, one sink and stride 3, token 5 sees 5 and 4 (the window), 0 (the sink), and 5 "
        "and 2 (distances 0 and 3): the row is 1, 0, 1, 0, 1, 1 in zeros and ones. Token 1 sees 0 "
        "and 1."
    ),
    conventions=(
        'True means "may attend". No token sees a later one, whatever the rule.',
        "w counts the token itself, as in `window_mask`; sinks may be 0.",
        "The stride counts from the query backwards, so the pattern moves along with it. (In other "
        "code fixed columns are seen by all.)",
        "n, w and stride are at least 1; each may be larger than n, and so may sinks. The result "
        "is (L, L), booleans.",
    ),
    hints=(
        "Write each rule as a table of its own. Which ones depend on the distance i - j, which one "
        "on j alone?",
        "How are conditions joined of which one is enough? And the one that always has to hold?",
        "Take care with negative distances: what is the remainder of -3 divided by 3?",
    ),
    cases=CASES,
    mistakes=(
        future_open,
        sinks_ahead,
        stride_ahead,
        all_at_once,
        one_too_wide,
        one_too_narrow,
        one_sink_more,
        no_window,
        no_sinks,
        no_stride,
        fixed_columns,
        last_of_blocks,
        one_step_only,
        stride_off_by_one,
        sinks_look_everywhere,
        sinks_both_ways,
        two_sided,
        inverted,
        transposed,
        *as_numbers(sparse_mask),
        device_ignored,
        counted_in_bytes,
    ),
    alternatives=(pair_by_pair, by_slices, diagonal_by_diagonal, three_masks),
)
