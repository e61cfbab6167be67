"""Exercise: attention within a window, computed block by block.

Out of scope: fewer queries than keys (rolling_cache_step), shared key/value heads, sinks.

That the work grows with n w, and not with n n, is seen without a clock: values at the beginning of
a long text are NaN. Who multiplies them by a weight of 0 gets NaN everywhere; who never touches
them does not notice. And a device is told to have no room for a table of all pairs.
"""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, one_by_one, second_half, values
from autograder.exercises.chapter_10 import CHAPTER
from autograder.exercises.chapter_10._draws import Sizes, drawn_sizes, layouts, qkv, words
from autograder.inputs import integer
from autograder.slips import (
    always_float32,
    changed_in_place,
    cut_from_autograd,
    float64_narrowed,
    on_the_cpu,
)
from autograder.spec import Case, Exercise, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request, call
from solutions.masked import masked_attention
from solutions.masks import causal_mask
from solutions.windows import window_mask, windowed_attention

RETURNS = "B H L W"
ROOM = 4_000


def _given(tensors: list[Tensor], of: Sizes, w: int, note: str = "") -> Trial:
    return Trial(call(*tensors, w), f"{words(of)}, w = {w}{note}", of, RETURNS)


def _trial(rng: Generator, w: int, **fixed: int) -> Trial:
    of = drawn_sizes(rng, **fixed)
    return _given(qkv(rng, of), of, w)


def whole_blocks(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 4, L=12)
    yield _trial(rng, 5, L=10)


def uneven(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 4, L=integer(rng, 13, 15))
    yield _trial(rng, 3, L=10)
    yield _trial(rng, 5, L=11)


def width_one(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 1, L=integer(rng, 10, 12))


def wide(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 10, 12)
    yield _trial(rng, n, L=n)
    yield _trial(rng, n - 1, L=n)
    yield _trial(rng, n + 3, L=n)
    yield _trial(rng, 10**9, L=n)


def small(rng: Generator) -> Iterator[Trial]:
    for letter in "BHKW":
        of = {**drawn_sizes(rng, L=10), letter: 1}
        yield _given(qkv(rng, of), of, 3)
    yield _trial(rng, 1, L=1)
    yield _trial(rng, 4, L=1)


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    for n, w in ((4, 4), (4, 2), (3, 2)):
        of = dict.fromkeys("BHLKW", n)
        yield _given(qkv(rng, of), of, w)


def far_untouched(rng: Generator) -> Iterator[Trial]:
    """What lies at the beginning of a long text spoils whatever touches it."""
    of = {"B": 2, "H": 1, "L": integer(rng, 310, 320), "K": 3, "W": 4}
    q, k, v = qkv(rng, of)
    v[:, :, :20] = math.nan
    yield _given([q, k, v], of, 3, ", NaN in the first 20 values, answers of the second half")


def no_table(rng: Generator) -> Iterator[Trial]:
    """There is no room for a number for each pair of tokens, even of one example and head."""
    of = {"B": 1, "H": 1, "L": integer(rng, 64, 68), "K": 3, "W": 4}
    yield elsewhere(_given(qkv(rng, of), of, 3, f", room for {ROOM:,} numbers in a tensor"), ROOM)


def later_unheard(rng: Generator) -> Iterator[Trial]:
    """Hidden scores are far above the others: to hide them afterwards is too late."""
    of = drawn_sizes(rng, L=11)
    q, k, v = qkv(rng, of)
    q, k = torch.zeros_like(q), torch.zeros_like(k)
    q[..., 0] = 30.0
    k[..., 0] = 30.0 * torch.arange(11)  # the later the louder
    yield _given([q, k, v], of, 4, ", later keys are louder")
    yield _given([q, k.flip(2), v], of, 3, ", earlier keys are louder")


def low_scores(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng, L=11)
    q, k, v = qkv(rng, of)
    q, k = torch.zeros_like(q), torch.zeros_like(k)
    q[..., 0], k[..., 0] = -300.0, 300.0 + 20.0 * (torch.arange(11) * 4 % 11)
    yield _given([q, k, v], of, 3, ", all scores below -10,000")


