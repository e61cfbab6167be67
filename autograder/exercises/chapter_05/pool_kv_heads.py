"""Exercise: the key or value matrix of shared heads, from that of all heads.

Out of scope: training afterwards (chapter 12).
"""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_05 import CHAPTER
from autograder.exercises.chapter_05._draws import GROUPS
from autograder.inputs import integer, normal
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.grouped import pool_kv_heads


def _trial(w: Tensor, heads: int, kv_heads: int) -> Trial:
    d = w.shape[0]
    words = f"w ({d}, {d}), heads = {heads}, kv_heads = {kv_heads}"
    of = {"D": d, "rows": kv_heads * d // heads}
    return Trial(call(w, heads, kv_heads), words, of, "rows D")


def _square(rng: Generator, d: int) -> Tensor:
    return normal(rng, "D D", {"D": d})


def _drawn(rng: Generator) -> Trial:
    kv_heads, share = GROUPS[integer(rng, 0, len(GROUPS) - 1)]
    return _trial(_square(rng, 5 * kv_heads * share), kv_heads * share, kv_heads)


def in_groups(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _trial(_square(rng, 36), 12, 4)
    yield _trial(_square(rng, 36), 12, 3)


def one_for_all(rng: Generator) -> Iterator[Trial]:
    heads = integer(rng, 3, 5)
    yield _trial(_square(rng, 7 * heads), heads, 1)


def one_for_each(rng: Generator) -> Iterator[Trial]:
    heads = integer(rng, 3, 5)
    yield _trial(_square(rng, 2 * heads), heads, heads)
    yield _trial(_square(rng, 3), 1, 1)


def narrow_heads(rng: Generator) -> Iterator[Trial]:
    yield _trial(_square(rng, 6), 6, 2)


def alike(rng: Generator) -> Iterator[Trial]:
    heads, width = 6, integer(rng, 2, 4)
    groups = normal(rng, "G K D", {"G": 3, "K": width, "D": heads * width})
    yield _trial(groups.repeat_interleave(2, 0).flatten(0, 1), heads, 3)


def turned(rng: Generator) -> Iterator[Trial]:
    yield _trial(_square(rng, 24).mT, 8, 2)  # not contiguous


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng))


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)


def kept(rng: Generator) -> Iterator[Trial]:
    yield from in_groups(rng)
    yield from one_for_each(rng)


CASES = (
    Case("each shared head is the mean of its neighbours", in_groups, values, weight=2),
    Case("one shared head is the mean of all", one_for_all, values),
    Case("with as many heads as before nothing changes", one_for_each, values),
    Case("works for heads of a single row", narrow_heads, values),
    Case("heads that are alike in each group stay what they are", alike, values),
    Case("works for a matrix that is not contiguous", turned, values),
    Case("the dtype is kept", dtypes, values, tolerance=6e-2),
    Case("works on whatever device w is on", devices, values),
    Case("the gradient reaches w", gradients, values),
    Case("w itself is not changed", kept, inputs_kept),
)


