"""Exercise: attention in which several query heads share a key and a value.

Out of scope: caches (cached_attention), projections (GroupedQueryAttention).
"""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values, zeros_kept
from autograder.exercises.chapter_05 import CHAPTER
from autograder.exercises.chapter_05._draws import (
    Sizes,
    far_apart,
    far_below,
    grouped_sizes,
    pair,
)
from autograder.inputs import described, normal
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.grouped import grouped_query_attention
from solutions.masked import masked_attention
from solutions.masks import causal_mask

QUERIES, KEYS, SCORES = "B H L K", "B G M K", "B H L M"


def _tensors(rng: Generator, of: Sizes) -> tuple[Tensor, Tensor, Tensor]:
    return normal(rng, QUERIES, of), *pair(rng, KEYS, of)


def _words(of: Sizes) -> str:
    return f"{described('q', QUERIES, of)}, {described('k and v', KEYS, of)}"


def _trial(rng: Generator, of: Sizes) -> Trial:
    return Trial(call(*_tensors(rng, of)), _words(of), of, QUERIES)


def _masked(rng: Generator, of: Sizes, axes: str) -> Trial:
    """Hide half of the pairs at random, but never the first key."""
    letters = axes.split()
    shape = [of.get(letter, 1) for letter in letters]
    mask = torch.rand(shape, generator=rng) < 0.5
    mask[..., 0] = True
    words = f"{_words(of)}, mask {tuple(shape)}"
    return Trial(call(*_tensors(rng, of), mask), words, of, QUERIES)


def _drawn(rng: Generator) -> Sizes:
    return grouped_sizes(rng, "B L M K")


def neighbours(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, _drawn(rng))
    yield _trial(rng, {**_drawn(rng), "G": 3, "H": 12})
    of = _drawn(rng)
    yield Trial(call(*_tensors(rng, of), None), _words(of), of, QUERIES)


def as_many_keys(rng: Generator) -> Iterator[Trial]:
    of = _drawn(rng)
    yield _trial(rng, {**of, "G": of["H"]})


def one_key_head(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, {**_drawn(rng), "G": 1})


def masks(rng: Generator) -> Iterator[Trial]:
    for axes in ("L M", "B 1 1 M", SCORES, "1 H L M"):
        yield _masked(rng, _drawn(rng), axes)


def one_query(rng: Generator) -> Iterator[Trial]:
    of = {**_drawn(rng), "L": 1}
    yield _trial(rng, of)
    yield _masked(rng, of, SCORES)
    yield _masked(rng, of, "B 1 1 M")


def nothing_to_see(rng: Generator) -> Iterator[Trial]:
    of = _drawn(rng)
    mask = causal_mask(of["L"], of["M"]).clone()
    mask[1] = False
    words = f"{_words(of)}, query 1 sees nothing"
    yield Trial(call(*_tensors(rng, of), mask), words, of, QUERIES)


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, dict.fromkeys("BLMK", 4) | {"H": 4, "G": 2})


def turned_heads(rng: Generator) -> Iterator[Trial]:
    """As split heads are: not contiguous."""
    of = _drawn(rng)
    turned = [normal(rng, axes, of).transpose(1, 2) for axes in ("B L H K", "B M G K", "B M G K")]
    yield Trial(call(*turned), _words(of), of, QUERIES)


def singles(rng: Generator) -> Iterator[Trial]:
    for single in "BMK":
        yield _trial(rng, {**_drawn(rng), single: 1})


def large_scores(rng: Generator) -> Iterator[Trial]:
    of = _drawn(rng)
    q, k, v = _tensors(rng, of)
    words = f"{_words(of)}, scores of thousands"
    yield Trial(call(*far_apart(q, k, rng), v), words, of, QUERIES)