def several_calls(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng, L=10)
    small, large = qkv(rng, of), qkv(rng, {**of, "L": 13})
    calls = (Call((*small, 3)), Call((*large, 4)), Call((*small, 4)), Call((*qkv(rng, of), 3)))
    note = f"{words(of)}, w = 3; then 13 tokens, w = 4; then w = 4; then others with w = 3"
    yield Trial(Request(calls), note, of, RETURNS)


def not_contiguous(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng, L=11)
    tensors = qkv(rng, of)
    for name, same in layouts(tensors):
        yield _given(same, of, 4, f", {name}")


def tiny_and_huge(rng: Generator) -> Iterator[Trial]:
    """All values are positive: a mean of both signs may be near 0, and its rounding is not."""
    of = drawn_sizes(rng, L=11)
    q, k, v = qkv(rng, of)
    v = v.abs()
    yield _given([q, k, 1e4 * v], of, 3, ", values of size 10,000")
    yield _given([1e-3 * q, k, 1e-6 * v], of, 3, ", small queries and values")
    sizes = torch.tensor([1e-4, 1e4]).repeat(of["L"])[: of["L"], None]
    yield _given([q, k, v * sizes.flip(0)], of, 1, ", small values beside large")


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(rng, 3, L=10), rng)
    yield backward(_trial(rng, 4, L=12), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng, 3, L=10))
    of = drawn_sizes(rng, L=10)
    q, k, v = (x.double() for x in qkv(rng, of))
    yield _given([q, k, v * 1e60], of, 3, ", float64, values of size 1e60")


def kept(rng: Generator) -> Iterator[Trial]:
    yield from uneven(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, 3, L=10))


CASES = (
    Case("each token attends within its window", whole_blocks, values, weight=2),
    Case("the length need not be a multiple of the window", uneven, values, weight=2),
    Case("a window of one gives back the values", width_one, values),
    Case("a window as long as the text, and longer", wide, values),
    Case("works with one token, head, example or entry", small, values),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("values far outside the window are never touched", far_untouched, second_half, weight=4),
    Case("no table of all pairs is made", no_table, values, weight=4),
    Case("loud keys outside the window change nothing", later_unheard, values),
    Case("very negative scores in the window still count", low_scores, values),
    Case("one call does not depend on the calls before", several_calls, values),
    Case("works on tensors that are not contiguous", not_contiguous, values),
    Case("values very large and very small", tiny_and_huge, one_by_one, tolerance=1e-3),
    Case("the gradient reaches queries, keys and values", gradients, values),
    Case("the dtype is kept, and its range", dtypes, values),
    Case("the inputs themselves are not changed", kept, inputs_kept),
    Case("works on whatever device the inputs are on", devices, values),
)


def _dense(
    q: Tensor, k: Tensor, v: Tensor, seen: Tensor, hide: Callable[[Tensor, Tensor], Tensor]
) -> Tensor:
    """Attend with a full table of scores, which `hide` turns into weights."""
    return hide(q @ k.mT / math.sqrt(q.shape[-1]), seen) @ v


def _band(q: Tensor, w: int) -> Tensor:
    return window_mask(q.shape[2], q.shape[2], w, q.device)


