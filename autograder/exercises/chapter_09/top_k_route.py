"""Exercise: the k best experts of each token and their weights.

Out of scope: noise (noisy_logits), full experts (dispatch_slots).
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_09 import CHAPTER
from autograder.exercises.chapter_09._draws import levels, scores
from autograder.inputs import described, integer, sizes
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.routing import top_k_route

Route = tuple[Tensor, Tensor]
RETURNS = "weights, experts"


def _sizes(rng: Generator, leading: str) -> dict[str, int]:
    """Draw sizes; at least four experts."""
    return {**sizes(rng, f"{leading} L"), "X": integer(rng, 5, 9)}


def _trial(logits: Tensor, axes: str, of: dict[str, int], k: int, note: str = "") -> Trial:
    words = f"{described('logits', axes, of)}, k = {k}{note}"
    return Trial(call(logits, k), words, {**of, "k": k}, RETURNS)


def _drawn(rng: Generator, axes: str = "L X", k: int = 2) -> Trial:
    of = _sizes(rng, "B H")
    return _trial(scores(rng, axes, of), axes, of, k)


def two_or_three(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng, k=3)


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, "X")
    yield _drawn(rng, "B L X", k=3)
    yield _drawn(rng, "B H L X")


def one_expert(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, k=1)
    of = {"L": 4, "X": 1}
    yield _trial(scores(rng, "L X", of), "L X", of, 1)


def all_experts(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, "B")
    yield _trial(scores(rng, "L X", of), "L X", of, of["X"])


def shifted(rng: Generator) -> Iterator[Trial]:
    for shift in (1000.0, -1000.0):
        of = _sizes(rng, "B")
        yield _trial(scores(rng, "L X", of) + shift, "L X", of, 3, f", all near {shift:.0f}")
    of = _sizes(rng, "B")
    far = scores(rng, "L X", of) + levels(rng, of["L"])
    yield _trial(far, "L X", of, 3, ", near -1000, 0 or 1000, by token")


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    of = {"B": 5, "L": 5, "X": 5}
    yield _trial(scores(rng, "B L X", of), "B L X", of, 2)
    of = _sizes(rng, "B")
    turned = scores(rng, "B L X", of).transpose(0, 1).contiguous().transpose(0, 1)
    yield _trial(turned, "B L X", of, 3, ", not contiguous")


def gradients(rng: Generator) -> Iterator[Trial]:
    for k in (2, 3):
        yield backward(_drawn(rng, k=k), rng, "L k")


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng, k=3))


def kept(rng: Generator) -> Iterator[Trial]:
    yield from two_or_three(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


CASES = (
    Case("the best experts, and weights that sum to 1", two_or_three, values, weight=2),
    Case("works for a single token and for batches", other_ranks, values),
    Case("a single expert gets the weight 1", one_expert, values),
    Case("all experts may be chosen", all_experts, values),
    Case("a constant in all scores changes nothing", shifted, values, tolerance=5e-5),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("the gradient of the weights reaches the scores", gradients, values),
    Case("the dtype of the scores is kept", dtypes, values, tolerance=6e-2),
    Case("the scores themselves are not changed", kept, inputs_kept),
    Case("works on whatever device the scores are on", devices, values),
)


def not_renormalised(logits: Tensor, k: int) -> Route:
    """The weights are the probabilities among all experts, and sum to less than 1. Some models
    leave it so; here they are divided by their sum.
    """
    best = logits.softmax(-1).topk(k)
    return best.values, best.indices


def over_tokens(logits: Tensor, k: int) -> Route:
    """Softmax runs over the tokens. It is the experts, the last axis, that compete for a token."""
    best = logits.softmax(max(-2, -logits.ndim)).topk(k)
    return best.values / best.values.sum(-1, keepdim=True), best.indices


def over_axis_one(logits: Tensor, k: int) -> Route:
    """Softmax runs along axis 1, which holds the experts only where there are two axes."""
    best = logits.softmax(min(1, logits.ndim - 1)).topk(k)
    return best.values / best.values.sum(-1, keepdim=True), best.indices


def summed_over_tokens(logits: Tensor, k: int) -> Route:
    """Each weight is divided by a sum over the tokens. For each token, its k weights sum to 1."""
    best = logits.softmax(-1).topk(k)
    return best.values / best.values.sum(max(-2, -logits.ndim), keepdim=True), best.indices


def softmax_twice(logits: Tensor, k: int) -> Route:
    """A second softmax, over probabilities, is used to renormalise. It flattens the weights; divide
    by the sum, or apply one softmax to the scores of the chosen.
    """
    best = logits.softmax(-1).topk(k)
    return best.values.softmax(-1), best.indices


def by_sigmoid(logits: Tensor, k: int) -> Route:
    """The weights come from a sigmoid for each expert, as in DeepSeek-V3. Here it is softmax."""
    best = logits.sigmoid().topk(k)
    return best.values / best.values.sum(-1, keepdim=True), best.indices


def equal_weights(logits: Tensor, k: int) -> Route:
    """All chosen experts get the same weight. A better score should count more."""
    best = logits.topk(k)
    return torch.ones_like(best.values) / k + 0 * best.values, best.indices


def raw_scores(logits: Tensor, k: int) -> Route:
    """The weights are the scores themselves, without softmax: they may be negative, and do not sum
    to 1.
    """
    best = logits.topk(k)
    return best.values, best.indices


def scores_by_sum(logits: Tensor, k: int) -> Route:
    """The scores are divided by their sum, without softmax. What if some are negative?"""
    best = logits.topk(k)
    return best.values / best.values.sum(-1, keepdim=True), best.indices


def the_worst(logits: Tensor, k: int) -> Route:
    """You take the experts with the lowest scores."""
    best = logits.topk(k, largest=False)
    return best.values.softmax(-1), best.indices


def worst_first(logits: Tensor, k: int) -> Route:
    """Experts and weights are right, but the smallest weight comes first. The largest does."""
    weights, experts = top_k_route(logits, k)
    return weights.flip(-1), experts.flip(-1)


def by_number(logits: Tensor, k: int) -> Route:
    """Experts and weights are right, but in the order of the experts' numbers. The largest weight
    comes first.
    """
    weights, experts = top_k_route(logits, k)
    order = experts.argsort(-1)
    return weights.gather(-1, order), experts.gather(-1, order)


def mismatched(logits: Tensor, k: int) -> Route:
    """The experts are sorted by number, the weights by size: they no longer belong together."""
    weights, experts = top_k_route(logits, k)
    return weights, experts.sort(-1).values


def experts_first(logits: Tensor, k: int) -> Route:
    """The two results are in the other order: first the weights, then the experts."""
    weights, experts = top_k_route(logits, k)
    return experts, weights


def one_too_many(logits: Tensor, k: int) -> Route:
    """A token gets k + 1 experts."""
    return top_k_route(logits, min(k + 1, logits.shape[-1]))


def best_alone(logits: Tensor, k: int) -> Route:
    """A token gets its best expert alone, whatever k is."""
    return top_k_route(logits, 1)


def as_a_table(logits: Tensor, k: int) -> Route:
    """The weights are a table of all experts with zeros for those not chosen. Asked are the k
    weights, beside the k numbers.
    """
    weights, experts = top_k_route(logits, k)
    return torch.zeros_like(logits).scatter(-1, experts, weights), experts


def squeezed(logits: Tensor, k: int) -> Route:
    """For k = 1 the last axis is lost: its size is then 1, but it is there."""
    weights, experts = top_k_route(logits, k)
    return weights.squeeze(-1), experts.squeeze(-1)


def unstable(logits: Tensor, k: int) -> Route:
    """The scores are exponentiated as they are. What is exp(1000), and what may be subtracted from
    all scores of a token first?
    """
    powers = logits.exp()
    best = (powers / powers.sum(-1, keepdim=True)).topk(k)
    return best.values / best.values.sum(-1, keepdim=True), best.indices


def unstable_by_choice(logits: Tensor, k: int) -> Route:
    """The best are right, but their scores are exponentiated as they are. What is exp(1000)? What
    may be subtracted from all scores of a token first?
    """
    best = logits.topk(k)
    powers = best.values.exp()
    return powers / powers.sum(-1, keepdim=True), best.indices


def one_maximum(logits: Tensor, k: int) -> Route:
    """You subtract one maximum from the scores of all tokens. For a token whose scores are far
    below it, every exponential is 0: each token needs its own maximum.
    """
    powers = (logits - logits.max()).exp()
    best = (powers / powers.sum(-1, keepdim=True)).topk(k)
    return best.values / best.values.sum(-1, keepdim=True), best.indices


def divided_unseen(logits: Tensor, k: int) -> Route:
    """The weights are right, but their gradient is that of the probabilities before the division:
    autograd did not see it (`.data`, or a line under `no_grad`).
    """
    best = logits.softmax(-1).topk(k)
    weights = best.values
    weights.data = weights.data / weights.data.sum(-1, keepdim=True)
    return weights, best.indices


def fixed_sum(logits: Tensor, k: int) -> Route:
    """The weights are right, but for the gradient the sum by which you divide is a constant: it was
    detached. It depends on the scores, too.
    """
    best = logits.softmax(-1).topk(k)
    return best.values / best.values.sum(-1, keepdim=True).detach(), best.indices


def scores_first(logits: Tensor, k: int) -> Route:
    best = logits.topk(k, dim=-1)
    return torch.softmax(best.values, dim=-1), best.indices


def by_logsumexp(logits: Tensor, k: int) -> Route:
    values, numbers = logits.topk(k)
    return (values - values.logsumexp(-1, keepdim=True)).exp(), numbers


def by_sorting(logits: Tensor, k: int) -> Any:
    order = torch.sort(logits, dim=-1, descending=True).indices[..., :k]
    chosen = torch.take_along_dim(logits, order, dim=-1)
    powers = (chosen - chosen[..., :1]).exp()
    return [powers / powers.sum(-1, keepdim=True), order]


def hiding_the_rest(logits: Tensor, k: int) -> Route:
    threshold = logits.sort(-1).values[..., -k].unsqueeze(-1)
    gates = logits.masked_fill(logits < threshold, -torch.inf).softmax(-1)
    best = gates.topk(k)
    return best.values, best.indices


def one_after_another(logits: Tensor, k: int) -> Route:
    rest, numbers, found = logits.softmax(-1), [], []
    for _ in range(k):
        number = rest.argmax(-1, keepdim=True)
        numbers.append(number)
        found.append(rest.gather(-1, number))
        rest = rest.scatter(-1, number, -1.0)
    weights = torch.cat(found, -1)
    return weights / sum(found), torch.cat(numbers, -1)


def token_by_token(logits: Tensor, k: int) -> Route:
    """Read the scores as numbers, to choose; use them as tensors, to weigh."""
    rows, numbers = logits.reshape(-1, logits.shape[-1]), []
    for row in rows.tolist():
        numbers.append(sorted(range(len(row)), key=row.__getitem__, reverse=True)[:k])
    experts = torch.tensor(numbers, device=logits.device).view(*logits.shape[:-1], k)
    return F.softmax(logits.gather(-1, experts), dim=-1), experts


EXERCISE = Exercise(
    solution=top_k_route,
    chapter=CHAPTER,
    title="The router",
    points=3,
    minutes=9,
    difficulty=2,
    statement=(
        "Given the scores of all experts for each token, choose the k best experts and give each a "
        "weight: its probability under softmax, divided by the sum over the chosen, so that the "
        "weights of a token sum to 1."
    ),
    example=(
        "The scores are 1, 3, 0, 2, and k = 2. Experts 1 and 3 are best. Softmax gives them 0.644 "
        "and 0.237. Divided by their sum, 0.881, the weights are 0.731 and 0.269."
    ),
    conventions=(
        "Two tensors are returned: the weights and the numbers of the experts, both (..., k), the "
        "largest weight first.",
        "The weights sum to 1. (Without the division they would sum to 0.881 in the example.)",
        "Softmax over all experts and then the best k, or the best k and then softmax: that is the "
        "same function, and both are right.",
        "No two scores of a token are equal.",
    ),
    hints=(
        "The axis of the experts is the last one, whatever comes before.",
        "`torch.topk` gives two things at once. Which are they?",
        "Divide by the sum over the last axis, and keep that axis, so that the shapes fit.",
    ),
    cases=CASES,
    mistakes=(
        not_renormalised,
        over_tokens,
        over_axis_one,
        summed_over_tokens,
        softmax_twice,
        by_sigmoid,
        equal_weights,
        raw_scores,
        scores_by_sum,
        the_worst,
        worst_first,
        by_number,
        mismatched,
        experts_first,
        one_too_many,
        best_alone,
        as_a_table,
        squeezed,
        unstable,
        unstable_by_choice,
        one_maximum,
        divided_unseen,
        fixed_sum,
        on_the_cpu(top_k_route),
        always_float32(top_k_route),
        cut_from_autograd(top_k_route),
        changed_in_place(top_k_route),
    ),
    alternatives=(
        scores_first,
        by_logsumexp,
        by_sorting,
        hiding_the_rest,
        one_after_another,
        token_by_token,
    ),
)