def high_but_hidden(rng: Generator) -> Iterator[Trial]:
    """Hide the keys with the higher scores, which are all far below 0."""
    of = _drawn(rng)
    q, k, v = _tensors(rng, of)
    order = torch.rand(k.shape[:3], generator=rng).argsort(-1)
    seen = (order >= of["M"] // 2).repeat_interleave(of["H"] // of["G"], 1)
    mask = seen[:, :, None].expand(*q.shape[:3], -1).clone()
    words = f"{_words(of)}, mask {tuple(mask.shape)}, scores below -30,000"
    yield Trial(call(*far_below(q, k, order), v, mask), words, of, QUERIES)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng, _drawn(rng)))
    yield from in_dtypes(_masked(rng, _drawn(rng), "L M"))


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, _drawn(rng)))
    yield elsewhere(_masked(rng, _drawn(rng), "L M"))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(rng, _drawn(rng)), rng)


def kept(rng: Generator) -> Iterator[Trial]:
    yield from neighbours(rng)
    yield from one_query(rng)


CASES = (
    Case("neighbouring query heads share a key and a value", neighbours, values, weight=2),
    Case("with as many key heads it is plain attention", as_many_keys, values),
    Case("with one key head all query heads share it", one_key_head, values),
    Case("hidden keys are not seen, whatever the mask's shape", masks, values),
    Case("works for a single query, with a mask and without", one_query, values),
    Case("a query that sees nothing gets zeros", nothing_to_see, zeros_kept),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("works on tensors that are not contiguous", turned_heads, values),
    Case("works for one example, one key and one entry", singles, values),
    Case("scores in the thousands stay finite", large_scores, values),
    Case("hidden keys stay hidden, however high their scores", high_but_hidden, values, weight=2),
    Case("the dtype is kept", dtypes, values, tolerance=6e-2),
    Case("q, k, v and the mask are not changed", kept, inputs_kept),
    Case("works on whatever device the tensors are on", devices, values),
    Case("the gradient reaches q, k and v", gradients, values),
)


def _share(q: Tensor, k: Tensor) -> int:
    return q.shape[1] // k.shape[1]


def _per_query_head(x: Tensor, q: Tensor) -> Tensor:
    return x.repeat_interleave(_share(q, x), dim=1)


def _in_groups(q: Tensor, k: Tensor) -> Tensor:
    """(B, H, L, K) -> (B, G, heads of a group, L, K)"""
    return q.reshape(q.shape[0], k.shape[1], -1, *q.shape[2:])


