"""Exercise: keep the k best tokens.

Out of scope: ties. With [1, 2, 2] and k = 1, keeping one of the twos or both are in use.
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_13 import CHAPTER
from autograder.exercises.chapter_13._draws import Sizes, filtered, hiding, scores
from autograder.inputs import integer, sizes
from autograder.slips import always_float32, changed_in_place, float64_narrowed, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere, in_dtypes
from solutions.sampling import top_k_filter


def _sizes(rng: Generator) -> Sizes:
    return {**sizes(rng, "B L"), "V": integer(rng, 10, 13)}


def _trial(
    rng: Generator, k: int | None = None, axes: str = "B V", of: Sizes | None = None
) -> Trial:
    of = of or _sizes(rng)
    k = k or integer(rng, 3, of["V"] - 4)
    return filtered(scores(rng, axes, of), axes, of, ("k", k))


def some(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng)
    yield _trial(rng, 2)


def just_one(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 1)


def all_of_them(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    yield _trial(rng, of["V"], of=of)
    yield _trial(rng, of["V"] - 1, of=of)


def too_many(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 50)


def ranks(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, axes="V")
    yield _trial(rng, axes="B L V")


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 2, of={"B": 5, "V": 5})
    yield _trial(rng, 3, of={"B": 1, "V": 6})
    yield _trial(rng, 1, of={"B": 4, "V": 1})


def hidden(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    for k in (3, of["V"] - 2):
        logits = hiding(rng, scores(rng, "B V", of), 4)
        yield filtered(logits, "B V", of, ("k", k), ", 4 in each row are -inf")


def below_zero(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    yield filtered(scores(rng, "B V", of) - 30, "B V", of, ("k", 4), ", all negative")


def extremes(rng: Generator) -> Iterator[Trial]:
    for factor in (1e-3, 1e4):
        of = _sizes(rng)
        logits = factor * scores(rng, "B V", of)
        yield filtered(logits, "B V", of, ("k", 3), f", numbers of order {factor:g}")


def not_contiguous(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    logits = scores(rng, "B L V", of).transpose(0, 1).contiguous().transpose(0, 1)
    yield filtered(logits, "B L V", of, ("k", 3), ", not contiguous")


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng))


def all_digits(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    logits = 1 + 1e-10 * scores(rng, "B V", of).double()
    yield filtered(logits, "B V", of, ("k", 4), ", float64 that differ after 10 digits")


def kept(rng: Generator) -> Iterator[Trial]:
    yield from some(rng)
    yield from too_many(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng))
    yield elsewhere(_trial(rng, 50))


CASES = (
    Case("the k best scores stay, the others become -inf", some, values, weight=3),
    Case("with a k of 1 the best alone is left", just_one, values),
    Case("all or all but one can stay", all_of_them, values),
    Case("with k above the vocabulary nothing is hidden", too_many, values),
    Case("works for one row and for many axes", ranks, values),
    Case("works where sizes are equal, or 1", equal_sizes, values),
    Case("what is hidden stays hidden, and takes no place", hidden, values),
    Case("negative scores are scores as well", below_zero, values),
    Case("small and large scores are no exception", extremes, values),
    Case("works for tensors that are not contiguous", not_contiguous, values),
    Case("the dtype is kept", dtypes, values),
    Case("float64 is used to its full precision", all_digits, values),
    Case("the logits themselves are not changed", kept, inputs_kept),
    Case("works on whatever device the logits are on", devices, values),
)


def one_more(logits: Tensor, k: int) -> Tensor:
    """One token too many stays: k + 1 of them. With k = 1 this is not greedy any more."""
    return top_k_filter(logits, k + 1)


def one_less(logits: Tensor, k: int) -> Tensor:
    """One token too few stays: the k-th best is hidden as well. Is the comparison strict?"""
    best = logits.topk(min(k, logits.shape[-1])).values
    return logits.masked_fill(logits <= best[..., -1:], -torch.inf)


def the_others(logits: Tensor, k: int) -> Tensor:
    """The mask is the wrong way round: the k best are hidden, and the rest stays."""
    best = logits.topk(min(k, logits.shape[-1])).values
    return logits.masked_fill(logits >= best[..., -1:], -torch.inf)


def the_worst(logits: Tensor, k: int) -> Tensor:
    """The k lowest scores stay. `topk` gives the largest unless told otherwise; `sort` begins with
    the smallest unless told otherwise.
    """
    worst = logits.topk(min(k, logits.shape[-1]), largest=False).values
    return logits.masked_fill(logits > worst[..., -1:], -torch.inf)


def first_ones(logits: Tensor, k: int) -> Tensor:
    """The first k tokens of the vocabulary stay. The best k are asked, wherever they stand."""
    late = torch.arange(logits.shape[-1], device=logits.device) >= k
    return logits.masked_fill(late, -torch.inf)


def over_the_batch(logits: Tensor, k: int) -> Tensor:
    """The best are looked for along the first axis. Each row has its own k best, along the last."""
    best = logits.topk(min(k, logits.shape[0]), dim=0).values
    return logits.masked_fill(logits < best[-1:], -torch.inf)


def limit_of_the_first_row(logits: Tensor, k: int) -> Tensor:
    """One limit serves all rows. Each row has a k-th best score of its own."""
    best = logits.topk(min(k, logits.shape[-1])).values
    return logits.masked_fill(logits < best.reshape(-1, best.shape[-1])[0, -1], -torch.inf)


def limit_of_all_rows(logits: Tensor, k: int) -> Tensor:
    """k tokens stay in the whole tensor. Asked are k in each row."""
    best = logits.flatten().topk(min(k, logits.numel())).values
    return logits.masked_fill(logits < best[-1], -torch.inf)


def axis_lost(logits: Tensor, k: int) -> Tensor:
    """The k-th best scores are compared without their last axis, so row and column get mixed up, or
    the shapes do not fit. Keep the axis, with size 1.
    """
    best = logits.topk(min(k, logits.shape[-1])).values
    return logits.masked_fill(logits < best[..., -1], -torch.inf)


def k_above_size(logits: Tensor, k: int) -> Tensor:
    """A k that is larger than the vocabulary is not provided for. All tokens stay then."""
    return logits.masked_fill(logits < logits.topk(k).values[..., -1:], -torch.inf)


def large_k_keeps_one(logits: Tensor, k: int) -> Tensor:
    """For a k beyond the vocabulary you keep the best token alone. All stay then."""
    return top_k_filter(logits, k if k <= logits.shape[-1] else 1)


def with_zeros(logits: Tensor, k: int) -> Tensor:
    """The others get the score 0. As a score that is not impossible: exp(0) is 1."""
    filtered_out = top_k_filter(logits, k)
    return filtered_out.masked_fill(filtered_out.isinf() & ~logits.isinf(), 0.0)


def finite_fill(logits: Tensor, k: int) -> Tensor:
    """The others get a large negative number. Only -inf gives them the probability 0, whatever the
    scores are.
    """
    filtered_out = top_k_filter(logits, k)
    return filtered_out.masked_fill(filtered_out.isinf() & ~logits.isinf(), -1e4)


def probabilities(logits: Tensor, k: int) -> Tensor:
    """You return probabilities. Asked are scores, so that the next filter can work on them."""
    return top_k_filter(logits, k).softmax(-1)


def values_alone(logits: Tensor, k: int) -> Tensor:
    """You return the k best scores and no longer say whose they are. The shape of the logits
    stays.
    """
    return logits.topk(min(k, logits.shape[-1])).values


def sorted_too(logits: Tensor, k: int) -> Tensor:
    """The scores come back sorted. Each belongs to a token: it stays at its place."""
    return top_k_filter(logits, k).sort(-1, descending=True).values


def by_size(logits: Tensor, k: int) -> Tensor:
    """The largest absolute values stay. A score of -5 is worse than one of 1."""
    finite = logits.abs().masked_fill(logits.isinf(), -torch.inf)
    best = finite.topk(min(k, logits.shape[-1])).values
    return logits.masked_fill(finite < best[..., -1:], -torch.inf)


def hidden_as_best(logits: Tensor, k: int) -> Tensor:
    """Where there were hidden tokens before, they come back as 0. -inf stays -inf."""
    return top_k_filter(logits, k).masked_fill(logits.isinf(), 0.0)


def by_rank(logits: Tensor, k: int) -> Tensor:
    rank = logits.argsort(-1, descending=True).argsort(-1)
    return torch.where(rank < k, logits, -torch.inf)


def by_scattering(logits: Tensor, k: int) -> Tensor:
    best = torch.topk(logits, k=min(k, logits.size(-1)), dim=-1)
    alone = torch.full_like(logits, float("-inf"))
    return alone.scatter(-1, best.indices, best.values)


def by_kthvalue(logits: Tensor, k: int) -> Tensor:
    size = logits.shape[-1]
    if k >= size:
        return logits.clone()
    limit = logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
    least = limit.kthvalue(size - k + 1, dim=-1, keepdim=True).values
    return logits.masked_fill(limit < least, -torch.inf)


def in_a_loop(logits: Tensor, k: int) -> Tensor:
    rest, stays = logits, torch.zeros_like(logits, dtype=torch.bool)
    for _ in range(min(k, logits.shape[-1])):
        best = rest.argmax(-1, keepdim=True)
        stays = stays.scatter(-1, best, True)
        rest = rest.scatter(-1, best, -torch.inf)
    return logits.masked_fill(~stays, -torch.inf)


EXERCISE = Exercise(
    solution=top_k_filter,
    chapter=CHAPTER,
    title="The k best",
    points=2,
    minutes=6,
    difficulty=2,
    statement=(
        "Hide all tokens but the k with the largest scores: the others get the score -inf, so that "
        "the softmax which follows gives them the probability 0."
    ),
    example=(
        "The scores are 1, 3, 0, 2 and k = 2. The best two are 3 and 2, so the result is -inf, 3, "
        "-inf, 2. After a softmax the probabilities are 0, 0.73, 0, 0.27: they sum to 1 again."
    ),
    conventions=(
        "Scores come in and scores go out, in the same shape and dtype. No softmax.",
        "With k at or above the size of the vocabulary nothing is hidden. k is at least 1.",
        "No two scores of a row are equal, except those that are -inf already. They stay -inf.",
    ),
    hints=(
        "The k-th best score of each row is a limit.",
        "`torch.topk` gives them in order. Which of them is the limit?",
        "Keep the axis of the limit, so that each row is compared with its own.",
    ),
    cases=CASES,
    mistakes=(
        one_more,
        one_less,
        the_others,
        the_worst,
        first_ones,
        over_the_batch,
        limit_of_the_first_row,
        limit_of_all_rows,
        axis_lost,
        k_above_size,
        large_k_keeps_one,
        with_zeros,
        finite_fill,
        probabilities,
        values_alone,
        sorted_too,
        by_size,
        hidden_as_best,
        on_the_cpu(top_k_filter),
        always_float32(top_k_filter),
        float64_narrowed(top_k_filter),
        changed_in_place(top_k_filter),
    ),
    alternatives=(by_rank, by_scattering, by_kthvalue, in_a_loop),
)
