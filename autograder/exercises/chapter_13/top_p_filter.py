"""Exercise: keep the smallest set of best tokens that has the mass p.

Out of scope: ties, and masses that reach p exactly, where rounding decides.
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_13 import CHAPTER
from autograder.exercises.chapter_13._draws import Sizes, filtered, hiding, scores
from autograder.inputs import integer, sizes, uniform
from autograder.slips import always_float32, changed_in_place, float64_narrowed, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere, in_dtypes
from solutions.sampling import top_p_filter

MARGIN = 0.02  # half precision can still tell on which side of p a sum is


def _sizes(rng: Generator) -> Sizes:
    return {**sizes(rng, "B L"), "V": integer(rng, 10, 12)}


def _safe(logits: Tensor, p: float) -> bool:
    """Whether no sum of the largest probabilities is near p."""
    mass = logits.double().softmax(-1).sort(-1, descending=True).values.cumsum(-1)
    return bool(((mass - p).abs() > MARGIN).all())


def _trial(
    rng: Generator,
    low: float = 0.3,
    high: float = 0.9,
    *,
    axes: str = "B V",
    of: Sizes | None = None,
    hide: int = 0,
    note: str = "",
) -> Trial:
    """Draw scores and a p that no sum of probabilities is near to."""
    of = of or _sizes(rng)
    while True:
        logits = scores(rng, axes, of) - (30 if "negative" in note else 0)
        logits = hiding(rng, logits, hide) if hide else logits
        p = uniform(rng, low, high)
        if _safe(logits, p):
            return filtered(logits, axes, of, ("p", p), note)


def usual(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 0.3, 0.6)
    yield _trial(rng, 0.6, 0.95)


def crossing(rng: Generator) -> Iterator[Trial]:
    """Draw rows whose best token has more than p, or nearly so."""
    of = {"B": 4, "V": 6}
    tops = torch.tensor([0.31, 0.45, 0.55, 0.7])
    rest = torch.tensor([0.4, 0.3, 0.15, 0.1, 0.05])
    rows = torch.cat([tops[:, None], (1 - tops)[:, None] * rest], 1)
    order = torch.rand(4, 6, generator=rng).argsort(-1)
    yield filtered(rows.log().gather(-1, order), "B V", of, ("p", 0.5))


def tiny(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 0.01, 0.04)
    of = _sizes(rng)
    yield filtered(scores(rng, "B V", of), "B V", of, ("p", 0.0))


def everything(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    yield filtered(scores(rng, "B V", of, 0.125), "B V", of, ("p", 1.0))
    sharp = scores(rng, "B V", of, 3.0)  # in float32 the sum is 1 before the last tokens
    yield filtered(sharp, "B V", of, ("p", 1.0), ", some almost impossible")


def different_rows(rng: Generator) -> Iterator[Trial]:
    """Draw rows that are sharp and flat, so that they keep few and many."""
    of = {"B": 5, "V": 9}
    sharpness = torch.tensor([0.25, 0.5, 1.0, 3.0, 8.0])[:, None]
    while True:
        ranks = torch.rand(5, 9, generator=rng).argsort(-1)
        logits, p = ranks * sharpness, uniform(rng, 0.5, 0.8)
        if _safe(logits, p):
            break
    yield filtered(logits, "B V", of, ("p", p), ", from flat to sharp")


def ranks(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, axes="V")
    yield _trial(rng, axes="B L V", of={"B": 2, "L": 3, "V": 5})


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, of={"B": 4, "V": 4})
    yield _trial(rng, of={"B": 1, "V": 6})
    yield _trial(rng, of={"B": 3, "V": 1})


def hidden(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, hide=4, note=", 4 in each row are -inf")
    of = _sizes(rng)
    logits = hiding(rng, scores(rng, "B V", of), of["V"] - 1)
    yield filtered(logits, "B V", of, ("p", 0.5), ", all but one are -inf")


def below_zero(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, note=", all negative")


def extremes(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    yield filtered(1e4 * scores(rng, "B V", of), "B V", of, ("p", 0.5), ", of order 1e4")
    while True:
        logits, p = 1e-3 * scores(rng, "B V", of), uniform(rng, 0.2, 0.9)
        if _safe(logits, p):
            break
    yield filtered(logits, "B V", of, ("p", p), ", of order 0.001")
    shifted = _trial(rng).request.calls[0].args
    far = shifted[0] + 1000 * torch.arange(shifted[0].shape[0])[:, None]
    of = {"B": far.shape[0], "V": far.shape[1]}
    yield filtered(far, "B V", of, ("p", shifted[1]), ", each row raised by another number")


def not_contiguous(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng, axes="B L V", of={"B": 2, "L": 3, "V": 5})
    logits, p = trial.request.calls[0].args
    strange = logits.transpose(0, 1).contiguous().transpose(0, 1)
    yield filtered(strange, "B L V", dict(trial.sizes), ("p", p), ", not contiguous")


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng, of={"B": 3, "V": 6}))


def all_digits(rng: Generator) -> Iterator[Trial]:
    of = {"B": 5, "V": 7}
    logits = 1 + 1e-10 * scores(rng, "B V", of).double()
    yield filtered(logits, "B V", of, ("p", 0.5), ", float64 that differ after 10 digits")
    for side in (1e-11, -1e-11):
        row = scores(rng, "V", of).double()
        mass = row.softmax(-1).sort(descending=True).values.cumsum(-1)
        p = float(mass[1]) + side
        yield filtered(row, "V", of, ("p", p), ", float64 with a sum that is almost p")


def kept(rng: Generator) -> Iterator[Trial]:
    yield from usual(rng)
    yield from everything(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng))


CASES = (
    Case("the smallest set that reaches p stays", usual, values, weight=3),
    Case("the token that crosses p stays", crossing, values, weight=2),
    Case("the best token stays, however small p is", tiny, values, weight=2),
    Case("with a p of 1 everything stays", everything, values),
    Case("flat rows keep many tokens, sharp rows few", different_rows, values, weight=2),
    Case("works for one row and for many axes", ranks, values),
    Case("works where sizes are equal, or 1", equal_sizes, values),
    Case("what is hidden stays hidden, and has no mass", hidden, values),
    Case("negative scores are scores as well", below_zero, values),
    Case("small and large scores are no exception", extremes, values),
    Case("works for tensors that are not contiguous", not_contiguous, values),
    Case("the dtype is kept", dtypes, values),
    Case("float64 is used to its full precision", all_digits, values),
    Case("the logits themselves are not changed", kept, inputs_kept),
    Case("works on whatever device the logits are on", devices, values),
)


def _keeping(logits: Tensor, stays: Tensor) -> Tensor:
    """Keep what stays, where both are in the order of falling probability."""
    order = logits.argsort(-1, descending=True)
    hide = torch.zeros_like(stays).scatter(-1, order, ~stays)
    return logits.masked_fill(hide, -torch.inf)


def _mass(logits: Tensor) -> Tensor:
    return logits.sort(-1, descending=True).values.softmax(-1).cumsum(-1)


def _first(stays: Tensor) -> Tensor:
    return stays | (torch.arange(stays.shape[-1], device=stays.device) == 0)


def crossing_dropped(logits: Tensor, p: float) -> Tensor:
    """The token that crosses p is dropped: what stays has less than p. Ask how much mass comes
    *before* a token.
    """
    return _keeping(logits, _first(_mass(logits) <= p))


def can_be_empty(logits: Tensor, p: float) -> Tensor:
    """Where the best token alone has more than p, nothing stays at all, and the softmax of a row of
    -inf is NaN. The token that crosses p has to stay, the best one always.
    """
    return _keeping(logits, _mass(logits) <= p)


def zero_is_empty(logits: Tensor, p: float) -> Tensor:
    """With p = 0 no token stays. The best one always does."""
    return torch.full_like(logits, -torch.inf) if p == 0 else top_p_filter(logits, p)


def one_more(logits: Tensor, p: float) -> Tensor:
    """One token too many stays: the one after that which crosses p."""
    stays = (_mass(logits).roll(1, -1) < p)[..., :-1]
    first = torch.ones_like(stays[..., :1])
    return _keeping(logits, torch.cat([first, _first(stays)], -1))


def each_against_p(logits: Tensor, p: float) -> Tensor:
    """You compare single probabilities with p. It is the sum of the largest ones that should reach
    p.
    """
    chances = logits.sort(-1, descending=True).values.softmax(-1)
    return _keeping(logits, _first(chances >= p))


def below_the_complement(logits: Tensor, p: float) -> Tensor:
    """You hide the tokens whose probability is below 1 - p. It is a sum of probabilities that
    decides.
    """
    chances = logits.sort(-1, descending=True).values.softmax(-1)
    return _keeping(logits, _first(chances >= 1 - p))


def min_p(logits: Tensor, p: float) -> Tensor:
    """You keep what has at least p times the probability of the best token. That is another filter,
    min-p: here probabilities are summed up.
    """
    chances = logits.sort(-1, descending=True).values.softmax(-1)
    return _keeping(logits, chances >= p * chances[..., :1])


def one_minus_p(logits: Tensor, p: float) -> Tensor:
    """The set has the mass 1 - p. It should have p."""
    return top_p_filter(logits, 1 - p)


def the_tail(logits: Tensor, p: float) -> Tensor:
    """The mask is the wrong way round: you hide the nucleus and keep the tail."""
    right = top_p_filter(logits, p)
    return logits.masked_fill(~right.isinf(), -torch.inf)


def from_the_worst(logits: Tensor, p: float) -> Tensor:
    """You add up from the least probable token on. `sort` begins with the smallest unless told
    otherwise.
    """
    return logits.masked_fill(_rising(logits, p), -torch.inf)


def _rising(logits: Tensor, p: float) -> Tensor:
    ordered, order = logits.sort(-1)
    mass = ordered.softmax(-1).cumsum(-1)
    before = mass - ordered.softmax(-1)
    return torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, before >= p)


def unsorted(logits: Tensor, p: float) -> Tensor:
    """You add up in the order of the vocabulary, without sorting. The set should hold the most
    probable tokens.
    """
    chances = logits.softmax(-1)
    return logits.masked_fill(chances.cumsum(-1) - chances >= p, -torch.inf)


def not_put_back(logits: Tensor, p: float) -> Tensor:
    """The mask is made in sorted order, and used in the order of the vocabulary: the wrong tokens
    are hidden. Bring it back with the indices that sorting gave you.
    """
    mass = _mass(logits)
    hide = torch.cat([torch.zeros_like(mass[..., :1]), mass[..., :-1]], -1) >= p
    hide[..., 0] = False
    return logits.masked_fill(hide, -torch.inf)


def gathered(logits: Tensor, p: float) -> Tensor:
    """You bring the mask back with `gather`, which goes the other way: it sorts once more.
    `scatter` puts things back to where the indices say.
    """
    order = logits.argsort(-1, descending=True)
    mass = _mass(logits)
    hide = torch.cat([torch.zeros_like(mass[..., :1]), mass[..., :-1]], -1) >= p
    hide[..., 0] = False
    return logits.masked_fill(hide.gather(-1, order), -torch.inf)


def sorted_too(logits: Tensor, p: float) -> Tensor:
    """The scores come back sorted. Each belongs to a token: it stays at its place."""
    return top_p_filter(logits, p).sort(-1, descending=True).values


def without_softmax(logits: Tensor, p: float) -> Tensor:
    """You add up scores. It is probabilities that have the mass p: softmax first."""
    ordered = logits.sort(-1, descending=True).values
    return _keeping(logits, _first(ordered.cumsum(-1) - ordered < p))


def without_shift(logits: Tensor, p: float) -> Tensor:
    """The scores are exponentiated as they are. What is exp(1000)? `softmax` knows what to do."""
    powers = logits.sort(-1, descending=True).values.exp()
    mass = (powers / powers.sum(-1, keepdim=True)).cumsum(-1)
    before = torch.cat([torch.zeros_like(mass[..., :1]), mass[..., :-1]], -1)
    return _keeping(logits, before < p)


def one_set_for_all(logits: Tensor, p: float) -> Tensor:
    """All rows keep as many tokens as the first one. How many make up p differs from row to row."""
    count = (~top_p_filter(logits, p).isinf()).reshape(-1, logits.shape[-1])[0].sum()
    stays = torch.arange(logits.shape[-1], device=logits.device) < count
    return _keeping(logits, stays.expand(logits.shape))


def over_the_batch(logits: Tensor, p: float) -> Tensor:
    """Probabilities are taken and added up along the first axis. The last one holds the tokens."""
    return top_p_filter(logits.transpose(0, -1), p).transpose(0, -1)


def ignored(logits: Tensor, p: float) -> Tensor:
    """Nothing is hidden: p has no effect on what comes back."""
    return logits.clone()


def best_alone(logits: Tensor, p: float) -> Tensor:
    """Only the best token stays, whatever p is."""
    return logits.masked_fill(logits < logits.amax(-1, keepdim=True), -torch.inf)


def with_zeros(logits: Tensor, p: float) -> Tensor:
    """The others get the score 0. As a score that is not impossible: exp(0) is 1."""
    right = top_p_filter(logits, p)
    return right.masked_fill(right.isinf() & ~logits.isinf(), 0.0)


def finite_fill(logits: Tensor, p: float) -> Tensor:
    """The others get a large negative number. Only -inf gives them the probability 0, whatever the
    scores are.
    """
    right = top_p_filter(logits, p)
    return right.masked_fill(right.isinf() & ~logits.isinf(), -1e4)


def probabilities(logits: Tensor, p: float) -> Tensor:
    """You return probabilities. Asked are scores: softmax comes once more when a token is drawn."""
    return top_p_filter(logits, p).softmax(-1)


def renormalised_logs(logits: Tensor, p: float) -> Tensor:
    """You return log-probabilities of what stays. The distribution is right, but the scores should
    stay as they are.
    """
    return top_p_filter(logits, p).log_softmax(-1)


def tail_rounded_away(logits: Tensor, p: float) -> Tensor:
    """With p = 1 the tail is lost where rounding makes the sum 1 before it. Those before a token
    have less than 1 together, however little it has itself: with p = 1 hide nothing.
    """
    before = _mass(logits).roll(1, -1)
    return _keeping(logits, _first(before < p))


def through_probabilities(logits: Tensor, p: float) -> Tensor:
    """You return logarithms of probabilities. The distribution is right, but the scores that stay
    should keep their numbers.
    """
    stays = ~top_p_filter(logits, p).isinf()
    return torch.where(stays, logits.log_softmax(-1), -torch.inf)


def by_the_mass_before(logits: Tensor, p: float) -> Tensor:
    best = logits.sort(dim=-1, descending=True)
    chances = torch.softmax(best.values, dim=-1)
    stays = (chances.cumsum(-1) - chances) < p
    stays[..., 0] = True
    stays |= p >= 1
    alone = torch.where(stays, best.values, -torch.inf)
    return torch.full_like(logits, -torch.inf).scatter(-1, best.indices, alone)


def by_ranks(logits: Tensor, p: float) -> Tensor:
    chances = logits.softmax(-1)
    mass = chances.sort(-1, descending=True).values.cumsum(-1)
    rank = logits.argsort(-1, descending=True).argsort(-1)
    count = (mass < p).sum(-1, keepdim=True) if p < 1 else logits.shape[-1]
    return logits.masked_fill(rank > count, -torch.inf)


def by_pairs(logits: Tensor, p: float) -> Tensor:
    """For each token, the mass of all that are better, without sorting."""
    better = logits.unsqueeze(-2) > logits.unsqueeze(-1)  # token, other
    before = (better * logits.softmax(-1).unsqueeze(-2)).sum(-1)
    best = ~better.any(-1)
    return torch.where((before < p) | best | (p == 1), logits, -torch.inf)


def row_by_row(logits: Tensor, p: float) -> Tensor:
    rows = logits.reshape(-1, logits.shape[-1])
    out = torch.full_like(rows, -torch.inf)
    for i, chances in enumerate(rows.softmax(-1).tolist()):
        mass = 0.0
        for token in sorted(range(len(chances)), key=rows[i].tolist().__getitem__, reverse=True):
            out[i, token] = rows[i, token]
            mass += chances[token]
            if p < 1 and mass >= p:
                break
    return out.view(logits.shape)


EXERCISE = Exercise(
    solution=top_p_filter,
    chapter=CHAPTER,
    title="The nucleus",
    points=3,
    minutes=9,
    difficulty=3,
    statement=(
        "Hide the tail of the distribution: keep the smallest set of most probable tokens that has "
        "at least the probability p together, and give all others the score -inf. A sharp "
        "distribution keeps few tokens, a flat one many."
    ),
    example=(
        "The probabilities are 0.15, 0.5, 0.05, 0.3, and p = 0.6. The best token has 0.5, which is "
        "less than 0.6, so the next one, with 0.3, stays as well. Before the third there is 0.8: "
        "it is hidden, and so is the last. With p = 0.4 the first alone stays."
    ),
    conventions=(
        "A token stays if those that are more probable have less than p together. So the token "
        "that crosses p stays. (Dropping it would leave 0.5 in the example.)",
        "The best token always stays, even with p = 0. With p = 1 nothing is hidden, even where "
        "rounding makes the sum 1 before the last token.",
        "In half precision add up in float32 or better: three digits are too few for sums.",
        "Scores come in and scores go out, in the same shape and dtype; those that stay keep their "
        "numbers.",
        "No two scores of a row are equal, except those that are -inf already. They stay -inf, and "
        "for a p below 1 no sum of probabilities is p exactly.",
    ),
    hints=(
        "Sort, take the softmax, add up with `cumsum`.",
        "`cumsum` counts a token itself. How much is there *before* it?",
        "p = 1 needs a look of its own: in float32, 1 - 1e-9 is 1.",
        "The mask is in sorted order. `scatter`, with the indices from sorting, puts it back.",
    ),
    cases=CASES,
    mistakes=(
        crossing_dropped,
        can_be_empty,
        zero_is_empty,
        one_more,
        each_against_p,
        below_the_complement,
        min_p,
        one_minus_p,
        the_tail,
        from_the_worst,
        unsorted,
        not_put_back,
        gathered,
        sorted_too,
        without_softmax,
        without_shift,
        one_set_for_all,
        over_the_batch,
        ignored,
        best_alone,
        with_zeros,
        finite_fill,
        probabilities,
        renormalised_logs,
        through_probabilities,
        tail_rounded_away,
        on_the_cpu(top_p_filter),
        always_float32(top_p_filter),
        float64_narrowed(top_p_filter),
        changed_in_place(top_p_filter),
    ),
    alternatives=(by_the_mass_before, by_ranks, by_pairs, row_by_row),
)
