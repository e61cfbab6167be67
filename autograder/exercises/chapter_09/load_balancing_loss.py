"""Exercise: the loss that keeps experts busy.

Out of scope: its coefficient, padding, several layers (the chapter's text speaks of them).
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_09 import CHAPTER
from autograder.exercises.chapter_09._draws import choices, levels
from autograder.inputs import described, integer, normal, sizes
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere, in_dtypes
from autograder.wire import call, gradient
from solutions.routing import load_balancing_loss


def _trial(logits: Tensor, experts: Tensor, note: str = "") -> Trial:
    of = {"L": len(logits), "X": logits.shape[-1], "k": experts.shape[-1]}
    words = f"{described('logits', 'L X', of)}, {described('experts', 'L k', of)}{note}"
    return Trial(call(logits, experts), words, of)


def _drawn(rng: Generator, k: int = 2) -> Trial:
    """Draw scores, and choices that do not follow them: there was noise."""
    of = {"L": integer(rng, 10, 14), "X": integer(rng, 5, 8)}
    logits = normal(rng, "L X", of, std=1.5)
    return _trial(logits, choices(rng, of["L"], of["X"], k))


def one_choice(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 1)
    yield _drawn(rng, 1)


def several_choices(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 2)
    yield _drawn(rng, 3)


def balanced(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B X")
    tokens = torch.arange(of["B"] * of["X"])
    logits = normal(rng, "L X", {"L": len(tokens), "X": of["X"]})
    both = torch.stack([tokens % of["X"], (tokens + 1) % of["X"]], -1)
    yield _trial(logits, both, ", equally often")


def collapsed(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "L X")
    favourite = integer(rng, 0, of["X"] - 2)
    logits = normal(rng, "L X", of)
    logits[:, favourite] += 40
    yield _trial(logits, torch.full((of["L"], 1), favourite), ", always the same")


def followed(rng: Generator) -> Iterator[Trial]:
    of = {"L": integer(rng, 10, 14), "X": integer(rng, 5, 8)}
    logits = normal(rng, "L X", of, std=2.0)
    yield _trial(logits, logits.topk(2).indices, ", the best by score")


def nobodys_expert(rng: Generator) -> Iterator[Trial]:
    of = {"L": integer(rng, 8, 12), "X": integer(rng, 6, 9)}
    yield _trial(normal(rng, "L X", of), choices(rng, of["L"], of["X"] - 3, 2), ", none the last")


def singles(rng: Generator) -> Iterator[Trial]:
    yield _trial(normal(rng, "L X", {"L": 1, "X": 5}), choices(rng, 1, 5, 2))
    yield _trial(normal(rng, "L X", {"L": 6, "X": 1}), choices(rng, 6, 1, 1))
    yield _trial(normal(rng, "L X", {"L": 4, "X": 4}), choices(rng, 4, 4, 4))
    yield _trial(normal(rng, "L X", {"L": 5, "X": 5}, std=2.0), choices(rng, 5, 3, 2))


def shifted(rng: Generator) -> Iterator[Trial]:
    (logits, experts) = _drawn(rng).request.calls[0].args
    yield _trial(logits + 1000, experts, ", all near 1000")
    far = logits + levels(rng, len(logits))
    yield _trial(far, experts, ", near -1000, 0 or 1000, by token")


def not_contiguous(rng: Generator) -> Iterator[Trial]:
    of = {"L": integer(rng, 10, 14), "X": integer(rng, 5, 8)}
    experts = choices(rng, of["L"], of["X"], 2).T.contiguous().T
    yield _trial(normal(rng, "L X", of, std=1.5), experts, ", not contiguous")


def gradients(rng: Generator) -> Iterator[Trial]:
    for k in (1, 2):
        trial = _drawn(rng, k)
        yield Trial(
            gradient(torch.tensor(2.5), *trial.request.calls[0].args), trial.inputs, trial.sizes
        )


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng))


def many_tokens(rng: Generator) -> Iterator[Trial]:
    of = {"L": integer(rng, 900, 1000), "X": 3}
    experts = (torch.rand(of["L"], 1, generator=rng) > 0.9).long()
    logits = normal(rng, "L X", of) + torch.tensor([2.0, 0, 0])
    trial = _trial(logits, experts, ", most of them 0")
    yield trial
    yield from in_dtypes(trial, (torch.bfloat16,))


def kept(rng: Generator) -> Iterator[Trial]:
    yield from several_choices(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


CASES = (
    Case("one choice for each token", one_choice, values),
    Case("several choices for each token", several_choices, values, weight=2),
    Case("it is 1 if all experts are chosen equally often", balanced, values),
    Case("it is the number of experts if one gets all", collapsed, values),
    Case("tokens that go where the scores are highest", followed, values),
    Case("experts that nobody has chosen count, too", nobodys_expert, values),
    Case("a single token, a single expert, equal sizes", singles, values),
    Case("scores around a thousand stay finite", shifted, values, tolerance=5e-5),
    Case("choices that do not lie in one piece of memory", not_contiguous, values),
    Case("the gradient reaches the scores", gradients, values),
    Case("the dtype of the scores is kept", dtypes, values, tolerance=6e-2),
    Case("with many tokens the counts are exact", many_tokens, values, tolerance=3e-2),
    Case("scores and choices are not changed", kept, inputs_kept),
    Case("works on whatever device the tensors are on", devices, values),
)


def _shares(logits: Tensor, experts: Tensor) -> Tensor:
    """Count each expert's share of all choices."""
    chosen = F.one_hot(experts, logits.shape[-1]).to(logits.dtype)
    return chosen.flatten(0, 1).mean(0)


