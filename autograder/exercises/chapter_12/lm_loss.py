"""Exercise: the loss of a language model.

Out of scope: weights of tokens, smoothed labels, a batch without any place that counts.
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_12 import CHAPTER
from autograder.inputs import described, normal, sizes
from autograder.slips import (
    always_float32,
    changed_in_place,
    cut_from_autograd,
    float64_narrowed,
    on_the_cpu,
)
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere, in_dtypes
from autograder.wire import call, gradient
from solutions.losses import lm_loss

IGNORED = -100
Sizes = dict[str, int]


def _sizes(rng: Generator) -> Sizes:
    of = sizes(rng, "B L V")
    return {**of, "L": 10} if of["L"] == 7 else of


def _trial(logits: Tensor, targets: Tensor, of: Sizes, note: str = "") -> Trial:
    words = f"{described('logits', 'B L V', of)}, {described('targets', 'B L', of)}{note}"
    return Trial(call(logits, targets), words, of)


def _drawn(
    rng: Generator, of: Sizes | None = None, std: float = 2.0, padding: bool = False
) -> Trial:
    of = of or _sizes(rng)
    logits = normal(rng, "B L V", of, std=std)
    targets = torch.randint(of["V"], (of["B"], of["L"]), generator=rng)
    if padding:
        _pad(targets)
    return _trial(logits, targets, of, ", some places do not count" if padding else "")


def _pad(targets: Tensor) -> None:
    """Let rows end with places that do not count: the first with most, the last with one."""
    for row, one in enumerate(targets):
        one[max(1, one.numel() - len(targets) + row) :] = IGNORED


def usual(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def nothing_known(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, std=0.0)


def almost_sure(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    trial = _drawn(rng, of, std=0.5)
    logits, targets = trial.request.calls[0].args
    yield _trial(logits + 9 * F.one_hot(targets, of["V"]), targets, of, ", nearly all right")


def padded(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, {"B": 3, "L": 5, "V": 7}, padding=True)
    yield _drawn(rng, {"B": 4, "L": 6, "V": 5}, padding=True)


def large(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, std=1e4)
    trial = _drawn(rng)
    logits, targets = trial.request.calls[0].args
    yield _trial(logits + 5000, targets, dict(trial.sizes), ", logits around 5000")


def small(rng: Generator) -> Iterator[Trial]:
    for letter in "BLV":
        yield _drawn(rng, {**_sizes(rng), letter: 1})
    yield _drawn(rng, {"B": 4, "L": 4, "V": 4})


def half_precision(rng: Generator) -> Iterator[Trial]:
    of = {"B": 5, "L": 60, "V": 7}
    yield from in_dtypes(_drawn(rng, of, std=3.0), (torch.bfloat16, torch.float16))
    for _ in range(2):  # few places, where what is rounded does not cancel
        few = _drawn(rng, {"B": 2, "L": 3, "V": 7}, std=3.0)
        yield from in_dtypes(few, (torch.bfloat16,))


def precision(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng), (torch.float64,))
    trial = _drawn(rng)
    logits, targets = trial.request.calls[0].args
    far = logits.double() + 3e8
    yield _trial(far, targets, dict(trial.sizes), ", float64, logits around 3e8")


def not_contiguous(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    logits, targets = trial.request.calls[0].args
    logits = logits.transpose(0, 1).contiguous().transpose(0, 1)
    targets = targets.T.contiguous().T
    yield _trial(logits, targets, dict(trial.sizes), ", not contiguous")


def several_calls(rng: Generator) -> Iterator[Trial]:
    one, other = _drawn(rng), _drawn(rng)
    calls = (*one.request.calls, *other.request.calls, *one.request.calls)
    yield Trial(type(one.request)(calls), f"{one.inputs}, then other sizes, then the first")


def gradients(rng: Generator) -> Iterator[Trial]:
    for padding, std in ((False, 2.0), (True, 2.0), (False, 1e4)):
        trial = _drawn(rng, {"B": 3, "L": 5, "V": 7}, std, padding)
        yield Trial(
            gradient(torch.tensor(1.7), *trial.request.calls[0].args), trial.inputs, trial.sizes
        )


def kept(rng: Generator) -> Iterator[Trial]:
    yield from usual(rng)
    yield _drawn(rng, {"B": 3, "L": 5, "V": 7}, padding=True)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))
    yield elsewhere(_drawn(rng, {"B": 3, "L": 5, "V": 7}, padding=True))


CASES = (
    Case("the mean of what the right tokens cost", usual, values, weight=2),
    Case("a model that knows nothing pays ln V", nothing_known, values),
    Case("nearly sure and right costs nearly nothing", almost_sure, values, tolerance=1e-2),
    Case("places marked -100 do not count, in any row", padded, values, weight=2),
    Case("very large logits stay finite", large, values, tolerance=1e-3),
    Case("works where sizes are 1 or equal", small, values),
    Case("half precision is summed in float32", half_precision, values, tolerance=1e-4),
    Case("float64 keeps its digits", precision, values),
    Case("works for tensors that are not contiguous", not_contiguous, values),
    Case("the second call does not depend on the first", several_calls, values),
    Case("the gradient is that of the mean", gradients, values),
    Case("nothing that was given is changed", kept, inputs_kept),
    Case("works on whatever device the tensors are on", devices, values),
)


def _costs(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """What each place costs, 0 where it does not count, and which do."""
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    counts = targets != IGNORED
    right = targets.where(counts, torch.zeros_like(targets))
    return -wide.log_softmax(-1).gather(-1, right[..., None])[..., 0] * counts, counts


def shifted_again(logits: Tensor, targets: Tensor) -> Tensor:
    """You shift once more: scores at place i are compared with the target at i + 1. These targets
    are shifted already.
    """
    if targets.shape[1] < 2:
        return lm_loss(logits, targets)
    return lm_loss(logits[:, :-1], targets[:, 1:])


def softmax_first(logits: Tensor, targets: Tensor) -> Tensor:
    """Softmax is applied twice: torch's `cross_entropy` wants the scores as they are. So the loss
    never comes near 0.
    """
    return lm_loss(logits.softmax(-1), targets)


def over_places(logits: Tensor, targets: Tensor) -> Tensor:
    """The softmax runs over the places of a sequence. It is the tokens of the vocabulary that
    compete.
    """
    wide = logits.log_softmax(1)
    places = (targets != IGNORED).nonzero(as_tuple=True)
    return -wide[(*places, targets[places])].mean()


def sign_forgotten(logits: Tensor, targets: Tensor) -> Tensor:
    """The sign is missing: logarithms of probabilities are negative, costs are not."""
    return -lm_loss(logits, targets)


def summed(logits: Tensor, targets: Tensor) -> Tensor:
    """This is a sum. As a mean it does not grow with the batch."""
    return _costs(logits, targets)[0].sum()


def per_row(logits: Tensor, targets: Tensor) -> Tensor:
    """You divide by the number of rows alone, or of places in a row. Divide by all places that
    count.
    """
    return _costs(logits, targets)[0].sum() / len(targets)


def in_bits(logits: Tensor, targets: Tensor) -> Tensor:
    """The logarithm has base 2. Here it is the natural one; bits come when the loss is printed."""
    return lm_loss(logits, targets) * 1.4426950408889634


def perplexity(logits: Tensor, targets: Tensor) -> Tensor:
    """This is the perplexity, the exponential of the loss."""
    return lm_loss(logits, targets).exp()


def mean_of_probabilities(logits: Tensor, targets: Tensor) -> Tensor:
    """You average probabilities and take one logarithm. Take the logarithm at each place, and then
    the mean.
    """
    costs, counts = _costs(logits, targets)
    return -((-costs).exp() * counts).sum().div(counts.sum()).log()


def padding_counts(logits: Tensor, targets: Tensor) -> Tensor:
    """Places marked -100 are costs of 0 in the mean: the sum is right, and it is divided by all
    places. How many of them count?
    """
    costs, _ = _costs(logits, targets)
    return costs.mean()


def padding_is_token_zero(logits: Tensor, targets: Tensor) -> Tensor:
    """Places marked -100 are taken for token 0 and scored. They do not count at all."""
    return lm_loss(logits, targets.clamp(min=0))


def token_zero_is_padding(logits: Tensor, targets: Tensor) -> Tensor:
    """Token 0 is left out. It is a token like any other; -100 is the mark here."""
    return lm_loss(logits, targets.masked_fill(targets == 0, IGNORED))


def mean_of_rows(logits: Tensor, targets: Tensor) -> Tensor:
    """You average within each row, and then the rows. A row in which few places count then weighs
    as much as a full one: divide once, by all that count.
    """
    costs, counts = _costs(logits, targets)
    return (costs.sum(1) / counts.sum(1)).mean()


def padding_of_the_first_row(logits: Tensor, targets: Tensor) -> Tensor:
    """Where the first row has places that do not count, you leave them out of all rows. Every row
    has its own.
    """
    seen = targets[0] != IGNORED
    return lm_loss(logits[:, seen], targets[:, seen])


def last_place(logits: Tensor, targets: Tensor) -> Tensor:
    """Only the last place of each row is scored. Every place is an example."""
    costs, counts = _costs(logits, targets)
    last = counts.int().cumsum(1).argmax(1, keepdim=True)
    return costs.gather(1, last).mean()


def first_row(logits: Tensor, targets: Tensor) -> Tensor:
    """Only the first row is scored."""
    return lm_loss(logits[:1], targets[:1])


def overflows(logits: Tensor, targets: Tensor) -> Tensor:
    """Exponentials of large scores overflow. What can be subtracted from all scores of a place
    without changing any probability? Torch's `log_softmax` does it.
    """
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    counts = targets != IGNORED
    right = targets.where(counts, torch.zeros_like(targets))[..., None]
    costs = wide.exp().sum(-1).log() - wide.gather(-1, right)[..., 0]
    return costs[counts].mean()


def underflows(logits: Tensor, targets: Tensor) -> Tensor:
    """A probability rounds to 0, and its logarithm is infinite. Do not take the logarithm of
    softmax: torch has both in one.
    """
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32)).softmax(-1)
    counts = targets != IGNORED
    right = targets.where(counts, torch.zeros_like(targets))[..., None]
    return -wide.gather(-1, right)[..., 0][counts].log().mean()


def with_a_floor(logits: Tensor, targets: Tensor) -> Tensor:
    """A small number is added to each probability, so that no loss exceeds its logarithm. What is
    very wrong should cost very much.
    """
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32)).softmax(-1)
    counts = targets != IGNORED
    right = targets.where(counts, torch.zeros_like(targets))[..., None]
    return -(wide.gather(-1, right)[..., 0][counts] + 1e-9).log().mean()


def in_half(logits: Tensor, targets: Tensor) -> Tensor:
    """In half precision the costs are rounded to three digits before they are summed. Go to float32
    first, and stay there.
    """
    costs = -logits.log_softmax(-1).flatten(0, 1)
    return F.nll_loss(costs.neg(), targets.flatten())


def back_to_half(logits: Tensor, targets: Tensor) -> Tensor:
    """The loss is given back in half precision, with three digits. Give it back in float32."""
    return lm_loss(logits, targets).to(logits.dtype)


def flattened(logits: Tensor, targets: Tensor) -> Tensor:
    """`view` needs a tensor in one piece of memory. `reshape` and `flatten` do not."""
    return lm_loss(logits.view(-1, 1, logits.shape[-1]), targets.view(-1, 1))


def by_gather(logits: Tensor, targets: Tensor) -> Tensor:
    wide = logits.double() if logits.dtype == torch.float64 else logits.float()
    counts = targets.ne(IGNORED)
    right = wide.gather(-1, targets.clamp_min(0).unsqueeze(-1)).squeeze(-1)
    costs = wide.logsumexp(dim=-1) - right
    return (costs * counts).sum() / counts.sum()


def chosen_places(logits: Tensor, targets: Tensor) -> Tensor:
    counts = targets != IGNORED
    scores, right = logits[counts], targets[counts]
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32)).log_softmax(1)
    return -wide[torch.arange(len(right), device=right.device), right].mean()


def vocabulary_second(logits: Tensor, targets: Tensor) -> Tensor:
    """As torch's function wants it where places have several axes."""
    wide = logits if logits.dtype == torch.float64 else logits.float()
    return F.cross_entropy(wide.transpose(1, 2), targets, ignore_index=-100)