def tiled(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Query head i uses key/value head i % G: the keys are tiled, 0 1 0 1, as `repeat` does it.
    Here neighbours form a group: 0 0 1 1.
    """
    share = _share(q, k)
    return masked_attention(q, k.repeat(1, share, 1, 1), v.repeat(1, share, 1, 1), mask)


def values_tiled(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """The keys are in groups of neighbours, but the values are tiled: a query head takes its key
    from one head and its value from another.
    """
    return masked_attention(q, _per_query_head(k, q), v.repeat(1, _share(q, v), 1, 1), mask)


def keys_tiled(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """The values are in groups of neighbours, but the keys are tiled: a query head takes its value
    from one head and its key from another.
    """
    return masked_attention(q, k.repeat(1, _share(q, k), 1, 1), _per_query_head(v, q), mask)


def averaged(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """All query heads use the mean of all key/value heads. Each should use the one of its group."""
    return masked_attention(q, k.mean(1, keepdim=True), v.mean(1, keepdim=True), mask)


def first_alone(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """All query heads use key/value head 0, as if it were the only one."""
    return masked_attention(q, k[:, :1], v[:, :1], mask)


def queries_averaged(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """The queries of a group are averaged, so only G heads answer. All H query heads stay; keys and
    values are shared, not questions.
    """
    means = _in_groups(q, k).mean(2)
    return masked_attention(means, k, v, mask)


def answers_averaged(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """The answers of a group are averaged. Each query head has an answer of its own."""
    answers = grouped_query_attention(q, k, v, mask)
    groups = _in_groups(answers, k)
    return groups.mean(2, keepdim=True).expand_as(groups).flatten(1, 2)


def heads_regrouped(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Every answer is right, but the heads come back in another order: the axes of groups and of
    heads in a group have changed places before they were joined.
    """
    answers = grouped_query_attention(q, k, v, mask)
    return _in_groups(answers, k).transpose(1, 2).flatten(1, 2)


def groups_reversed(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """The first query heads use the last key/value head. Count groups from the front."""
    return grouped_query_attention(q, k.flip(1), v.flip(1), mask)


def not_repeated(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """There are more query heads than key heads, and the two do not fit together by themselves. How
    does each query head get its key?
    """
    return masked_attention(q, k, v, mask)


def mask_ignored(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """The mask is not used: every query sees every key."""
    return grouped_query_attention(q, k, v)


def mask_skipped_for_one(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """For a single query the mask is skipped. A causal mask hides nothing from it, but others do:
    padding, for example.
    """
    return grouped_query_attention(q, k, v, None if q.shape[2] == 1 else mask)


def mask_inverted(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """True hides in your mask, as in nn.MultiheadAttention and `masked_fill`. Here it means that
    attending is allowed.
    """
    return grouped_query_attention(q, k, v, None if mask is None else ~mask)


def mask_added(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """The mask is added to the scores as it is, as 0 and 1. It is a bool that says which scores
    count.
    """
    scores = q @ _per_query_head(k, q).mT / math.sqrt(q.shape[-1])
    scores = scores if mask is None else scores + mask
    return scores.softmax(-1) @ _per_query_head(v, q)


def masked_afterwards(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Hidden weights are set to 0 after the softmax, and the rest of a row no longer sums to 1."""
    scores = q @ _per_query_head(k, q).mT / math.sqrt(q.shape[-1])
    weights = scores.softmax(-1)
    weights = weights if mask is None else weights * mask
    return weights @ _per_query_head(v, q)


def _nothing_seen(fill: float, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    scores = q @ _per_query_head(k, q).mT / math.sqrt(q.shape[-1])
    scores = scores if mask is None else scores.masked_fill(~mask, fill)
    return scores.softmax(-1) @ _per_query_head(v, q)


def nan_rows(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """A query that sees nothing gets NaN, the softmax of a row of -inf. Here it gets zeros: chapter
    3 has a softmax that does so.
    """
    return _nothing_seen(-math.inf, q, k, v, mask)


def uniform_rows(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """A query that sees nothing gets the mean of all values, since all its scores are filled with
    the same number. Here it gets zeros.
    """
    return _nothing_seen(-1e9, q, k, v, mask)


def fill_not_low_enough(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Hidden scores get a number that is low, but not low enough, such as -10,000: where scores
    that count are lower still, the hidden keys win. Nothing is below -inf.
    """
    answers = _nothing_seen(-1e4, q, k, v, mask)
    return answers if mask is None else answers * mask.any(-1, keepdim=True)


def lowered(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """A number such as -10,000 is added to hidden scores. Those that were high enough still win,
    and where all are hidden, they share the weight as before. Nothing is below -inf.
    """
    scores = q @ _per_query_head(k, q).mT / math.sqrt(q.shape[-1])
    scores = scores if mask is None else scores - 1e4 * ~mask
    return scores.softmax(-1) @ _per_query_head(v, q)


def masked_too_late(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """The mask comes after the softmax, and each row is divided by its sum once more. If a hidden
    score is far above the others, their weights are 0 by then: hide scores, not weights.
    """
    weights = (q @ _per_query_head(k, q).mT / math.sqrt(q.shape[-1])).softmax(-1)
    if mask is not None:
        weights = weights * mask
        weights = (weights / weights.sum(-1, keepdim=True)).nan_to_num(0.0)
    return weights @ _per_query_head(v, q)


def repeated_g_times(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Each key head is repeated G times, and that is not how many query heads there are afterwards.
    How many query heads share one of the G?
    """
    g = k.shape[1]
    return masked_attention(q, k.repeat_interleave(g, 1), v.repeat_interleave(g, 1), mask)


def owner_by_g(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Query head i uses key/value head i // G. Divide by the number of query heads in a group,
    which is H / G: with H = 6 and G = 3, two.
    """
    owner = torch.arange(q.shape[1], device=q.device) // k.shape[1]
    return masked_attention(q, k[:, owner], v[:, owner], mask)


def _grouped(q: Tensor, k: Tensor, v: Tensor, seen: Tensor | None) -> Tensor:
    """Attend with an axis for groups: (B, G, heads of a group, L, M) scores."""
    return masked_attention(_in_groups(q, k), k[:, :, None], v[:, :, None], seen).flatten(1, 2)


def mask_without_groups(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Your scores have an axis for groups, the mask has none: it lies against the wrong axes. Bring
    it to (B, H, L, M) and cut H as you cut it in the queries.
    """
    return _grouped(q, k, v, mask)


def mask_tiled(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """The query heads are in groups of neighbours, but the heads of the mask are dealt out: its
    axes for groups and for heads of a group have changed places.
    """
    if mask is None:
        return grouped_query_attention(q, k, v)
    shape = q.shape[0], -1, k.shape[1], q.shape[2], k.shape[2]
    seen = mask.expand(*q.shape[:3], k.shape[2]).reshape(shape)
    return _grouped(q, k, v, seen.transpose(1, 2))


def always_causal(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Without a mask yours is causal. None hides nothing here: whoever wants a causal mask passes
    one.
    """
    causal = causal_mask(q.shape[2], k.shape[2], q.device)
    return grouped_query_attention(q, k, v, causal if mask is None else mask)


def no_scale(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """The scores are not divided by the root of the width of a head."""
    return grouped_query_attention(q * math.sqrt(q.shape[-1]), k, v, mask)


def scale_of_the_model(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """The scale is that of the whole model, the root of H times K. Each head has K entries."""
    return grouped_query_attention(q / math.sqrt(q.shape[1]), k, v, mask)


def keys_for_values(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """The keys are mixed where the values should be."""
    return grouped_query_attention(q, k, k, mask)


def unstable(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """The scores are exponentiated as they are. Shift each row by its maximum first."""
    scores = q @ _per_query_head(k, q).mT / math.sqrt(q.shape[-1])
    powers = scores.exp() if mask is None else scores.exp() * mask
    sums = powers.sum(-1, keepdim=True)
    weights = (powers / sums).masked_fill(sums == 0, 0.0)
    return weights @ _per_query_head(v, q)


def by_einsum(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """An axis for groups and one for the query heads of each; nothing is repeated."""
    b, h, length, width = q.shape
    g = k.shape[1]
    asked = q.reshape(b, g, h // g, length, width)
    scores = torch.einsum("bgslk,bgmk->bgslm", asked, k) / width**0.5
    if mask is not None:
        seen = mask.expand(b, h, length, k.shape[2]).reshape(scores.shape)
        scores = scores.masked_fill(~seen, -math.inf)
    weights = scores.softmax(-1).nan_to_num(0.0)
    return torch.einsum("bgslm,bgmk->bgslk", weights, v).reshape(b, h, length, width)


def head_by_head(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    share = q.size(1) // k.size(1)
    everyone = torch.ones(1, dtype=torch.bool, device=q.device)
    seen = (everyone if mask is None else mask).expand(*q.shape[:3], k.size(2))
    answers = []
    for i in range(q.size(1)):
        key, value = k[:, i // share], v[:, i // share]
        answers.append(masked_attention(q[:, i], key, value, seen[:, i]))
    return torch.stack(answers, 1)


def by_expand(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Expand an axis and flatten it, as public implementations do."""
    batch, g, tokens, width = k.shape
    share = q.shape[1] // g
    shape = (batch, g, share, tokens, width)
    keys = k[:, :, None].expand(shape).reshape(batch, g * share, tokens, width)
    grown = v[:, :, None].expand(shape).reshape(batch, g * share, tokens, width)
    return masked_attention(q, keys, grown, mask)


def by_index(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Look the owner of each query head up, and add -inf for what is hidden."""
    owner = torch.arange(q.shape[1], device=q.device) * k.shape[1] // q.shape[1]
    scores = torch.matmul(q, k[:, owner].transpose(2, 3)) * q.shape[3] ** -0.5
    if mask is None:
        return torch.softmax(scores, -1) @ v[:, owner]
    weights = torch.where(mask, scores, float("-inf")).softmax(-1)
    return torch.where(mask, weights, torch.zeros_like(weights)) @ v[:, owner]


def by_kron(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Repeat with a Kronecker product; the lowest finite number, then zeros."""
    one = torch.ones(1, q.shape[1] // k.shape[1], 1, 1, dtype=k.dtype, device=k.device)
    keys, grown = (torch.kron(x.contiguous(), one) for x in (k, v))
    scores = torch.einsum("bhlk,bhmk->bhlm", q / q.size(-1) ** 0.5, keys)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(q.dtype).min)
    weights = scores.softmax(-1) if mask is None else scores.softmax(-1) * mask
    return weights @ grown


EXERCISE = Exercise(
    solution=grouped_query_attention,
    chapter=CHAPTER,
    title="Query heads that share",
    points=4,
    minutes=15,
    difficulty=3,
    statement=(
        "There are H query heads and only G key/value heads. Neighbouring query heads form a group "
        "and share one key/value head. Return an answer for each query head. `masked_attention(q, "
        "k, v, mask)` of chapter 3 is imported at the top and may do the rest; torch's ready-made "
        "attention is not allowed."
    ),
    example=(
        "Four query heads, two key/value heads, one token whose values are 1 and 2. With one key "
        "the weight is 1, so heads 0 and 1 answer 1 and heads 2 and 3 answer 2."
    ),
    conventions=(
        "Query head i uses key/value head i // (H / G): with H = 6 and G = 3 these are "
        "0 0 1 1 2 2, not 0 1 2 0 1 2.",
        "The mask broadcasts to (B, H, L, M); True means that attending is allowed.",
        "A query that sees nothing gets zeros. Scores are divided by the root of K.",
    ),
    hints=(
        "Attention with as many key heads as query heads is done. What must keys and values look "
        "like so that you can use it?",
        "With H = 6 and G = 3, write down which key/value head each of the six query heads uses. "
        "Which function of torch repeats 0 1 2 in that order?",
        "Or the other way round: give the queries an axis for groups, and let the keys broadcast. "
        "Then the mask needs the same axes.",
    ),
    cases=CASES,
    mistakes=(
        tiled,
        values_tiled,
        keys_tiled,
        averaged,
        first_alone,
        queries_averaged,
        answers_averaged,
        heads_regrouped,
        groups_reversed,
        not_repeated,
        mask_ignored,
        mask_skipped_for_one,
        mask_inverted,
        mask_added,
        masked_afterwards,
        nan_rows,
        uniform_rows,
        no_scale,
        scale_of_the_model,
        keys_for_values,
        unstable,
        fill_not_low_enough,
        lowered,
        masked_too_late,
        repeated_g_times,
        owner_by_g,
        mask_without_groups,
        mask_tiled,
        always_causal,
        on_the_cpu(grouped_query_attention),
        always_float32(grouped_query_attention),
        cut_from_autograd(grouped_query_attention),
        changed_in_place(grouped_query_attention),
    ),
    alternatives=(by_einsum, head_by_head, by_expand, by_index, by_kron),
    forbidden=READY_MADE_ATTENTION,
)