def _weighed(share: Tensor, probability: Tensor) -> Tensor:
    return len(share) * (share * probability).sum()


def shares_sum_to_k(logits: Tensor, experts: Tensor) -> Tensor:
    """Your shares sum to k, so that the balanced value is k. That is a convention of some papers;
    here they are shares of all choices and sum to 1.
    """
    return load_balancing_loss(logits, experts) * experts.shape[-1]


def factor_forgotten(logits: Tensor, experts: Tensor) -> Tensor:
    """The factor is missing: balanced, your value is 1 divided by the number of experts, not 1."""
    return load_balancing_loss(logits, experts) / logits.shape[-1]


def factor_squared(logits: Tensor, experts: Tensor) -> Tensor:
    """The number of experts is in your value twice. Balanced, it should be 1."""
    return load_balancing_loss(logits, experts) * logits.shape[-1]


def summed_over_tokens(logits: Tensor, experts: Tensor) -> Tensor:
    """P is a sum over the tokens. It should be their mean, or the value grows with the batch."""
    return load_balancing_loss(logits, experts) * len(logits)


def counted(logits: Tensor, experts: Tensor) -> Tensor:
    """f is a count of the choices. It should be a share of all of them."""
    return load_balancing_loss(logits, experts) * experts.numel()


def with_coefficient(logits: Tensor, experts: Tensor) -> Tensor:
    """Your value is a hundredth of what it should be: the coefficient is applied where the loss is
    added to the others, not here.
    """
    return load_balancing_loss(logits, experts) * 0.01


def mean_over_experts(logits: Tensor, experts: Tensor) -> Tensor:
    """P is a mean over the experts, which for a softmax is a constant: the loss says 1 and pushes
    nothing. Take the mean over the tokens.
    """
    mean = logits.softmax(-1).mean(-1, keepdim=True).mean(0).expand(logits.shape[-1])
    return _weighed(_shares(logits, experts), mean)


def chosen_only(logits: Tensor, experts: Tensor) -> Tensor:
    """P is made from the probabilities of the chosen experts alone. Those that were not chosen
    count as well: they are the ones to be woken.
    """
    hit = F.one_hot(experts, logits.shape[-1]).sum(1)
    return _weighed(_shares(logits, experts), (logits.softmax(-1) * hit).mean(0))


def renormalised(logits: Tensor, experts: Tensor) -> Tensor:
    """P is made from the renormalised weights of the chosen experts. Use the probabilities of all
    experts.
    """
    kept = logits.softmax(-1) * F.one_hot(experts, logits.shape[-1]).sum(1)
    weights = kept / kept.sum(-1, keepdim=True)
    return _weighed(_shares(logits, experts), weights.mean(0))


def without_softmax(logits: Tensor, experts: Tensor) -> Tensor:
    """P is the mean of the scores. It should be that of the probabilities."""
    return _weighed(_shares(logits, experts), logits.mean(0))


def over_tokens(logits: Tensor, experts: Tensor) -> Tensor:
    """Softmax runs over the tokens. Each token has probabilities over the experts."""
    return _weighed(_shares(logits, experts), logits.softmax(0).mean(0))


def softmax_of_mean(logits: Tensor, experts: Tensor) -> Tensor:
    """P is the softmax of the mean scores. First softmax, for each token, then the mean."""
    return _weighed(_shares(logits, experts), logits.mean(0).softmax(-1))


def first_choices(logits: Tensor, experts: Tensor) -> Tensor:
    """f counts the first choices alone. All k choices of a token are work for somebody."""
    return _weighed(_shares(logits, experts[:, :1]), logits.softmax(-1).mean(0))


def choices_ignored(logits: Tensor, experts: Tensor) -> Tensor:
    """f is counted from the highest scores. The choices are given, and noise or a limit may have
    made them differ.
    """
    return _weighed(_shares(logits, logits.argmax(-1, keepdim=True)), logits.softmax(-1).mean(0))


