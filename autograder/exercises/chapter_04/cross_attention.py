"""Exercise: attention from a decoder to a padded source.

Out of scope: the decoder's own causal attention, and a cache of keys and values (chapter 05).
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import linear

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_04 import CHAPTER
from autograder.exercises.chapter_04 import multi_head_attention as function
from autograder.exercises.chapter_04.multi_head_attention import Projections
from autograder.inputs import described, normal
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Implementation, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.heads import MultiHeadAttention, cross_attention, multi_head_attention
from solutions.masks import additive_mask, causal_mask, padding_mask


def _sizes(rng: Generator, **fixed: int) -> dict[str, int]:
    """Draw sizes that leave room for two lengths and padding in every example."""
    of = function.drawn_sizes(rng, **fixed)
    return of | {"M": max(3, of["M"])}


def _lengths(rng: Generator, of: dict[str, int]) -> Tensor:
    """Draw a length from 1 to M - 1 for each example, both of them among them."""
    lengths = torch.randint(1, of["M"], (of["B"],), generator=rng)
    lengths[0], lengths[-1] = of["M"] - 1, 1
    return lengths[torch.randperm(of["B"], generator=rng)]


def _one_empty(rng: Generator, of: dict[str, int]) -> Tensor:
    lengths = _lengths(rng, of)
    lengths[1] = 0
    return lengths


def _trial(rng: Generator, of: dict[str, int], lengths: Tensor | None = None) -> Trial:
    lengths = _lengths(rng, of) if lengths is None else lengths
    x, memory = normal(rng, "B L D", of), normal(rng, "B M D", of)
    words = f"{described('x', 'B L D', of)}, memory {tuple(memory.shape)}"
    words += f", lengths {lengths.tolist()}, heads = {of['H']}"
    request = call(x, memory, lengths, function.drawn_weights(rng, of), of["H"])
    return Trial(request, words, of, "B L D")


def two_languages(rng: Generator) -> Iterator[Trial]:
    for longest_first in (True, False):  # the first length is the longest, or the shortest
        of = _sizes(rng)
        yield _trial(rng, of, _lengths(rng, of).sort(descending=longest_first).values)


def no_padding(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    yield _trial(rng, of, torch.full((of["B"],), of["M"]))


def nonsense_in_padding(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    trial = _trial(rng, of)
    x, memory, lengths, weights, heads = trial.request.calls[0].args
    real = torch.arange(of["M"]) < lengths[:, None]
    large = memory.masked_fill(~real[..., None], 1000.0)
    request = call(x, large, lengths, weights, heads)
    yield Trial(request, f"{trial.inputs}, padding of thousands", of, "B L D")


def equally_long(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    of["L"] = of["M"]
    yield _trial(rng, of)


def empty_source(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    yield _trial(rng, of, _one_empty(rng, of))


def small(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, _sizes(rng, L=1))
    of = function.drawn_sizes(rng, M=1)
    yield _trial(rng, of, torch.ones(of["B"], dtype=torch.int64))
    yield _trial(rng, _sizes(rng, H=1))
    of = _sizes(rng, B=1)
    yield _trial(rng, of, torch.tensor([of["M"] - 1]))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(rng, _sizes(rng)), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng, _sizes(rng)))


def kept(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, _sizes(rng))
    of = _sizes(rng)
    yield _trial(rng, of, _one_empty(rng, of))


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, _sizes(rng)))


CASES = (
    Case("each example reads its own source, not the padding", two_languages, values, weight=2),
    Case("works where nothing is padded", no_padding, values),
    Case("what stands in the padding does not matter", nonsense_in_padding, values),
    Case("works where both sequences are equally long", equally_long, values),
    Case("an empty source gives zeros", empty_source, values),
    Case("works with one token, key, head or example", small, values),
    Case("the gradient reaches x, memory and all weights", gradients, values),
    Case("the dtype of x is kept", dtypes, values, tolerance=6e-2),
    Case("nothing that was given is changed", kept, inputs_kept),
    Case("works on whatever device x and lengths are on", devices, values),
)

OF_THE_FUNCTION = (
    function.one_head,
    function.split_at_once,
    function.merged_at_once,
    function.no_output_matrix,
    function.untransposed,
    function.keys_and_values_swapped,
    function.memory_ignored,
    function.values_from_x,
    function.keys_from_x,
    function.values_by_key_matrix,
    function.queries_untransposed,
    function.output_untransposed,
    function.roles_swapped,
    function.scaled_by_model,
    function.not_scaled,
    function.scaled_twice,
    function.scores_times_mask,
    function.mask_inverted,
    function.mask_after_softmax,
    function.nan_where_hidden,
    function.mean_where_hidden,
    function.over_heads,
    function.masks_in_wrong_order,
    function.with_input_added,
)


def _with_padding(mistake: Implementation) -> Implementation:
    """Give a wrong function of the exercise before the right mask."""

    def answer(x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int) -> Any:
        return mistake(x, memory, weights, heads, padding_mask(lengths, memory.shape[1]))

    answer.__name__, answer.__doc__ = mistake.__name__, mistake.__doc__
    return answer


def padding_read(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """The padding of the source is read like real tokens: `lengths` is not used."""
    return multi_head_attention(x, memory, weights, heads)


def one_too_many(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """One token of padding is still read. With a length of 3, the real tokens are 0, 1 and 2."""
    return cross_attention(x, memory, lengths + 1, weights, heads)


def one_too_few(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """The last real token is hidden too. With a length of 3, the real tokens are 0, 1 and 2."""
    return cross_attention(x, memory, lengths - 1, weights, heads)


def padding_in_front(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """You hide the beginning of the source. Here the padding is at the end."""
    mask = padding_mask(lengths, memory.shape[1]).flip(-1)
    return multi_head_attention(x, memory, weights, heads, mask)


def causal_too(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """Later tokens of the source are hidden as well. The source is there as a whole before the
    first word of the translation: nothing of it is the future.
    """
    mask = padding_mask(lengths, memory.shape[1])
    mask = mask & causal_mask(x.shape[1], memory.shape[1], x.device)
    return multi_head_attention(x, memory, weights, heads, mask)


def causal_from_the_left(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """A causal mask, aligned at the first token, is applied as well. There is none between two
    different sequences.
    """
    everything = torch.ones(x.shape[1], memory.shape[1], dtype=torch.bool, device=x.device)
    mask = padding_mask(lengths, memory.shape[1]) & everything.tril()
    return multi_head_attention(x, memory, weights, heads, mask)


def queries_hidden(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """`lengths` hides tokens of x. It tells how long the sources are, so it belongs on the axis of
    the keys.
    """
    mask = padding_mask(lengths, x.shape[1]).transpose(-2, -1)
    return multi_head_attention(x, memory, weights, heads, mask)


def queries_hidden_too(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """The padding of the source is hidden, but tokens of x are, too. Every token of x gets an
    answer.
    """
    keys, queries = (padding_mask(lengths, one.shape[1]) for one in (memory, x))
    return multi_head_attention(x, memory, weights, heads, keys & queries.transpose(-2, -1))


def same_length_for_all(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """All examples are read up to the length of the longest. Each has a length of its own."""
    longest = lengths.amax().expand(lengths.shape)
    return cross_attention(x, memory, longest, weights, heads)


def shortest_length_for_all(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """All examples are read up to the length of the shortest. Each has a length of its own."""
    return multi_head_attention(x, memory[:, : int(lengths.min())], weights, heads)


def first_length_for_all(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """All examples are read up to the length of the first one. Each has a length of its own."""
    return cross_attention(x, memory, lengths[:1].expand(lengths.shape), weights, heads)


def last_length_for_all(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """All examples are read up to the length of the last one. Each has a length of its own."""
    return cross_attention(x, memory, lengths[-1:].expand(lengths.shape), weights, heads)


def never_empty(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """A source of length 0 is read as if it had one token. There is nothing to read, and the answer
    is zeros.
    """
    return cross_attention(x, memory, lengths.clamp(min=1), weights, heads)


def only_causal(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """There is a causal mask, and none for the padding. Here it is the other way round: all of the
    source is there from the beginning, but its padding must be hidden.
    """
    mask = causal_mask(x.shape[1], memory.shape[1], x.device)
    return multi_head_attention(x, memory, weights, heads, mask)


def mask_as_long_as_x(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """The mask is as long as x. The padding is that of the memory, which sets the length."""
    return multi_head_attention(x, memory, weights, heads, padding_mask(lengths, x.shape[1]))


def mask_without_axes(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """The mask has the shape (B, M), which is read as if its first axis were the queries. Heads and
    queries need axes of their own in it, of size 1.
    """
    mask = padding_mask(lengths, memory.shape[1])[:, 0, 0]
    return multi_head_attention(x, memory, weights, heads, mask)


def mask_without_heads(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """The mask has the shape (B, 1, M): one axis is missing, and the examples are read as if they
    were heads. `padding_mask` gives all four axes, (B, 1, 1, M).
    """
    mask = padding_mask(lengths, memory.shape[1])[:, 0]
    return multi_head_attention(x, memory, weights, heads, mask)


def too_many_axes(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """The mask has more than four axes. `padding_mask` gives (B, 1, 1, M) already."""
    mask = padding_mask(lengths, memory.shape[1])[:, None, None]
    return multi_head_attention(x, memory, weights, heads, mask)


def memory_zeroed(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """The padding is set to zero, but it is still read: a score of 0 has a weight, and the others
    get less. Hide scores, not tokens.
    """
    real = padding_mask(lengths, memory.shape[1])[:, 0, 0, :, None]
    return multi_head_attention(x, memory * real, weights, heads)


def example_by_example(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """Cut the padding off instead of hiding it."""
    out = []
    for one, source, length in zip(x, memory, lengths.tolist(), strict=True):
        real = source[None, :length] if length else 0 * source[None, :1]
        out.append(multi_head_attention(one[None], real, weights, heads))
    return torch.cat(out)


def by_module(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    layer = MultiHeadAttention(x.shape[-1], heads).to(x)
    names = (f"w_{letter}.weight" for letter in "qkvo")
    real = torch.arange(memory.shape[1], device=lengths.device)[None] < lengths[:, None]
    given = dict(zip(names, weights, strict=True))
    found: Tensor = torch.func.functional_call(layer, given, (x, memory, real[:, None, None, :]))
    return found


def with_added_scores(
    x: Tensor, memory: Tensor, lengths: Tensor, weights: Projections, heads: int
) -> Tensor:
    """A mask of 0 and -inf that is added to the scores, and a head at a time."""
    real = padding_mask(lengths, memory.shape[1])[:, 0]  # (B, 1, M)
    added, out = additive_mask(real, x), []
    for w_q, w_k, w_v in zip(*(w.chunk(heads) for w in weights[:3]), strict=True):
        scores = linear(x, w_q) @ linear(memory, w_k).mT / math.sqrt(w_q.shape[0])
        found = torch.softmax(scores + added, dim=-1).nan_to_num(0.0)
        out.append(found @ linear(memory, w_v))
    return linear(torch.cat(out, dim=-1), weights[3])


EXERCISE = Exercise(
    solution=cross_attention,
    chapter=CHAPTER,
    title="Cross-attention",
    points=3,
    minutes=10,
    difficulty=3,
    statement=(
        "A decoder reads what an encoder wrote. The sources of a batch have different lengths and "
        "were padded at the end; nobody may read the padding. Two of the functions that you have "
        "are enough: find out which mask is needed, and which is not."
    ),
    example=(
        "One token of x, zero, so all scores are 0. The memory is 1 0 and 3 8, but its length is "
        "1: the second token is padding. All four matrices change nothing. What is read is the "
        "first token alone, 1 0. (With a length of 2 it would be the mean, 2 4.)"
    ),
    conventions=(
        "`lengths` counts the real tokens of each source; they come first. With M = 5 and a "
        "length of 3, tokens 3 and 4 are hidden from every token of x and every head.",
        "Nothing else is hidden: there is no causal mask here.",
        "Where a length is 0, nothing can be read, and the output is zeros.",
        "x and the memory may have different numbers of tokens, L and M. Weights as before.",
    ),
    hints=(
        "Attention weights have the shape (B, H, L, M). Which of these axes belongs to the source?",
        "`padding_mask` of chapter 3 turns lengths into a mask with that axis last, (B, 1, 1, M). "
        "It broadcasts over heads and queries as it is.",
        "The padding is that of the memory: how long is the axis that the mask needs?",
    ),
    cases=CASES,
    mistakes=(
        *map(_with_padding, OF_THE_FUNCTION),
        padding_read,
        one_too_many,
        one_too_few,
        padding_in_front,
        causal_too,
        causal_from_the_left,
        queries_hidden,
        queries_hidden_too,
        same_length_for_all,
        shortest_length_for_all,
        first_length_for_all,
        last_length_for_all,
        never_empty,
        only_causal,
        mask_as_long_as_x,
        mask_without_axes,
        mask_without_heads,
        too_many_axes,
        memory_zeroed,
        changed_in_place(cross_attention),
        on_the_cpu(cross_attention),
        always_float32(cross_attention),
        cut_from_autograd(cross_attention),
    ),
    alternatives=(example_by_example, by_module, with_added_scores),
    forbidden=READY_MADE_ATTENTION,
)
