"""Exercise: draw a token with a given number from [0, 1).

Out of scope: rows in which all tokens are hidden, numbers of 1 and above.
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_13 import CHAPTER
from autograder.exercises.chapter_13._draws import Sizes, hiding, scores
from autograder.inputs import described, integer, sizes
from autograder.slips import changed_in_place, float64_narrowed, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere, in_dtypes
from autograder.wire import call
from solutions.sampling import sample_token

LARGEST = 1 - 2.0**-24  # the largest float32 below 1


def _sizes(rng: Generator) -> Sizes:
    return {**sizes(rng, "B L"), "V": integer(rng, 5, 7)}


def _trial(logits: Tensor, uniform: Tensor, axes: str, of: Sizes, note: str = "") -> Trial:
    rows = axes.removesuffix("V").strip()
    words = f"{described('logits', axes, of)}, a number for each row{note}"
    return Trial(call(logits, uniform), words, of, rows)


def inside(rng: Generator, logits: Tensor) -> Tensor:
    """Draw a number for each row that lies well inside the part of a probable token."""
    chances = logits.double().softmax(-1)
    likely = (chances > 0.05).double() * torch.rand(chances.shape, generator=rng)
    token = likely.argmax(-1, keepdim=True)
    own = chances.gather(-1, token)
    place = 0.25 + 0.5 * torch.rand(own.shape, generator=rng, dtype=torch.float64)
    before = chances.cumsum(-1).gather(-1, token) - own
    return (before + place * own).squeeze(-1).to(logits.dtype)


def _drawn(rng: Generator, axes: str = "B V", of: Sizes | None = None, hide: int = 0) -> Trial:
    of = of or _sizes(rng)
    logits = scores(rng, axes, of)
    logits = hiding(rng, logits, hide) if hide else logits
    note = f", {hide} in each row are -inf" if hide else ""
    return _trial(logits, inside(rng, logits), axes, of, note)


def usual(rng: Generator) -> Iterator[Trial]:
    for _ in range(3):
        yield _drawn(rng, of={**_sizes(rng), "B": 9})


def one_row_many_numbers(rng: Generator) -> Iterator[Trial]:
    """Draw 200 times from one distribution: every token comes as often as it should."""
    of = {"B": 200, "V": 6}
    chances = torch.tensor([0.05, 0.3, 0.1, 0.25, 0.1, 0.2])
    order = torch.rand(6, generator=rng).argsort()
    uniform = (torch.rand(200, generator=rng).argsort() + 0.5) / 200
    yield _trial(chances[order].log().expand(200, 6), uniform, "B V", of, ", 200 equal rows")


def hidden(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, hide=3)
    yield _drawn(rng, hide=4)


def borders(rng: Generator) -> Iterator[Trial]:
    """Draw rows that begin and end with hidden tokens, with the smallest and the largest number."""
    of = {"B": 60, "V": 40}
    logits = 0.3 * torch.randn(60, 40, generator=rng)
    first = integer(rng, 1, 4)
    logits[:, :first] = -torch.inf
    logits[:, -integer(rng, 1, 4) :] = -torch.inf
    yield _trial(logits, torch.zeros(60), "B V", of, ", all of them 0")
    yield _trial(logits, torch.full((60,), LARGEST), "B V", of, ", the largest below 1")


def ranks(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, "V")
    yield _drawn(rng, "B L V")


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    for of in ({"B": 5, "V": 5}, {"B": 1, "V": 6}, {"B": 3, "V": 1}):
        yield _drawn(rng, of=of)


def extremes(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    for factor, shift in ((1e3, 0.0), (1e-3, 0.0), (1.0, 2000.0), (1.0, -2000.0)):
        logits = factor * scores(rng, "B V", of) + shift
        note = f", scores of order {max(factor, abs(shift)):g}"
        yield _trial(logits, inside(rng, logits), "B V", of, note)


def not_contiguous(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    logits = scores(rng, "B L V", of).transpose(0, 1).contiguous().transpose(0, 1)
    yield _trial(logits, inside(rng, logits), "B L V", of, ", not contiguous")


def dtypes(rng: Generator) -> Iterator[Trial]:
    of = {"B": 6, "V": 4}
    logits = torch.tensor([0.4, 0.3, 0.2, 0.1]).log()
    shuffled = torch.rand(6, 4, generator=rng).argsort(-1)
    rows = logits[shuffled]
    yield from in_dtypes(_trial(rows, inside(rng, rows), "B V", of))


def all_digits(rng: Generator) -> Iterator[Trial]:
    """Draw numbers that are just above and just below a border between two tokens."""
    of = {"B": 16, "V": 5}
    logits = torch.randn(16, 5, generator=rng, dtype=torch.float64)
    at = torch.randint(4, (16, 1), generator=rng)
    border = logits.softmax(-1).cumsum(-1).gather(-1, at)[:, 0]
    side = torch.where(torch.arange(16) % 2 == 0, 1e-11, -1e-11)
    yield _trial(logits, border + side, "B V", of, ", float64 close to a border")


def kept(rng: Generator) -> Iterator[Trial]:
    yield from usual(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


CASES = (
    Case("the first token whose sum exceeds the number is drawn", usual, values, weight=3),
    Case("each token comes as often as its probability says", one_row_many_numbers, values),
    Case("a hidden token is never drawn", hidden, values, weight=2),
    Case("nor is one at the borders, 0 and almost 1", borders, values, weight=2),
    Case("works for one row and for many axes", ranks, values),
    Case("works where sizes are equal, or 1", equal_sizes, values),
    Case("large scores stay finite, small ones count", extremes, values),
    Case("works for tensors that are not contiguous", not_contiguous, values),
    Case("works in half and in double precision", dtypes, values),
    Case("float64 is used to its full precision", all_digits, values),
    Case("nothing that was given is changed", kept, inputs_kept),
    Case("works on whatever device the tensors are on", devices, values),
)


def _count(mass: Tensor, uniform: Tensor) -> Tensor:
    return (mass <= uniform[..., None]).sum(-1)


def best(logits: Tensor, uniform: Tensor) -> Tensor:
    """You always take the best token, whatever the number is. That is greedy, not a draw."""
    return logits.argmax(-1)


def own_number(logits: Tensor, uniform: Tensor) -> Tensor:
    """You draw with a number of your own (`multinomial`, `rand`). It is given, as `uniform`, so
    that results can be compared.
    """
    rows = logits.softmax(-1).reshape(-1, logits.shape[-1])
    return torch.multinomial(rows, 1).view(uniform.shape)


def strict(logits: Tensor, uniform: Tensor) -> Tensor:
    """With the number 0 you draw the first token even if it is hidden: its sum, 0, *equals* the
    number. It has to exceed it.
    """
    mass = logits.softmax(-1).cumsum(-1)
    return (mass < uniform[..., None] * mass[..., -1:]).sum(-1)


def one_too_far(logits: Tensor, uniform: Tensor) -> Tensor:
    """You draw the token after the right one. Counting from 0, how many sums are *not* above the
    number?
    """
    return (sample_token(logits, uniform) + 1).clamp(max=logits.shape[-1] - 1)


def one_too_early(logits: Tensor, uniform: Tensor) -> Tensor:
    """You draw the token before the right one: the last whose sum does not exceed the number. The
    first that does is asked.
    """
    return (sample_token(logits, uniform) - 1).clamp(min=0)


def sums_not_one(logits: Tensor, uniform: Tensor) -> Tensor:
    """You count on the probabilities to sum to exactly 1. After rounding the last sum can be a
    little less than 1, and a number close to 1 finds no token, so that a hidden one or none of the
    vocabulary comes back. What could you compare the number with instead?
    """
    return _count(logits.softmax(-1).cumsum(-1), uniform)


def last_of_all(logits: Tensor, uniform: Tensor) -> Tensor:
    """Where rounding leaves a number that no sum exceeds, you take the last token of the
    vocabulary, which may be hidden.
    """
    found = _count(logits.softmax(-1).cumsum(-1), uniform)
    return found.clamp(max=logits.shape[-1] - 1)


def first_if_none(logits: Tensor, uniform: Tensor) -> Tensor:
    """Where rounding leaves a number that no sum exceeds, you take the first token: `argmax` of a
    row without a True is 0.
    """
    mass = logits.softmax(-1).cumsum(-1)
    return (mass > uniform[..., None]).int().argmax(-1)


def by_probability(logits: Tensor, uniform: Tensor) -> Tensor:
    """You add up from the most probable token down. Each token is as likely as it should be, but
    here the order is that of the vocabulary.
    """
    ordered, order = logits.sort(-1, descending=True)
    found = sample_token(ordered, uniform)
    return order.gather(-1, found[..., None])[..., 0]


def from_the_end(logits: Tensor, uniform: Tensor) -> Tensor:
    """You add up from the end of the vocabulary, or use 1 minus the number. Each token is as likely
    as it should be, but here the sums begin with token 0.
    """
    return logits.shape[-1] - 1 - sample_token(logits.flip(-1), uniform)


def number_of_the_first(logits: Tensor, uniform: Tensor) -> Tensor:
    """All rows are drawn with the number of the first one. Each row has its own."""
    return sample_token(logits, uniform.flatten()[:1].expand(uniform.numel()).view(uniform.shape))


def row_of_the_first(logits: Tensor, uniform: Tensor) -> Tensor:
    """All rows are drawn from the distribution of the first one. Each row has its own."""
    first = logits.reshape(-1, logits.shape[-1])[0]
    return sample_token(first.expand(logits.shape), uniform)


def without_softmax(logits: Tensor, uniform: Tensor) -> Tensor:
    """You add up the scores. It is their probabilities that the number is compared with."""
    return (logits.cumsum(-1) <= uniform[..., None]).sum(-1).clamp(max=logits.shape[-1] - 1)


def without_shift(logits: Tensor, uniform: Tensor) -> Tensor:
    """The scores are exponentiated as they are. What is exp(1000)? `softmax` knows what to do."""
    mass = logits.exp().cumsum(-1)
    return (mass <= uniform[..., None] * mass[..., -1:]).sum(-1)


def without_sum(logits: Tensor, uniform: Tensor) -> Tensor:
    """You compare the number with single probabilities. It is their sum, up to a token, that
    counts.
    """
    return (logits.softmax(-1) > uniform[..., None]).int().argmax(-1)


def as_a_distribution(logits: Tensor, uniform: Tensor) -> Tensor:
    """You return ones and zeros. Asked is the number of the token."""
    return torch.nn.functional.one_hot(sample_token(logits, uniform), logits.shape[-1])


def axis_left(logits: Tensor, uniform: Tensor) -> Tensor:
    """An axis of size 1 is left at the end. The result has the shape of `uniform`."""
    return sample_token(logits, uniform)[..., None]


def as_a_float(logits: Tensor, uniform: Tensor) -> Tensor:
    """The tokens come back as floats. They are indices, int64."""
    return sample_token(logits, uniform).float()


def over_the_batch(logits: Tensor, uniform: Tensor) -> Tensor:
    """Softmax runs along the first axis. The last one holds the tokens."""
    mass = logits.softmax(0).cumsum(-1)
    return (mass <= uniform[..., None] * mass[..., -1:]).sum(-1)


def summed_over_the_batch(logits: Tensor, uniform: Tensor) -> Tensor:
    """You add up along the first axis. It is the tokens, on the last one, that are added up."""
    mass = logits.softmax(-1).cumsum(0)
    return (mass <= uniform[..., None] * mass[..., -1:]).sum(-1).clamp(max=logits.shape[-1] - 1)


def evenly(logits: Tensor, uniform: Tensor) -> Tensor:
    """You round the number to a token as if all were equally likely."""
    return (uniform * logits.shape[-1]).long()


def by_searching(logits: Tensor, uniform: Tensor) -> Tensor:
    chances = torch.softmax(logits, dim=-1)
    mass = chances.cumsum(-1).contiguous()
    found = torch.searchsorted(mass, uniform.unsqueeze(-1).contiguous(), right=True)
    places = torch.arange(logits.shape[-1], device=logits.device)
    last = torch.where(chances > 0, places, 0).amax(-1)
    return torch.minimum(found.squeeze(-1), last)


def by_argmax(logits: Tensor, uniform: Tensor) -> Tensor:
    mass = (logits - logits.amax(-1, keepdim=True)).exp().cumsum(dim=-1)
    return (mass > (uniform * mass[..., -1]).unsqueeze(-1)).to(torch.uint8).argmax(dim=-1)


def by_a_product(logits: Tensor, uniform: Tensor) -> Tensor:
    """Sums by a triangular matrix, and a cut at the last token that is possible."""
    size = logits.shape[-1]
    chances = logits.softmax(-1)
    below = torch.ones(size, size, dtype=chances.dtype, device=chances.device).triu()
    mass = chances @ below
    count = (uniform[..., None] >= mass).sum(-1)
    last = size - 1 - (chances > 0).flip(-1).int().argmax(-1)
    return torch.where(count > last, last, count)


def in_a_loop(logits: Tensor, uniform: Tensor) -> Tensor:
    rows, drawn = logits.softmax(-1).reshape(-1, logits.shape[-1]).tolist(), []
    for chances, number in zip(rows, uniform.reshape(-1).tolist(), strict=True):
        wanted, mass, token = number * sum(chances), 0.0, -1
        while mass <= wanted:
            token += 1
            mass += chances[token]
        drawn.append(token)
    return torch.tensor(drawn, device=logits.device).view(uniform.shape)


EXERCISE = Exercise(
    solution=sample_token,
    chapter=CHAPTER,
    title="One draw",
    points=3,
    minutes=8,
    difficulty=2,
    statement=(
        "Draw a token from the distribution softmax(logits), for each row, with a random number "
        "that is given. Lay the probabilities side by side on a line from 0 to 1, in the order of "
        "the vocabulary: the token in whose part the number falls is drawn."
    ),
    example=(
        "The probabilities are 0.2, 0.5, 0.3. The sums are 0.2, 0.7, 1. With the number 0.1 token "
        "0 is drawn, as 0.2 exceeds 0.1. With 0.6 it is token 1, since 0.2 does not exceed 0.6 "
        "and 0.7 does, and with 0.9 it is token 2."
    ),
    conventions=(
        "`uniform` has the shape of the logits without their last axis; its numbers are at least "
        "0 and less than 1, in the dtype of the logits. You draw nothing yourself.",
        "The sums run over the tokens in the order of the vocabulary, from token 0 on.",
        "A token with the score -inf is never drawn: not with the number 0, and not where rounding "
        "leaves the last sum at 0.99999994 and the number is as large.",
        "In half precision add up in float32 or better. The result is int64.",
    ),
    hints=(
        "`cumsum` gives the sums.",
        "How many sums are at or below the number? The token's number is the same.",
        "To be safe from rounding, multiply the number by the last sum.",
    ),
    cases=CASES,
    mistakes=(
        best,
        own_number,
        strict,
        one_too_far,
        one_too_early,
        sums_not_one,
        last_of_all,
        first_if_none,
        by_probability,
        from_the_end,
        number_of_the_first,
        row_of_the_first,
        without_softmax,
        without_shift,
        without_sum,
        as_a_distribution,
        axis_left,
        as_a_float,
        over_the_batch,
        summed_over_the_batch,
        evenly,
        on_the_cpu(sample_token),
        float64_narrowed(sample_token),
        changed_in_place(sample_token),
    ),
    alternatives=(by_searching, by_argmax, by_a_product, in_a_loop),
)
