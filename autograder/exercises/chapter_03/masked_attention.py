"""Exercise: attention in which each query sees only some keys.

Out of scope: dropout (chapter 12), heads that share keys (chapter 05).
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_03 import CHAPTER
from autograder.exercises.chapter_03 import masked_softmax as wrong
from autograder.exercises.chapter_03._draws import none_empty, some, some_empty
from autograder.inputs import described, normal, sizes
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Implementation, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.masked import masked_attention, masked_softmax
from solutions.masks import causal_mask
from solutions.softmax import softmax

Mask = Tensor | None
ENDINGS = {"q": "L K", "k": "M K", "v": "M W"}


def _tensors(rng: Generator, of: dict[str, int], leading: str = "B") -> list[Tensor]:
    return [normal(rng, f"{leading} {ending}".strip(), of) for ending in ENDINGS.values()]


def _trial(
    tensors: list[Tensor], of: dict[str, int], *mask: Mask, leading: str = "B", note: str = ""
) -> Trial:
    axes = [f"{leading} {ending}".strip() for ending in ENDINGS.values()]
    words = ", ".join(map(described, ENDINGS, axes, [of] * 3))
    shapes = "".join(f", mask {m if m is None else tuple(m.shape)}" for m in mask)
    return Trial(call(*tensors, *mask), words + shapes + note, of, f"{leading} L W".strip())


def _drawn(rng: Generator, leading: str = "B") -> Trial:
    of = sizes(rng, f"{leading} L M K W".strip())
    mask = none_empty(some(rng, f"{leading} L M".strip(), of))
    return _trial(_tensors(rng, of, leading), of, mask, leading=leading)


def _with_empty_rows(rng: Generator) -> Trial:
    of = sizes(rng, "B L M K W")
    mask = some_empty(some(rng, "B L M", of))
    return _trial(_tensors(rng, of), of, mask, note=", queries that see nothing")


def one_batch(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def wide_keys(rng: Generator) -> Iterator[Trial]:
    of = {**sizes(rng, "B L M W"), "K": 64}
    yield _trial(_tensors(rng, of), of, none_empty(some(rng, "B L M", of)))


def no_mask(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L M K W")
    yield _trial(_tensors(rng, of), of)
    yield _trial(_tensors(rng, of), of, None)


def empty_rows(rng: Generator) -> Iterator[Trial]:
    yield _with_empty_rows(rng)
    of = sizes(rng, "B L M K W")
    nothing = torch.zeros(of["L"], of["M"], dtype=torch.bool)
    yield _trial(_tensors(rng, of), of, nothing, note=", everything hidden")


def usual_masks(rng: Generator) -> Iterator[Trial]:
    for axes in ("B 1 1 M", "L M", "B 1 L M", "1 H L M"):
        of = {**sizes(rng, "B H L M K W"), "1": 1}
        mask = none_empty(some(rng, axes, of))
        yield _trial(_tensors(rng, of, "B H"), of, mask, leading="B H")
    of = sizes(rng, "L M K W")
    of["M"] += of["L"]
    causal = causal_mask(of["L"], of["M"])
    yield _trial(_tensors(rng, of, ""), of, causal, leading="", note=", causal")


def _along_one_axis(rng: Generator, visible: float, hidden: float) -> Trial:
    """Draw tensors in which every score is the first entry of its key, without rounding."""
    of = {**sizes(rng, "B L M W"), "K": 16}
    mask = none_empty(some(rng, "M", of))
    q, k = torch.zeros(of["B"], of["L"], 16), torch.zeros(of["B"], of["M"], 16)
    q[..., 0] = 4.0  # the root of 16
    quarters = torch.randint(8, (of["B"], of["M"]), generator=rng) / 4
    k[..., 0] = quarters + torch.where(mask, visible, hidden)
    note = f", visible scores near {visible:g}, hidden near {hidden:g}"
    return _trial([q, k, normal(rng, "B M W", of)], of, mask, note=note)


def hidden_ahead(rng: Generator) -> Iterator[Trial]:
    yield _along_one_axis(rng, 0.0, 8.0)
    yield _along_one_axis(rng, 0.0, 3000.0)


def far_below(rng: Generator) -> Iterator[Trial]:
    yield _along_one_axis(rng, -30_000.0, 0.0)
    yield _along_one_axis(rng, -60.0, 0.0)


def large(rng: Generator) -> Iterator[Trial]:
    yield _along_one_axis(rng, 2000.0, 0.0)


def special_sizes(rng: Generator) -> Iterator[Trial]:
    for single in "BLMW":
        of = {**sizes(rng, "B L M K W"), single: 1}
        yield _trial(_tensors(rng, of), of, none_empty(some(rng, "B L M", of)))
    of = sizes(rng, "B L K")
    of |= {"M": of["L"], "W": of["K"]}
    yield _trial(_tensors(rng, of), of, none_empty(some(rng, "B L M", of)))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)


def gradients_of_empty_rows(rng: Generator) -> Iterator[Trial]:
    yield backward(_with_empty_rows(rng), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng))


def all_kinds(rng: Generator) -> Iterator[Trial]:
    yield from one_batch(rng)
    yield from dtypes(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    yield trial
    yield elsewhere(trial)
    for unmasked_trial in no_mask(rng):
        yield elsewhere(unmasked_trial)


CASES = (
    Case("each answer averages the visible values", one_batch, values, weight=2),
    Case("the scale is that of the key's width", wide_keys, values),
    Case("without a mask every key is visible", no_mask, values, weight=2),
    Case("a query that sees nothing gets zeros", empty_rows, values, weight=2),
    Case("masks for batches, heads and chunks broadcast", usual_masks, values),
    Case("hidden keys do not count, however high they score", hidden_ahead, values),
    Case("visible keys may score far below hidden ones", far_below, values, tolerance=wrong.FAR),
    Case("large scores stay finite", large, values, tolerance=wrong.FAR),
    Case("works where sizes are equal, or 1", special_sizes, values),
    Case("the gradient reaches q, k and v", gradients, values),
    Case("no NaN in the gradient where a query sees nothing", gradients_of_empty_rows, values),
    Case("the dtype of q, k and v is kept", dtypes, values, tolerance=6e-2),
    Case("q, k, v and the mask are not changed", all_kinds, inputs_kept, tolerance=6e-2),
    Case("works on whatever device q, k and v are on", devices, values),
)


# Wrong weights, averaged over the values: the hint is the same.
OF_THE_WEIGHTS = (
    wrong.inverted,
    wrong.filled_with_zero,
    wrong.filled_with_zero_and_zeroed,
    wrong.minus_1e4,
    wrong.minus_1e9,
    wrong.minus_1e4_zeroed,
    wrong.minus_1e9_zeroed,
    wrong.lowest,
    wrong.minus_infinity,
    wrong.minus_infinity_added,
    wrong.plus_infinity,
    wrong.too_late,
    wrong.renormalised,
    wrong.renormalised_safely,
    wrong.unshifted,
    wrong.nan_replaced_when_added,
    wrong.over_queries,
    wrong.queries_hidden,
)


def _scores(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT / math.sqrt(q.shape[-1])


def _with_values(mistake: Implementation) -> Implementation:
    def answer(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Any:
        scores = _scores(q, k)
        return (softmax(scores) if mask is None else mistake(scores, mask)) @ v

    answer.__name__, answer.__doc__ = mistake.__name__, mistake.__doc__
    return answer


def unmasked(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    """The mask has no effect: every query sees every key."""
    return masked_attention(q, k, v)


def mask_required(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    """Without a mask, `mask` is None, and None is no tensor. Treat that case on its own: nothing is
    hidden.
    """
    return masked_softmax(_scores(q, k), mask) @ v  # type: ignore[arg-type]


def truth_of_a_tensor(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    """`if mask:` asks whether a whole tensor is true, which has no answer. Ask whether it `is
    None`.
    """
    return masked_attention(q, k, v, mask if mask else None)


def causal_by_default(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    """Without a mask you hide the future. None hides nothing: cross-attention needs that."""
    own = causal_mask(q.shape[-2], k.shape[-2], q.device) if mask is None else mask
    return masked_attention(q, k, v, own)


def causal_besides(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    """You hide the future besides what the mask hides. The mask says it all."""
    causal = causal_mask(q.shape[-2], k.shape[-2], q.device)
    return masked_attention(q, k, v, causal if mask is None else mask & causal)


def no_scale(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    """The scores are not scaled: their variance is K. By what do you divide to bring it back to
    1?
    """
    return masked_attention(q * math.sqrt(q.shape[-1]), k, v, mask)


def divided_by_width(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    """The scores are divided by K, the variance, and not by the standard deviation."""
    return masked_attention(q / math.sqrt(q.shape[-1]), k, v, mask)


def root_of_values(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    """The scale is the root of W, the width of the values. A score adds up products of q and k."""
    return masked_attention(q * math.sqrt(q.shape[-1] / v.shape[-1]), k, v, mask)


def root_of_keys(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    """The scale is the root of M, the number of keys. A score adds up K products: it is
    the width of the keys that counts.
    """
    return masked_attention(q * math.sqrt(q.shape[-1] / k.shape[-2]), k, v, mask)


def root_of_queries(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    """The scale is the root of L, the number of queries. A score adds up K products: it
    is the width of the queries that counts.
    """
    return masked_attention(q * math.sqrt(q.shape[-1] / q.shape[-2]), k, v, mask)


def scaled_after(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    """You divide by the root of K after the softmax, so that the weights no longer sum to 1. It is
    the scores that are divided.
    """
    return no_scale(q, k, v, mask) / math.sqrt(q.shape[-1])


def all_axes_reversed(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    """`.T` turns all axes around, those of the batch, too. Exchange the last two alone: `.mT`, or
    `transpose(-2, -1)`.
    """
    scores = q @ k.T / math.sqrt(q.shape[-1])
    return (softmax(scores) if mask is None else masked_softmax(scores, mask)) @ v


def own_mask_on_the_cpu(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    """Where there is no mask you make one, on the CPU: give it `device=q.device`, or do without."""
    if mask is None:
        mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool)
    return masked_attention(q, k, v, mask)


def only_empty_rows(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    """Queries that see nothing get zeros, but all others still see everything."""
    answers = masked_attention(q, k, v)
    if mask is None:
        return answers
    full = mask.expand(*q.shape[:-1], k.shape[-2])
    return answers.masked_fill(~full.any(-1, keepdim=True), 0.0)


def weights_alone(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    """You return the weights. They still have to meet the values."""
    scores = _scores(q, k)
    return softmax(scores) if mask is None else masked_softmax(scores, mask)


def with_weights(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> tuple[Tensor, Tensor]:
    """You return a pair, the answers and the weights. Here only the answers are asked."""
    return masked_attention(q, k, v, mask), weights_alone(q, k, v, mask)


def by_einsum(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    scores = torch.einsum("...lk,...mk->...lm", q, k) * q.size(-1) ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, -math.inf)
    weights = F.softmax(scores, dim=-1)
    if mask is not None:
        weights = torch.where(mask, weights, 0.0)
    return torch.einsum("...lm,...mw->...lw", weights.to(v.dtype), v)


def by_logsumexp(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    scores = q @ k.mT * q.shape[-1] ** -0.5
    visible = scores if mask is None else scores.masked_fill(~mask, -math.inf)
    weights: Tensor = (visible - visible.logsumexp(-1, keepdim=True)).exp()
    return (weights if mask is None else weights.masked_fill(~mask, 0)) @ v


def one_mask_for_all(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    scores = torch.einsum("...lk,...mk->...lm", q * q.size(-1) ** -0.5, k)
    if mask is None:
        mask = torch.tensor(True, device=q.device)
    weights = masked_softmax(scores, mask)
    return torch.einsum("...lm,...mw->...lw", weights, v)


def everything_has_a_mask(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    if mask is None:
        mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device)
    low = torch.finfo(q.dtype).min
    scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-1, -2)
    return (scores.masked_fill(mask == 0, low).softmax(dim=-1) * mask) @ v


def cleaned_afterwards(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    """Let empty rows see everything, and overwrite their answers at the end."""
    scores = torch.matmul(q, k.mT) / math.sqrt(k.shape[-1])
    if mask is None:
        return torch.matmul(scores.softmax(-1), v)
    empty = ~mask.any(-1, keepdim=True)
    bias = torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~(mask | empty), -math.inf)
    return ((scores + bias).softmax(-1) @ v).masked_fill(empty, 0.0)


def query_by_query(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    hidden = torch.zeros(1, 1).bool().to(q.device) if mask is None else ~mask
    hidden = hidden.expand(*q.shape[:-1], k.shape[-2])
    answers = []
    for i in range(q.shape[-2]):
        scores = (k @ q[..., i, :, None]).squeeze(-1) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(hidden[..., i, :], -math.inf).softmax(-1).nan_to_num(0.0)
        answers.append((weights[..., None] * v).sum(-2))
    return torch.stack(answers, dim=-2)


EXERCISE = Exercise(
    solution=masked_attention,
    chapter=CHAPTER,
    title="Masked attention",
    points=3,
    minutes=8,
    difficulty=2,
    statement=(
        "Put it together: scaled scores, weights over the visible keys, and their average of the "
        "values. The mask may be left out; then every query sees every key. Every later chapter "
        "uses this function. Torch's ready-made attention is not allowed."
    ),
    example=(
        "Two queries and keys of zeros, so that all scores are equal; values 10 and 20; a causal "
        "mask. The first query sees the first value: 10. The second sees both: 15."
    ),
    conventions=(
        'In the mask, True means "may attend". It broadcasts to (..., L, M). None hides nothing.',
        "A query that sees nothing gets zeros, and sends back a gradient of zeros.",
        "The scale is 1 divided by the root of K, as in chapter 2.",
        "Only the answers are returned, (..., L, W), in the dtype and on the device of q.",
    ),
    hints=(
        "It is the function that you wrote at the end of chapter 2, with one line changed.",
        "Where there is a mask, your `masked_softmax` gives the weights. What gives them where "
        "there is none?",
        "Ask with `is None`: a tensor has no truth value of its own.",
    ),
    cases=CASES,
    mistakes=(
        *(_with_values(mistake) for mistake in OF_THE_WEIGHTS),
        unmasked,
        mask_required,
        truth_of_a_tensor,
        causal_by_default,
        causal_besides,
        no_scale,
        divided_by_width,
        root_of_values,
        root_of_keys,
        root_of_queries,
        scaled_after,
        all_axes_reversed,
        own_mask_on_the_cpu,
        only_empty_rows,
        weights_alone,
        with_weights,
        on_the_cpu(masked_attention),
        always_float32(masked_attention),
        cut_from_autograd(masked_attention),
        changed_in_place(masked_attention, 1),
    ),
    alternatives=(
        by_einsum,
        by_logsumexp,
        one_mask_for_all,
        everything_has_a_mask,
        cleaned_afterwards,
        query_by_query,
    ),
    forbidden=READY_MADE_ATTENTION,
)