def best_by_score(logits: Tensor, experts: Tensor) -> Tensor:
    """f is counted from the k highest scores. The choices are given, and noise or a limit may have
    made them differ.
    """
    return load_balancing_loss(logits, logits.topk(experts.shape[-1]).indices)


def token_by_token(logits: Tensor, experts: Tensor) -> Tensor:
    """f P is computed for each token and then averaged. f and P are means over the batch: average
    each first, then multiply.
    """
    chosen = F.one_hot(experts, logits.shape[-1]).to(logits.dtype).mean(1)
    return logits.shape[-1] * (chosen * logits.softmax(-1)).sum(-1).mean()


def squared_probabilities(logits: Tensor, experts: Tensor) -> Tensor:
    """Both factors are P. One of them is f, the share of the choices."""
    mean = logits.softmax(-1).mean(0)
    return _weighed(mean, mean)


def squared_shares(logits: Tensor, experts: Tensor) -> Tensor:
    """Both factors are f, a count, through which no gradient passes. One of them is P."""
    share = _shares(logits, experts)
    return _weighed(share, share) + 0 * logits.sum()


def not_summed(logits: Tensor, experts: Tensor) -> Tensor:
    """You return a value for each expert. Their sum is asked."""
    return logits.shape[-1] * _shares(logits, experts) * logits.softmax(-1).mean(0)


def mean_for_sum(logits: Tensor, experts: Tensor) -> Tensor:
    """The products are averaged over the experts, without the factor. The value is X times the
    sum, and so X squared times the mean.
    """
    return (_shares(logits, experts) * logits.softmax(-1).mean(0)).mean()


def variation(logits: Tensor, experts: Tensor) -> Tensor:
    """This is another loss, the squared coefficient of variation of P (Shazeer et al. 2017). Asked
    is the one with f and P.
    """
    mean = logits.softmax(-1).sum(0)
    return mean.var(unbiased=False) / mean.mean() ** 2


def seen_experts_only(logits: Tensor, experts: Tensor) -> Tensor:
    """Your counts end at the last expert that was chosen. Say how many there are: those after it
    count 0.
    """
    share = torch.bincount(experts.flatten()).to(logits) / experts.numel()
    return _weighed(share, logits.softmax(-1).mean(0))


def experts_seen(logits: Tensor, experts: Tensor) -> Tensor:
    """How many experts there are is read from the choices, and those after the last that was chosen
    are forgotten. The scores know them all.
    """
    count = int(experts.max()) + 1
    share = F.one_hot(experts, count).to(logits.dtype).mean((0, 1))
    return count * (share * logits.softmax(-1).mean(0)[:count]).sum()


def counted_once(logits: Tensor, experts: Tensor) -> Tensor:
    """An expert that was chosen is counted once, however often it was chosen. To add 1 at a list of
    places (`f[places] += 1`) does not add it again where a place is listed again.
    """
    share = logits.new_zeros(logits.shape[-1])
    share[experts.flatten()] += 1
    return _weighed(share / experts.numel(), logits.softmax(-1).mean(0))


def seen_or_not(logits: Tensor, experts: Tensor) -> Tensor:
    """All experts that were chosen have the same share f, however often they were chosen. To add 1
    at a list of places (`f[places] += 1`) does not add it again where a place is listed again.
    """
    seen = logits.new_zeros(logits.shape[-1])
    seen[experts.flatten()] = 1
    return _weighed(seen / seen.sum(), logits.softmax(-1).mean(0))


def counted_coarsely(logits: Tensor, experts: Tensor) -> Tensor:
    """Choices are counted in the dtype of the scores. In bfloat16, which has no whole number
    between 256 and 258, counts stop growing. Count in whole numbers, and divide afterwards.
    """
    ones = torch.ones_like(experts, dtype=logits.dtype).flatten()
    count = logits.new_zeros(logits.shape[-1]).index_add(0, experts.flatten(), ones)
    return _weighed(count / experts.numel(), logits.softmax(-1).mean(0))


def shares_of_coarse_counts(logits: Tensor, experts: Tensor) -> Tensor:
    """Choices are counted in the dtype of the scores, and f is what share each count has of their
    sum. In bfloat16 a count stops at 256, so the busiest expert looks less busy than it is. Count
    in whole numbers.
    """
    ones = torch.ones_like(experts, dtype=logits.dtype).flatten()
    count = logits.new_zeros(logits.shape[-1]).index_add(0, experts.flatten(), ones)
    return _weighed(count / count.sum(), logits.softmax(-1).mean(0))


def flattened(logits: Tensor, experts: Tensor) -> Tensor:
    """`view` needs choices that lie in one piece of memory. `reshape` and `flatten` do not."""
    return load_balancing_loss(logits, experts.view(-1, 1))