def behind_a_mask(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """The numbers are right, but all n x n scores are computed and most of them hidden: the work is
    that of full attention. Values far outside the window must not be touched at all, not even
    with a weight of 0.
    """
    return masked_attention(q, k, v, _band(q, w))


def one_too_wide(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """The window is one key too wide: w before the token, and itself. It counts w in all."""
    return windowed_attention(q, k, v, w + 1)


def one_too_narrow(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """The window is one key too narrow: it holds w keys, the token's own among them."""
    return windowed_attention(q, k, v, max(1, w - 1))


def doubled(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """Each token sees 2w keys: all of the block and the block before that its query may see. The
    two blocks are what has to be looked at; the window is a part of them.
    """
    return windowed_attention(q, k, v, 2 * w)


def in_blocks(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """Each block attends to itself alone, so its first token sees one key only. The window slides:
    most of it lies in the block before.
    """
    block = torch.arange(q.shape[2], device=q.device) // w
    same = causal_mask(q.shape[2], q.shape[2], q.device) & (block[:, None] == block)
    return masked_attention(q, k, v, same)


def whole_block_before(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """Each token sees all of the block before, and its own up to itself: up to 2w - 1 keys, the
    more the later it stands in its block. Hide those that are w or more back.
    """
    block = torch.arange(q.shape[2], device=q.device) // w
    gap = block[:, None] - block
    seen = causal_mask(q.shape[2], q.shape[2], q.device) & (gap <= 1)
    return masked_attention(q, k, v, seen)


def future_in_the_block(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """Tokens see later ones of their own block. Inside of it, too, nobody sees the future."""
    block = torch.arange(q.shape[2], device=q.device) // w
    return masked_attention(q, k, v, _band(q, w) | (block[:, None] == block))


def padding_heard(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """The zeros that you put before the first token take part: its keys of 0 have a score of 0, and
    get weight. At the beginning a window holds fewer keys.
    """
    k, v = (F.pad(x, (0, 0, w - 1, 0)) for x in (k, v)) if w <= q.shape[2] else (k, v)
    return masked_attention(q, k, v, window_mask(q.shape[2], k.shape[2], w, q.device))


def wraps_around(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """The first tokens see the end of the text: `roll`, or an index below 0, goes around. Before
    the first token there is nothing.
    """
    n = q.shape[2]
    place = torch.arange(n, device=q.device)
    return masked_attention(q, k, v, (place[:, None] - place) % n < w)


def rest_left_out(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """The last tokens, which fill no whole block, get zeros. Fill up the last block, and cut the
    result.
    """
    answers = windowed_attention(q, k, v, w)
    whole = q.shape[2] - q.shape[2] % min(w, q.shape[2])
    return answers * (torch.arange(q.shape[2], device=q.device) < whole)[:, None]


def rest_cut_off(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """The result is shorter than the text: tokens that fill no whole block are missing."""
    whole = q.shape[2] - q.shape[2] % min(w, q.shape[2])
    return windowed_attention(q, k, v, w)[:, :, :whole]


def filling_not_cut_off(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """The result is longer than the text: cut off the tokens that filled up the last block."""
    short = -q.shape[2] % min(w, q.shape[2])
    return F.pad(windowed_attention(q, k, v, w), (0, 0, 0, short))


def both_sides(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """Tokens see w - 1 keys on both sides, also later ones. The window looks back only."""
    return masked_attention(q, k, v, _band(q, w) | _band(q, w).T)


def no_window(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """This is causal attention to everything: w is not used."""
    return masked_attention(q, k, v, causal_mask(q.shape[2], q.shape[2], q.device))


def no_scale(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """The scores are not divided by the root of the width of a key."""
    return windowed_attention(q * math.sqrt(q.shape[-1]), k, v, w)


def divided_by_width(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """The scores are divided by K. It should be the root of it."""
    return windowed_attention(q / math.sqrt(q.shape[-1]), k, v, w)


def scaled_by_window(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """The scores are divided by the root of the window. It is the width of a key that counts."""
    return windowed_attention(q * math.sqrt(q.shape[-1] / w), k, v, w)


def mean_of_values(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """All values of a window count equally. Scores say how much each counts."""
    return windowed_attention(0 * q, k, v, w)


def masked_afterwards(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """Weights outside of the window are set to 0 after the softmax, and the rest no longer sums to
    1. Hide scores instead.
    """
    return _dense(q, k, v, _band(q, w), lambda scores, seen: scores.softmax(-1) * seen)


def masked_too_late(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """Weights are hidden after the softmax, and the rest is divided by its sum. If a hidden score
    is far above the others, that rest has been rounded to 0: hide scores instead.
    """

    def late(scores: Tensor, seen: Tensor) -> Tensor:
        weights = scores.softmax(-1) * seen
        return (weights / weights.sum(-1, keepdim=True)).nan_to_num(0.0)

    return _dense(q, k, v, _band(q, w), late)


def filled_with_zero(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """Hidden scores are set to 0, which is an ordinary score. Which one gives no weight at all?"""
    return _dense(q, k, v, _band(q, w), lambda scores, seen: (scores * seen).softmax(-1))


def fill_not_low_enough(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """Hidden scores get a number that is low, but not low enough, such as -10,000. Nothing is below
    -inf.
    """
    return _dense(
        q, k, v, _band(q, w), lambda scores, seen: scores.masked_fill(~seen, -1e4).softmax(-1)
    )


def unstable(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """The scores are exponentiated as they are. Shift each row by its maximum first."""

    def weigh(scores: Tensor, seen: Tensor) -> Tensor:
        powers = scores.exp() * seen
        return powers / powers.sum(-1, keepdim=True)

    return _dense(q, k, v, _band(q, w), weigh)


def over_queries(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """The softmax runs over the queries. Each query shares its weight among keys."""
    return _dense(
        q, k, v, _band(q, w), lambda scores, seen: scores.masked_fill(~seen, -math.inf).softmax(-2)
    )


def over_the_batch(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """The window slides over the batch or the heads, not over the tokens: axis 2 has these."""
    axis = 1 if q.shape[0] == 1 else 0
    q, k, v = (x.transpose(axis, 2) for x in (q, k, v))
    return windowed_attention(q, k, v, w).transpose(axis, 2)


def first_example_for_all(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """All examples get the answer of the first. Each has its own."""
    return windowed_attention(q, k, v, w)[:1].expand(len(q), -1, -1, -1)


def tokens_first(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """The axes of heads and tokens are exchanged in the result: (B, H, L, W) is asked."""
    return windowed_attention(q, k, v, w).transpose(1, 2)


def keys_not_shifted(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """Values are one place off their keys: a key's weight goes to its neighbour's value. Cut both
    into blocks in the same way.
    """
    return windowed_attention(q, k, v.roll(1, 2), w)


def token_by_token(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    answers = []
    for i in range(q.size(-2)):
        near = slice(max(0, i + 1 - w), i + 1)
        scores = q[:, :, i : i + 1] @ k[:, :, near].transpose(-1, -2) / q.size(-1) ** 0.5
        answers.append(torch.softmax(scores, -1) @ v[:, :, near])
    return torch.cat(answers, dim=-2)


def block_by_block(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    n = q.shape[2]
    out = q.new_empty(*q.shape[:3], v.shape[3])
    w = min(w, n)
    for start in range(0, n, w):
        end, begin = min(start + w, n), max(0, start - w + 1)
        seen = window_mask(end - start, end - begin, w, q.device)
        out[:, :, start:end] = masked_attention(
            q[:, :, start:end], k[:, :, begin:end], v[:, :, begin:end], seen
        )
    return out


def gathered(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """Give each query its w keys by index."""
    n = q.shape[2]
    w = min(w, n)
    place = torch.arange(n, device=q.device)[:, None] - torch.arange(w, device=q.device)
    near_k, near_v = (x[:, :, place.clamp(min=0)] for x in (k, v))  # (B, H, L, w, K)
    scores = torch.einsum("bhlk,bhlmk->bhlm", q, near_k) * q.shape[-1] ** -0.5
    scores = scores.masked_fill(place < 0, float("-inf"))
    return torch.einsum("bhlm,bhlmw->bhlw", scores.softmax(-1), near_v)


def by_unfolding(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    w = w if w < q.shape[2] else q.shape[2]
    wide_k = F.pad(k, [0, 0, w - 1, 0]).unfold(-2, w, 1)  # (B, H, L, K, w)
    wide_v = F.pad(v, [0, 0, w - 1, 0]).unfold(-2, w, 1)
    scores = (q.unsqueeze(-2) @ wide_k).squeeze(-2) / math.sqrt(k.shape[-1])
    i = torch.arange(q.shape[2], device=q.device).unsqueeze(-1)
    missing = i + torch.arange(w, device=q.device) < w - 1
    weights = F.softmax(torch.where(missing, -torch.inf, scores), dim=-1)
    return (wide_v * weights.unsqueeze(-2)).sum(-1)


def offset_by_offset(q: Tensor, k: Tensor, v: Tensor, w: int) -> Tensor:
    """One diagonal of the table at a time."""
    n, rows = q.shape[2], []
    for d in range(min(w, n)):
        row = (q[:, :, d:] * k[:, :, : n - d]).sum(-1) / math.sqrt(q.shape[-1])
        rows.append(F.pad(row, (d, 0), value=-math.inf))
    weights = torch.stack(rows).softmax(0)
    answer = torch.zeros_like(v)
    for d, weight in enumerate(weights):
        near = weight[:, :, d:, None] * v[:, :, : n - d]
        answer = answer + F.pad(near, (0, 0, d, 0))
    return answer


EXERCISE = Exercise(
    solution=windowed_attention,
    chapter=CHAPTER,
    title="Attention in a window",
    points=6,
    minutes=22,
    difficulty=4,
    statement=(
        "Let each token attend to itself and to the w - 1 before it, with work in proportion to "
        "n w: twice the text, twice the work. A mask over all n x n scores does not do: what is "
        "hidden has been computed. `masked_attention(q, k, v, mask)` of chapter 3 and your "
        "`window_mask` are there; torch's ready-made attention is not allowed."
    ),
    example=(
        "All scores 0, w = 2, values 0, 1, 2, 3, 4: each answer is the mean of a value and the one "
        "before, and the first is its own value: 0, 0.5, 1.5, 2.5, 3.5."
    ),
    conventions=(
        "The window counts the token itself and looks back only; at the beginning it holds fewer "
        "keys. w may be larger than the text.",
        "Scores are divided by the root of K. The values may have another width, W.",
        "The check sets values at the beginning of a long text to NaN and looks at tokens that "
        "stand more than 100 places behind them. Even a weight of 0 times NaN is NaN.",
        "It also tries a text of 64 tokens or more, with w = 3, on a device where no tensor may "
        "have more than 4,000 numbers: no table of n x n fits, of scores or of others.",
        "Loops over tokens or blocks are fine. Any length is allowed, not only multiples of w.",
    ),
    hints=(
        "Cut the queries into blocks of w. Which keys can the queries of one block see, all "
        "together?",
        "A block and the one before it: 2w keys. Attend to these alone, with a mask over w rows "
        "and 2w columns. You have written that mask: which n_q and n_k?",
        "All blocks at once: the number of the block becomes one more axis before the last two. "
        "`unfold` cuts overlapping pieces from a tensor, and puts their positions last.",
        "Two ends need care: before the first block there are no keys, and the last block may not "
        "be full.",
    ),
    cases=CASES,
    mistakes=(
        behind_a_mask,
        one_too_wide,
        one_too_narrow,
        doubled,
        in_blocks,
        whole_block_before,
        future_in_the_block,
        padding_heard,
        wraps_around,
        rest_left_out,
        rest_cut_off,
        filling_not_cut_off,
        both_sides,
        no_window,
        no_scale,
        divided_by_width,
        scaled_by_window,
        mean_of_values,
        masked_afterwards,
        masked_too_late,
        filled_with_zero,
        fill_not_low_enough,
        unstable,
        over_queries,
        over_the_batch,
        first_example_for_all,
        tokens_first,
        keys_not_shifted,
        on_the_cpu(windowed_attention),
        always_float32(windowed_attention),
        float64_narrowed(windowed_attention),
        cut_from_autograd(windowed_attention),
        changed_in_place(windowed_attention),
    ),
    alternatives=(token_by_token, block_by_block, gathered, by_unfolding, offset_by_offset),
    forbidden=READY_MADE_ATTENTION,
)