def row_after_row(logits: Tensor, targets: Tensor) -> Tensor:
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    total = sum(
        F.cross_entropy(scores, right, reduction="sum")
        for scores, right in zip(wide, targets, strict=True)
    )
    return torch.as_tensor(total) / (targets != IGNORED).sum()


EXERCISE = Exercise(
    solution=lm_loss,
    chapter=CHAPTER,
    title="The loss",
    points=2,
    minutes=8,
    difficulty=2,
    statement=(
        "What does the right token cost at each place, minus the logarithm of its probability? "
        "Return the mean over all places of all rows. Torch's losses may be used."
    ),
    example=(
        "One row, two places, two tokens. The logits (0, 0) give the right token probability 1/2, "
        "which costs 0.6931; (ln 3, 0), with token 0 right, give 3/4, which costs 0.2877. The mean "
        "is 0.4904."
    ),
    conventions=(
        "The targets are shifted already: scores and target at the same place belong together.",
        "A target of -100 marks a place that does not count, neither in the sum nor in the number "
        "by which it is divided. At least one place counts.",
        "The natural logarithm.",
        "Scores in half precision become float32 first, and so does the loss; float64 stays.",
    ),
    hints=(
        "Torch's `cross_entropy` wants one axis of places, and the vocabulary after it.",
        "Does it take scores or probabilities? And what is its `ignore_index` by default?",
    ),
    cases=CASES,
    mistakes=(
        shifted_again,
        softmax_first,
        over_places,
        sign_forgotten,
        summed,
        per_row,
        in_bits,
        perplexity,
        mean_of_probabilities,
        padding_counts,
        padding_is_token_zero,
        token_zero_is_padding,
        mean_of_rows,
        padding_of_the_first_row,
        last_place,
        first_row,
        overflows,
        underflows,
        with_a_floor,
        in_half,
        back_to_half,
        flattened,
        on_the_cpu(lm_loss),
        always_float32(lm_loss),
        float64_narrowed(lm_loss),
        cut_from_autograd(lm_loss),
        changed_in_place(lm_loss),
    ),
    alternatives=(by_gather, chosen_places, vocabulary_second, row_after_row),
)