def one_maximum(logits: Tensor, experts: Tensor) -> Tensor:
    """You subtract one maximum from the scores of all tokens. For a token whose scores are far
    below it, every exponential is 0: each token needs its own maximum.
    """
    powers = (logits - logits.max()).exp()
    mean = (powers / powers.sum(-1, keepdim=True)).mean(0)
    return _weighed(_shares(logits, experts), mean)


def unstable(logits: Tensor, experts: Tensor) -> Tensor:
    """The scores are exponentiated as they are. What is exp(1000)?"""
    powers = logits.exp()
    mean = (powers / powers.sum(-1, keepdim=True)).mean(0)
    return _weighed(_shares(logits, experts), mean)


def by_bincount(logits: Tensor, experts: Tensor) -> Tensor:
    count = logits.shape[1]
    share = torch.bincount(experts.reshape(-1), minlength=count) / experts.numel()
    return count * torch.dot(share.to(logits.dtype), logits.softmax(1).mean(0))


def by_scatter(logits: Tensor, experts: Tensor) -> Tensor:
    hits = torch.zeros_like(logits).scatter(1, experts, 1.0)
    tokens, k = experts.shape
    probability = torch.softmax(logits, dim=-1)
    return torch.einsum("lx,mx->", hits, probability) * logits.size(1) / (k * tokens**2)


def expert_by_expert(logits: Tensor, experts: Tensor) -> Tensor:
    p = torch.softmax(logits, -1)
    total = logits.new_zeros(())
    for i in range(logits.shape[-1]):
        total = total + (experts == i).to(p.dtype).mean() * p[:, i].mean()
    return logits.shape[-1] * total


def looked_up(logits: Tensor, experts: Tensor) -> Tensor:
    """The mean of P over all choices is the sum of f P."""
    return F.softmax(logits, dim=-1).mean(dim=0)[experts].mean() * logits.shape[-1]


def in_double(logits: Tensor, experts: Tensor) -> Tensor:
    tokens, count = logits.shape
    share = torch.bincount(experts.reshape(-1), minlength=count).double() / experts.numel()
    probability = logits.double().log_softmax(1).exp().sum(0) / tokens
    return (torch.dot(share, probability) * count).to(logits.dtype)


EXERCISE = Exercise(
    solution=load_balancing_loss,
    chapter=CHAPTER,
    title="A loss for balance",
    points=3,
    minutes=10,
    difficulty=3,
    statement=(
        "Measure how unevenly a batch is shared out: multiply each expert's share f of the choices "
        "by its mean probability P, sum over the experts and multiply by their number. Choices are "
        "given apart from the scores, since noise may have changed them."
    ),
    example=(
        "Two tokens, both with the scores 2 and 0, both sent to expert 0. Then f is 1 and 0, and "
        "P is 0.8808 and 0.1192. The loss is 2 x (1 x 0.8808 + 0 x 0.1192) = 1.7616."
    ),
    conventions=(
        "f sums to 1, also with k choices for each token. Balanced, the loss is 1; if one expert "
        "gets all with certainty, it is the number of experts.",
        "Counts are exact, also where there are many tokens and their scores are bfloat16.",
        "P is the mean over the tokens of the softmax over *all* experts.",
        "No coefficient: that is for whoever adds the losses.",
        "A tensor without axes is returned, in the dtype of the scores. The gradient flows through "
        "P; f is a count.",
    ),
    hints=(
        "Two vectors are wanted, with one number for each expert. What is averaged in each, and "
        "over what?",
        "A table of zeros and ones says who was chosen. Mind the experts that nobody chose.",
        "Check: do the numbers in f sum to 1, and those in P?",
    ),
    cases=CASES,
    mistakes=(
        shares_sum_to_k,
        factor_forgotten,
        factor_squared,
        summed_over_tokens,
        counted,
        with_coefficient,
        mean_over_experts,
        chosen_only,
        renormalised,
        without_softmax,
        over_tokens,
        softmax_of_mean,
        first_choices,
        choices_ignored,
        best_by_score,
        token_by_token,
        squared_probabilities,
        squared_shares,
        not_summed,
        mean_for_sum,
        variation,
        seen_experts_only,
        experts_seen,
        counted_once,
        seen_or_not,
        counted_coarsely,
        shares_of_coarse_counts,
        flattened,
        one_maximum,
        unstable,
        on_the_cpu(load_balancing_loss),
        always_float32(load_balancing_loss),
        cut_from_autograd(load_balancing_loss),
        changed_in_place(load_balancing_loss),
    ),
    alternatives=(by_bincount, by_scatter, expert_by_expert, looked_up, in_double),
)