def _groups(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """(D, D) -> (G, heads of a group, K, D)"""
    return w.reshape(kv_heads, heads // kv_heads, -1, w.shape[-1])


def summed(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """The matrices of a group are added up. Keys would be several times as long as the queries are
    used to, and the softmax far sharper: take the mean.
    """
    return _groups(w, heads, kv_heads).sum(1).flatten(0, 1)


def variance_kept(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """The sum is divided by the root of the size of a group, so that independent entries keep their
    variance. Asked is the plain mean.
    """
    groups = _groups(w, heads, kv_heads)
    return (groups.sum(1) / math.sqrt(groups.shape[1])).flatten(0, 1)


def first_of_group(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """The first head of each group is kept and the others are dropped. Asked is their mean."""
    return _groups(w, heads, kv_heads)[:, 0].flatten(0, 1)


def last_of_group(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """The last head of each group is kept and the others are dropped. Asked is their mean."""
    return _groups(w, heads, kv_heads)[:, -1].flatten(0, 1)


def first_heads(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """The first `kv_heads` heads are kept and all others are dropped. Asked are means of groups."""
    return w[: kv_heads * (w.shape[0] // heads)]


def first_rows(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """`kv_heads` rows are kept. A head has D / heads rows, so there should be that many times as
    many, and each a mean.
    """
    return w[:kv_heads]


def largest(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """Of each entry the largest in the group is kept. Asked is the mean."""
    return _groups(w, heads, kv_heads).amax(1).flatten(0, 1)


def median(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """Of each entry the median in the group is kept. Asked is the mean."""
    return _groups(w, heads, kv_heads).median(1).values.flatten(0, 1)


def dealt_out(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """Groups are made of every `kv_heads`-th head, as for tiled keys (head i with head i + g). Here
    neighbours share: with 4 heads and 2 groups these are heads 0 and 1, and heads 2 and 3.
    """
    groups = w.reshape(heads // kv_heads, kv_heads, -1, w.shape[-1])
    return groups.mean(0).flatten(0, 1)


def rows_of_a_head(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """Neighbouring rows are averaged. These are entries of one key; average row 0 of one head with
    row 0 of the next.
    """
    share = heads // kv_heads
    return w.reshape(-1, share, w.shape[-1]).mean(1)


def rows_interleaved(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """You take row r for a row of head r % heads. All rows of head 0 come first, then those of head
    1.
    """
    rows = w.reshape(-1, kv_heads, heads // kv_heads, w.shape[-1])  # (K, G, share, D)
    return rows.mean(2).transpose(0, 1).flatten(0, 1)


def columns(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """The columns are pooled. In nn.Linear's layout a row of w makes one entry of the result, so a
    head owns rows; columns belong to the input.
    """
    return pool_kv_heads(w.T, heads, kv_heads).T


def transposed(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """The result is transposed. nn.Linear wants (outputs, inputs): fewer rows, as many columns."""
    return pool_kv_heads(w, heads, kv_heads).T


def repeated(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """Each head has been replaced by the mean of its group, and there are as many as before. Asked
    is one matrix for each group, or the cache will not shrink.
    """
    groups = _groups(w, heads, kv_heads)
    return groups.mean(1, keepdim=True).expand_as(groups).reshape(w.shape)


def mean_of_all(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """Every shared head is the mean of all heads. Each should be the mean of its own group."""
    return pool_kv_heads(w, heads, 1).repeat(kv_heads, 1)


def axes_left(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """The heads still have an axis of their own. Put them below each other: two axes, as w has."""
    return _groups(w, heads, kv_heads).mean(1)


def roles_swapped(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """You make groups of `kv_heads` heads. There are `kv_heads` groups, of how many heads each?"""
    return _groups(w, heads, heads // kv_heads).mean(1).flatten(0, 1)


def pairs(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """You take pairs of heads, whatever `kv_heads` says. How many heads make a group?"""
    return w.reshape(heads // 2, -1, w.shape[0] // heads, w.shape[1])[:, :2].mean(1).flatten(0, 1)


def across_groups(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """The groups are right, but the mean runs across them: the first head of each group with the
    first of the others. Take it over the heads of one group; `kv_heads` matrices are left.
    """
    return _groups(w, heads, kv_heads).mean(0).flatten(0, 1)


def over_heads(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """The sum of a group is divided by `heads`, the number of all. How many are in the sum?"""
    return _groups(w, heads, kv_heads).sum(1).flatten(0, 1) / heads


def over_kv_heads(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """The sum of a group is divided by `kv_heads`, the number of groups. How many are in one?"""
    return _groups(w, heads, kv_heads).sum(1).flatten(0, 1) / kv_heads


def of_the_transpose(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """You pool the transpose of w. The shape is right, but the rows of w belong to heads; its
    columns belong to the input.
    """
    return pool_kv_heads(w.T, heads, kv_heads)


def head_by_head(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    per_head = w.chunk(heads)
    share = heads // kv_heads
    shared = []
    for g in range(kv_heads):
        total = torch.zeros_like(per_head[0])
        for i in range(g * share, (g + 1) * share):
            total = total + per_head[i]
        shared.append(total / share)
    return torch.cat(shared)


def by_matrix(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    """Multiply with a matrix that averages."""
    share = heads // kv_heads
    owner = torch.arange(heads, device=w.device) // share
    average = F.one_hot(owner, kv_heads).to(w.dtype) / share  # (H, G)
    return torch.einsum("hg,hkd->gkd", average, w.reshape(heads, -1, w.shape[1])).flatten(0, 1)


def by_permutation(w: Tensor, heads: int, kv_heads: int) -> Tensor:
    width, share = w.size(0) // heads, heads // kv_heads
    rows = w.contiguous().view(kv_heads, share, width, -1)
    return rows.permute(0, 2, 3, 1).mean(dim=-1).reshape(kv_heads * width, w.size(1))


EXERCISE = Exercise(
    solution=pool_kv_heads,
    chapter=CHAPTER,
    title="From many heads to few",
    points=2,
    minutes=10,
    difficulty=3,
    statement=(
        "A layer with `heads` key heads is turned into one with `kv_heads`. Return the new key "
        "matrix: for each group of neighbouring heads, the mean of their matrices. The same "
        "function serves the values."
    ),
    example=(
        "Four heads of one row each: 1, 3, 5 and 5 in their first column, 0, 0, 2 and 4 in the "
        "second. Two groups: heads 0 and 1 give (1 + 3) / 2 = 2 and 0; heads 2 and 3 give 5 and "
        "(2 + 4) / 2 = 3."
    ),
    conventions=(
        "Layout of nn.Linear, (outputs, inputs): with heads of width 5, rows 0 to 4 are head 0, "
        "rows 5 to 9 head 1.",
        "Neighbours form a group: with 6 heads and 3 groups, heads 0 and 1, 2 and 3, 4 and 5.",
        "Row r of a shared head is the mean of the rows r of its heads.",
    ),
    hints=(
        "How many heads are in a group, and how many rows has a head?",
        "Give w an axis for groups, one for heads in a group and one for rows of a head. In which "
        "order do they lie in memory?",
        "Over which of these axes is the mean? What has to be flattened afterwards?",
    ),
    cases=CASES,
    mistakes=(
        summed,
        variance_kept,
        first_of_group,
        last_of_group,
        first_heads,
        first_rows,
        largest,
        median,
        dealt_out,
        rows_of_a_head,
        rows_interleaved,
        columns,
        transposed,
        repeated,
        mean_of_all,
        axes_left,
        roles_swapped,
        pairs,
        across_groups,
        over_heads,
        over_kv_heads,
        of_the_transpose,
        on_the_cpu(pool_kv_heads),
        always_float32(pool_kv_heads),
        cut_from_autograd(pool_kv_heads),
        changed_in_place(pool_kv_heads),
    ),
    alternatives=(head_by_head, by_matrix, by_permutation),
)
