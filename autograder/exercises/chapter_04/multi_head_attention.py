"""Exercise: multi-head attention from given weights.

Out of scope: grouped heads and caches (chapter 05), dropout (chapter 12).
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import linear

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_04 import CHAPTER
from autograder.exercises.chapter_04 import merge_heads as merging
from autograder.exercises.chapter_04 import split_heads as splitting
from autograder.inputs import described, normal, sizes
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.heads import merge_heads, multi_head_attention, split_heads
from solutions.masked import masked_attention
from solutions.masks import causal_mask, padding_mask
from solutions.softmax import softmax

Projections = tuple[Tensor, ...]
Mask = Tensor | None
Step = Callable[..., Tensor]


def drawn_sizes(rng: Generator, **fixed: int) -> dict[str, int]:
    """Draw the size of every axis; D is H times K."""
    of = sizes(rng, "B L M H K") | fixed
    return {**of, "D": of["H"] * of["K"]}


def drawn_weights(rng: Generator, of: dict[str, int]) -> Projections:
    """Draw w_q, w_k, w_v and w_o so that scores and answers are about 1 in size."""
    w_q, w_k, w_v, w_o = (normal(rng, "D D", of, std=of["D"] ** -0.5) for _ in range(4))
    return 2 * w_q, w_k, w_v, w_o  # differences between keys count


def _trial(rng: Generator, of: dict[str, int], mask: Mask = None, note: str = "") -> Trial:
    x, memory = normal(rng, "B L D", of), normal(rng, "B M D", of)
    return _with(x, memory, drawn_weights(rng, of), of, mask=mask, note=note)


def _with(
    x: Tensor,
    memory: Tensor,
    weights: Projections,
    of: dict[str, int],
    *,
    mask: Mask = None,
    note: str = "",
) -> Trial:
    words = f"{described('x', 'B L D', of)}, memory {tuple(memory.shape)}, heads = {of['H']}"
    masks = () if mask is None else (mask,)
    shape = "" if mask is None else f", mask {tuple(mask.shape)}"
    request = call(x, memory, weights, of["H"], *masks)
    return Trial(request, f"{words}{shape}{note}", of, "B L D")


def _random_mask(rng: Generator, of: dict[str, int], axes: str) -> Tensor:
    """Hide about half of the keys, but not the first one."""
    mask = torch.rand([of[letter] for letter in axes.split()], generator=rng) < 0.5
    mask[..., 0] = True
    return mask


def another_sequence(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, drawn_sizes(rng))
    yield _trial(rng, drawn_sizes(rng))


def itself(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    of["M"] = of["L"]
    x = normal(rng, "B L D", of)
    yield _with(x, x.clone(), drawn_weights(rng, of), of)


def causal(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    of["M"] = of["L"]
    yield _trial(rng, of, causal_mask(of["L"], of["M"]), ", causal")


def by_example(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    lengths = torch.randint(1, of["M"] + 1, (of["B"],), generator=rng)
    lengths[0], lengths[1] = of["M"], 1
    yield _trial(rng, of, padding_mask(lengths, of["M"]))
    yield _trial(rng, of, _random_mask(rng, of, "B L M").unsqueeze(1))


def by_head(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    yield _trial(rng, of, _random_mask(rng, of, "H L M"))
    yield _trial(rng, of, _random_mask(rng, of, "B H L M"))


def sees_nothing(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    mask = _random_mask(rng, of, "L M")
    mask[1] = False
    yield _trial(rng, of, mask, ", row 1 all False")


def small(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, drawn_sizes(rng, H=1))
    yield _trial(rng, drawn_sizes(rng, K=1))
    yield _trial(rng, drawn_sizes(rng, L=1))
    yield _trial(rng, drawn_sizes(rng, M=1))
    yield _trial(rng, drawn_sizes(rng, B=1))


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    side = sizes(rng, "L")["L"]
    of = dict.fromkeys("BLMHK", side) | {"D": side**2}
    x, memory = (normal(rng, "D L B", of).permute(2, 1, 0) for _ in range(2))
    yield _with(x, memory, drawn_weights(rng, of), of, note=", not in order in memory")


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(rng, drawn_sizes(rng)), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng, drawn_sizes(rng)))


def kept(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    mask = _random_mask(rng, of, "L M")
    mask[0], mask[1] = False, True  # whoever sets a column changes one of the two
    yield _trial(rng, of, mask, ", row 0 all False, row 1 all True")
    yield _trial(rng, of, _random_mask(rng, of, "B H L M"))
    yield _trial(rng, of)


def devices(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    yield elsewhere(_trial(rng, of, _random_mask(rng, of, "L M")))
    yield elsewhere(_trial(rng, of))


CASES = (
    Case("several heads read another sequence", another_sequence, values, weight=2),
    Case("a sequence reads itself", itself, values),
    Case("a causal mask hides later tokens", causal, values),
    Case("examples may have different masks", by_example, values),
    Case("heads may have different masks", by_head, values),
    Case("a token that sees nothing gets zeros", sees_nothing, values),
    Case("works with one head, entry, token, key or example", small, values),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("the gradient reaches x, memory and all weights", gradients, values),
    Case("the dtype of x is kept", dtypes, values, tolerance=6e-2),
    Case("nothing that was given is changed", kept, inputs_kept),
    Case("works on whatever device x is on", devices, values),
)


def _changed(
    x: Tensor,
    memory: Tensor,
    weights: Projections,
    heads: int,
    mask: Mask,
    *,
    split: Step = split_heads,
    attend: Step = masked_attention,
    merge: Step = merge_heads,
    project: Step = linear,
    mix: Step = linear,
) -> Tensor:
    """Give the right answer with one step replaced by another."""
    w_q, w_k, w_v, w_o = weights
    q, k, v = project(x, w_q), project(memory, w_k), project(memory, w_v)
    answers = attend(*(split(one, heads) for one in (q, k, v)), mask)
    return mix(merge(answers), w_o)


def _scores(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT / math.sqrt(q.shape[-1])


def _hidden(scores: Tensor, mask: Mask, fill: float = -math.inf) -> Tensor:
    return scores if mask is None else scores.masked_fill(~mask, fill)


def _untransposed(x: Tensor, weight: Tensor) -> Tensor:
    return x @ weight


def one_head(x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None) -> Any:
    """There is one head as wide as the model: `heads` has no effect. Split queries, keys and values
    before they meet.
    """
    return multi_head_attention(x, memory, weights, 1, mask)


def split_at_once(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """Heads are split by a reshape to (B, H, L, K) without an exchange of axes: pieces of different
    tokens get mixed, and a causal mask hides the wrong ones. Is it your `split_heads` that does it,
    or what you wrote in its place?
    """
    return _changed(x, memory, weights, heads, mask, split=splitting.split_at_once)


def merged_at_once(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """Heads are merged by a reshape without an exchange of axes: what different tokens found ends
    up in one vector. Is it your `merge_heads` that does it, or what you wrote in its place?
    """
    return _changed(x, memory, weights, heads, mask, merge=merging.merged_at_once)


def entry_by_entry(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """A head gets every H-th entry of the projections: they are cut into (K, H) instead of (H, K),
    and merged in the same way. It is multi-head attention for weights in another order.
    """
    split, merge = splitting.entry_by_entry, merging.entry_by_entry
    return _changed(x, memory, weights, heads, mask, split=split, merge=merge)


def merged_by_entry(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """Splitting is right, but merging interleaves the entries of the heads. All entries of head 0
    come first.
    """
    return _changed(x, memory, weights, heads, mask, merge=merging.entry_by_entry)


def no_output_matrix(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """The heads are merged but never mixed: the output matrix is not used."""
    return _changed(x, memory, weights, heads, mask, mix=lambda merged, w_o: merged)


def untransposed(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """The weights are applied as x w. They are laid out as in `nn.Linear`: (out, in), applied as
    x w^T.
    """
    return _changed(x, memory, weights, heads, mask, project=_untransposed, mix=_untransposed)


def output_untransposed(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """The output matrix is applied as x w, the other three as x w^T. All four have one layout."""
    return _changed(x, memory, weights, heads, mask, mix=_untransposed)


def queries_untransposed(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """w_q is applied as x w, the other three as x w^T. All four have one layout."""
    return multi_head_attention(x, memory, _turned(weights, 0), heads, mask)


def keys_untransposed(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """w_k is applied as x w, the other three as x w^T. All four have one layout."""
    return multi_head_attention(x, memory, _turned(weights, 1), heads, mask)


def values_untransposed(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """w_v is applied as x w, the other three as x w^T. All four have one layout."""
    return multi_head_attention(x, memory, _turned(weights, 2), heads, mask)


def _turned(weights: Projections, number: int) -> Projections:
    return tuple(w.T if i == number else w for i, w in enumerate(weights))


def values_by_key_matrix(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """Values are made with w_k, the matrix of the keys. They have a matrix of their own, w_v."""
    w_q, w_k, _, w_o = weights
    return multi_head_attention(x, memory, (w_q, w_k, w_k, w_o), heads, mask)


def keys_by_query_matrix(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """Keys are made with w_q, the matrix of the queries. They have a matrix of their own, w_k."""
    w_q, _, w_v, w_o = weights
    return multi_head_attention(x, memory, (w_q, w_q, w_v, w_o), heads, mask)


def keys_and_values_swapped(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """The second matrix makes the values, the third the keys. The order is w_q, w_k, w_v, w_o."""
    w_q, w_k, w_v, w_o = weights
    return multi_head_attention(x, memory, (w_q, w_v, w_k, w_o), heads, mask)


def queries_and_keys_swapped(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """The first matrix makes the keys, the second the queries. The order is w_q, w_k, w_v, w_o."""
    w_q, w_k, w_v, w_o = weights
    return multi_head_attention(x, memory, (w_k, w_q, w_v, w_o), heads, mask)


def memory_ignored(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """Keys and values are made from x: the memory is never read. Whose tokens answer?"""
    return multi_head_attention(x, x, weights, heads, mask)


def values_from_x(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """Keys come from the memory but values from x. The two belong together: a value is what is
    handed over by the token that the key describes.
    """
    w_q, w_k, w_v, w_o = weights
    q, k = split_heads(linear(x, w_q), heads), split_heads(linear(memory, w_k), heads)
    v = split_heads(linear(x, w_v), heads)
    return linear(merge_heads(masked_attention(q, k, v, mask)), w_o)


def keys_from_x(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """Values come from the memory but keys from x. The two belong together: a key describes the
    token that hands over the value.
    """
    w_q, w_k, w_v, w_o = weights
    q, k = split_heads(linear(x, w_q), heads), split_heads(linear(x, w_k), heads)
    v = split_heads(linear(memory, w_v), heads)
    return linear(merge_heads(masked_attention(q, k, v, mask)), w_o)


def roles_swapped(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """The memory asks and x answers. There should be one output for each token of x."""
    return multi_head_attention(memory, x, weights, heads, mask)


def scaled_by_model(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """The scores are divided by the root of the model's width D. A head adds up K products, the
    width of one head, and that is what the scale has to make up for.
    """

    def attend(q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
        return masked_attention(q / math.sqrt(heads), k, v, mask)

    return _changed(x, memory, weights, heads, mask, attend=attend)


def scaled_by_heads(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """The scores are divided by the root of the number of heads. How many products does one head
    add up for a score?
    """

    def attend(q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
        return masked_attention(q * math.sqrt(q.shape[-1] / heads), k, v, mask)

    return _changed(x, memory, weights, heads, mask, attend=attend)


def not_scaled(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """The scores are not scaled. Each head divides by the root of its own width."""

    def attend(q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
        return masked_attention(q * math.sqrt(q.shape[-1]), k, v, mask)

    return _changed(x, memory, weights, heads, mask, attend=attend)


def scaled_twice(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """The scores are divided by the root of K twice. `masked_attention` divides already; or did you
    divide the scores by K itself?
    """

    def attend(q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
        return masked_attention(q / math.sqrt(q.shape[-1]), k, v, mask)

    return _changed(x, memory, weights, heads, mask, attend=attend)


def scores_times_mask(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """Hidden scores are set to 0, by a product with the mask. A score of 0 still gets a weight, for
    exp(0) = 1. What number has the exponential 0?
    """

    def attend(q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
        return softmax(_hidden(_scores(q, k), mask, fill=0.0)) @ v

    return _changed(x, memory, weights, heads, mask, attend=attend)


def mask_inverted(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """The mask is read the other way round. Here True means: may attend. (True means: hide, in
    `nn.MultiheadAttention` and `masked_fill`.)
    """
    return multi_head_attention(x, memory, weights, heads, None if mask is None else ~mask)


def mask_ignored(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """The mask is not used."""
    return multi_head_attention(x, memory, weights, heads)


def mask_after_softmax(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """Hidden attention weights are set to 0 after the softmax, so that the others no longer sum
    to 1. Hide the scores before it.
    """

    def attend(q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
        return _hidden(softmax(_scores(q, k)), mask, fill=0.0) @ v

    return _changed(x, memory, weights, heads, mask, attend=attend)


def nan_where_hidden(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """A token that may see nothing gets NaN: all its scores are -inf, and a softmax of those is 0
    divided by 0. Its answers should be zeros, as in `masked_attention` of chapter 3.
    """

    def attend(q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
        return softmax(_hidden(_scores(q, k), mask)) @ v

    return _changed(x, memory, weights, heads, mask, attend=attend)


def mean_where_hidden(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """A token that may see nothing gets the mean of all values: its scores are all the same large
    negative number. Its answers should be zeros, as in `masked_attention` of chapter 3.
    """

    def attend(q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
        return softmax(_hidden(_scores(q, k), mask, fill=-1e9)) @ v

    return _changed(x, memory, weights, heads, mask, attend=attend)


def over_heads(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """The softmax runs over the heads. Which of the axes (B, H, L, M) holds the keys?"""

    def attend(q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
        return softmax(_hidden(_scores(q, k), mask), dim=1).nan_to_num() @ v

    return _changed(x, memory, weights, heads, mask, attend=attend)


def over_queries(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """The softmax runs over the queries. A query shares its attention out among the keys."""

    def attend(q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
        return softmax(_hidden(_scores(q, k), mask), dim=-2).nan_to_num() @ v

    return _changed(x, memory, weights, heads, mask, attend=attend)


def always_causal(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """Later tokens are hidden even where no mask says so. Here only the mask hides."""
    earlier = causal_mask(x.shape[1], memory.shape[1], x.device)
    both = earlier if mask is None else earlier & mask
    return multi_head_attention(x, memory, weights, heads, both)


def masks_in_wrong_order(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """Examples get each other's masks. Batch and heads are folded into one axis with the example
    changing slowest, and the mask is repeated as if it changed fastest.
    """
    if mask is None:
        return multi_head_attention(x, memory, weights, heads)
    full = mask.expand(x.shape[0], heads, x.shape[1], memory.shape[1])
    mixed = full.transpose(0, 1).reshape(full.shape)
    return multi_head_attention(x, memory, weights, heads, mixed)


def mask_made_on_the_cpu(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """Where no mask is given you make one, and it stands on the CPU wherever x is. Make it on the
    device of x, or make none: `masked_attention` takes None.
    """
    if mask is None:
        mask = torch.ones(x.shape[1], memory.shape[1], dtype=torch.bool)
    return multi_head_attention(x, memory, weights, heads, mask)


def mask_changed(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """The answer is right, but the mask has other entries after the call: the caller may still need
    it. Work on a copy.
    """
    answer = multi_head_attention(x, memory, weights, heads, mask)
    if mask is not None:
        mask[..., 0] = True
    return answer


def with_input_added(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """x is added to the result. That sum, the residual connection, belongs to the block around it
    (chapter 7).
    """
    return x + multi_head_attention(x, memory, weights, heads, mask)


def with_weights(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Any:
    """You return the attention weights as well. Here only the output is asked."""
    w_q, w_k, _, _ = weights
    q, k = split_heads(linear(x, w_q), heads), split_heads(linear(memory, w_k), heads)
    return multi_head_attention(x, memory, weights, heads, mask), softmax(_scores(q, k))


def by_einsum(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Tensor:
    """A matrix of its own for each head; nothing is split or merged."""
    w_q, w_k, w_v = (w.reshape(heads, -1, w.shape[1]) for w in weights[:3])
    q = torch.einsum("bld,hkd->bhlk", x, w_q)
    k, v = (torch.einsum("bmd,hkd->bhmk", memory, w) for w in (w_k, w_v))
    scores = torch.einsum("bhlk,bhmk->bhlm", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, -math.inf)
    attention = torch.nan_to_num(torch.softmax(scores, dim=-1))
    w_o = weights[3].reshape(weights[3].shape[0], heads, -1)
    return torch.einsum("bhlm,bhmk,dhk->bld", attention, v, w_o)


def head_by_head(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Tensor:
    """A loop over heads, each with its rows of the weights."""
    full = None
    if mask is not None:
        full = mask.expand(x.shape[0], heads, x.shape[1], memory.shape[1])
    pieces = []
    for i, (w_q, w_k, w_v) in enumerate(zip(*(w.chunk(heads) for w in weights[:3]), strict=True)):
        own = None if full is None else full[:, i]
        pieces.append(masked_attention(x @ w_q.T, memory @ w_k.T, memory @ w_v.T, own))
    return torch.cat(pieces, dim=-1) @ weights[3].T


def folded_into_batch(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Tensor:
    """Heads as more examples, and a mask of 0 and -inf: the way of fairseq."""
    batch, length, width = x.shape
    size = width // heads
    q, k, v = (
        (y @ w.mT).view(batch, -1, heads, size).transpose(1, 2).reshape(batch * heads, -1, size)
        for y, w in zip((x, memory, memory), weights[:3], strict=True)
    )
    scores = torch.bmm(q / size**0.5, k.mT).view(batch, heads, length, -1)
    if mask is not None:
        hidden = torch.zeros(mask.shape, dtype=x.dtype, device=x.device)
        scores = scores + hidden.masked_fill(mask.logical_not(), float("-inf"))
    attention = torch.softmax(scores, -1)
    if mask is not None:
        attention = attention.masked_fill(~mask, 0)
    out = torch.bmm(attention.view(batch * heads, length, -1), v)
    return linear(out.view(batch, heads, length, size).transpose(1, 2).flatten(2), weights[3])


def heads_added(
    x: Tensor, memory: Tensor, weights: Projections, heads: int, mask: Mask = None
) -> Tensor:
    """Each head writes to the output on its own; the sum is the result."""
    w_q, w_k, w_v, w_o = weights
    q, k, v = (
        torch.stack((y @ w.transpose(0, 1)).tensor_split(heads, dim=2), dim=1)
        for y, w in ((x, w_q), (memory, w_k), (memory, w_v))
    )
    answers = masked_attention(q, k, v, mask)
    out = torch.zeros_like(x)
    for head, block in enumerate(w_o.chunk(heads, dim=1)):
        out = out + answers[:, head] @ block.T
    return out


EXERCISE = Exercise(
    solution=multi_head_attention,
    chapter=CHAPTER,
    title="Multi-head attention",
    points=5,
    minutes=15,
    difficulty=3,
    statement=(
        "Project, split, attend, merge, mix. The weights are given: one matrix for the queries of "
        "all heads, one for keys, one for values, and the output matrix. Use what you wrote, and "
        "`masked_attention` of chapter 3 for the attention itself; torch's ready-made attention is "
        "not allowed."
    ),
    example=(
        "Let x be zero, so that all scores are 0 and each head averages. The memory has two "
        "tokens, 1 0 and 3 8; w_q, w_k and w_v change nothing, and w_o doubles. Two heads of "
        "width 1: the first finds (1 + 3) / 2 = 2, the second (0 + 8) / 2 = 4. Doubled: 4 8."
    ),
    conventions=(
        "Weights are laid out as in `nn.Linear`, (out, in), and applied as x w^T: with w_q = "
        "[[0, 1], [0, 0]] the token 5 7 has the query 7 0. Rows 0 to K - 1 of w_q, w_k and w_v "
        "belong to head 0.",
        "In the mask True means: may attend. It broadcasts to (B, H, L, M): (L, M) is the same for "
        "all, (B, 1, 1, M) is padding.",
        "A token that may see nothing gets zeros from every head. No mask hides nothing, later "
        "tokens neither. No dropout, no biases.",
        "Each head divides its scores by the root of its own width K.",
    ),
    hints=(
        "Five steps: three projections, three splits, one attention for all heads, one merge, one "
        "projection. Write the shape of every result next to it.",
        "From which of the two sequences do queries come, and from which keys and values?",
        "`masked_attention` takes any number of axes in front: heads are like one more batch axis.",
        "`torch.nn.functional.linear` applies a matrix that is laid out as in `nn.Linear`.",
    ),
    cases=CASES,
    mistakes=(
        one_head,
        split_at_once,
        merged_at_once,
        entry_by_entry,
        merged_by_entry,
        no_output_matrix,
        untransposed,
        output_untransposed,
        queries_untransposed,
        keys_untransposed,
        values_untransposed,
        values_by_key_matrix,
        keys_by_query_matrix,
        keys_and_values_swapped,
        queries_and_keys_swapped,
        memory_ignored,
        values_from_x,
        keys_from_x,
        roles_swapped,
        scaled_by_model,
        scaled_by_heads,
        not_scaled,
        scaled_twice,
        scores_times_mask,
        mask_inverted,
        mask_ignored,
        mask_after_softmax,
        nan_where_hidden,
        mean_where_hidden,
        over_heads,
        over_queries,
        always_causal,
        masks_in_wrong_order,
        mask_made_on_the_cpu,
        mask_changed,
        with_input_added,
        with_weights,
        changed_in_place(multi_head_attention),
        on_the_cpu(multi_head_attention),
        always_float32(multi_head_attention),
        cut_from_autograd(multi_head_attention),
    ),
    alternatives=(by_einsum, head_by_head, folded_into_batch, heads_added),
    forbidden=READY_MADE_ATTENTION,
)
