"""Exercise: how much of a draft is kept, and what comes after it.

Out of scope: where the distributions come from.
"""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_13 import CHAPTER
from autograder.inputs import described, integer
from autograder.slips import changed_in_place, float64_narrowed, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere, in_dtypes
from autograder.wire import call
from solutions.sampling import sample_token
from solutions.speculative import speculative_accept

PART = 0.03  # a drawn token has at least so much of the distribution
LARGEST = 1 - 2.0**-24


def _distributions(rng: Generator, rows: int, size: int) -> Tensor:
    weights = torch.rand(rows, size, generator=rng, dtype=torch.float64) + 0.1
    return weights / weights.sum(-1, keepdim=True)


def _rest(target: Tensor, guess: Tensor, place: int) -> Tensor:
    if place == len(guess):
        return target[place]
    more = (target[place] - guess[place]).clamp(min=0)
    return more / more.sum()


def _trial(
    rng: Generator, accepted: int, drafted: int = 4, note: str = "", size: int | None = None
) -> Trial:
    """Draw inputs of which so many drafted tokens are kept, none of it close to a border."""
    size = size or integer(rng, 6, 8)
    while True:
        target, guess = _distributions(rng, drafted + 1, size), _distributions(rng, drafted, size)
        if note == ", some are impossible":
            target, guess = _with_zeros(rng, target), _with_zeros(rng, guess)
        draft = torch.multinomial(guess, 1, generator=rng)[:, 0]
        rows = torch.arange(drafted)
        ratio = target[rows, draft] / guess[rows, draft]
        if bool((ratio[accepted : accepted + 1] < 0.8).all()):
            break
    uniforms = torch.rand(drafted + 1, generator=rng, dtype=torch.float64)
    low = ratio.clamp(max=1.0)
    uniforms[:-1] = low * uniforms[:-1] * 0.9  # all would be kept
    if accepted < drafted:
        place = ratio[accepted]
        uniforms[accepted] = place + (1 - place) * (0.1 + 0.8 * uniforms[accepted])
    rest = _rest(target, guess, accepted)
    token = torch.where(rest > PART, torch.rand(size, generator=rng), 0.0).argmax()
    before = rest.cumsum(0)[token] - rest[token]
    uniforms[-1] = before + (0.3 + 0.4 * uniforms[-1]) * rest[token]
    given = (target.float(), guess.float(), draft, uniforms.float())
    of = {"K": drafted, "V": size}
    words = f"{described('guess', 'K V', of)}, {accepted} kept{note}"
    return Trial(call(*given), words, {}, "")


def _with_zeros(rng: Generator, rows: Tensor) -> Tensor:
    """Make the entries at some places 0, never all."""
    some = torch.rand(rows.shape, generator=rng).argsort(-1) < 2
    kept = rows.masked_fill(some, 0.0)
    return kept / kept.sum(-1, keepdim=True)


def first_refused(rng: Generator) -> Iterator[Trial]:
    for _ in range(4):
        yield _trial(rng, 0)


def some_kept(rng: Generator) -> Iterator[Trial]:
    for accepted in (1, 2, 3):
        yield _trial(rng, accepted)


def all_kept(rng: Generator) -> Iterator[Trial]:
    for _ in range(3):
        yield _trial(rng, 4)


def one_drafted(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 0, drafted=1)
    yield _trial(rng, 1, drafted=1)
    yield _trial(rng, 3, drafted=5, size=6)


def equal_models(rng: Generator) -> Iterator[Trial]:
    """Draw two models that agree: everything is kept, whatever the numbers are."""
    target = _distributions(rng, 5, 7).float()
    draft = torch.multinomial(target[:-1], 1, generator=rng)[:, 0]
    uniforms = torch.full((5,), LARGEST)
    words = "guess (K, V) = (4, 7), which equals target, numbers just below 1"
    yield Trial(call(target, target[:-1].clone(), draft, uniforms), words, {}, "")


def never_wanted(rng: Generator) -> Iterator[Trial]:
    """Draw a draft that the target gives the probability 0: it is refused even by the number 0."""
    trial = _trial(rng, 0)
    target, guess, draft, uniforms = trial.request.calls[0].args
    target = target.clone()
    target[1, draft[1]] = 0.0
    target[1] /= target[1].sum()
    uniforms = uniforms.clone()
    uniforms[:2] = 0.0
    yield Trial(call(target, guess, draft, uniforms), "guess (4, V), numbers 0", {}, "")


def impossible(rng: Generator) -> Iterator[Trial]:
    for accepted in (0, 2, 4):
        yield _trial(rng, accepted, note=", some are impossible")


def later_ones(rng: Generator) -> Iterator[Trial]:
    """Draw a refusal after which everything would be kept again."""
    yield _trial(rng, 1, drafted=6)
    yield _trial(rng, 2, drafted=6)


def dtypes(rng: Generator) -> Iterator[Trial]:
    for accepted in (0, 2, 4):
        yield from in_dtypes(_trial(rng, accepted), (torch.float64,))


def all_digits(rng: Generator) -> Iterator[Trial]:
    """Draw last numbers that are just above and just below a border between two tokens."""
    for accepted in (0, 2, 4):
        for side in (1e-11, -1e-11):
            target, guess, draft, uniforms = _trial(rng, accepted).request.calls[0].args
            target, guess = (one.double() / one.double().sum(-1, True) for one in (target, guess))
            rest = _rest(target, guess, accepted)
            token = rest.argmax()
            uniforms = uniforms.double()
            border = rest.cumsum(0)[token]
            border = border - rest[token] if token == rest.nonzero()[-1, 0] else border
            uniforms[-1] = (border + side).clamp(min=0)
            words = f"guess (K, V) = {tuple(guess.shape)}, {accepted} kept, float64"
            yield Trial(call(target, guess, draft, uniforms), words, {}, "")


def twice(rng: Generator) -> Iterator[Trial]:
    trials = [_trial(rng, accepted) for accepted in (2, 4, 0)]
    calls = tuple(one for trial in trials for one in trial.request.calls)
    yield Trial(replace(trials[0].request, calls=calls), "three drafts of 4 tokens", {}, "")


def kept(rng: Generator) -> Iterator[Trial]:
    yield from some_kept(rng)
    yield from all_kept(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, 2))
    yield elsewhere(_trial(rng, 4))


CASES = (
    Case("a refused token is replaced from what target has more", first_refused, values, weight=3),
    Case("what comes before the first refused token is kept", some_kept, values, weight=2),
    Case("if all are kept, one more is drawn from target", all_kept, values, weight=2),
    Case("drafts may be short or long", one_drafted, values),
    Case("models that agree keep everything", equal_models, values),
    Case("what target never says is refused", never_wanted, values),
    Case("probabilities of 0 do no harm", impossible, values),
    Case("after a refusal nothing more is kept", later_ones, values),
    Case("works in double precision", dtypes, values),
    Case("float64 is used to its full precision", all_digits, values),
    Case("one call does not change the next", twice, values),
    Case("nothing that was given is changed", kept, inputs_kept),
    Case("works on whatever device the tensors are on", devices, values),
)


def _accept(
    target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor, how: str = ""
) -> Tensor:
    """Keep or refuse, with one thing done differently."""
    count = len(draft)
    for i in range(len(draft)):
        p, q = target[i, draft[i]], guess[i, draft[i]]
        number = uniforms[0] if how == "one number" else uniforms[i]
        passed = {
            "bare target": number < p,
            "target above guess": p >= q,
            "upside down": number < q / p,
            "above": number > p / q,
            "half": p / q > 0.5,
            "best": target[i].argmax() == draft[i],
            "guess for target": number < q,
            "equal counts": number * q <= p,
        }.get(how, number * q < p)
        if how == "all":
            passed = torch.ones_like(passed)
        if not bool(passed):
            count = i
            break
    if how == "later":
        fits = [
            bool(uniforms[i] * guess[i, draft[i]] < target[i, draft[i]]) for i in range(len(draft))
        ]
        return torch.cat(
            [
                draft[torch.tensor(fits, device=draft.device)],
                _new(target, guess, uniforms, count, how),
            ]
        )
    return torch.cat([draft[:count], _new(target, guess, uniforms, count, how)])


def _new(target: Tensor, guess: Tensor, uniforms: Tensor, count: int, how: str) -> Tensor:
    full = count == len(guess)
    weights = target[count] if full else (target[count] - guess[count]).clamp(min=0)
    if not full:
        weights = {
            "from target": target[count],
            "absolute": (target[count] - guess[count]).abs(),
            "turned": (guess[count] - target[count]).clamp(min=0),
            "from guess": guess[count],
            "row after": target[count + 1],
        }.get(how, weights)
    elif how == "row before":
        weights = target[count - 1]
    number = uniforms[count] if how == "number of the place" else uniforms[-1]
    if how == "best of rest":
        return weights.argmax()[None]
    logits = weights if how == "as logits" else weights.log()
    return sample_token(logits, number)[None]


def replaced_from_target(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """You draw the replacement from target itself. What both models like was often kept already, so
    it would come too often. What is left over?
    """
    return _accept(target, guess, draft, uniforms, "from target")


def replaced_from_guess(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """You draw the replacement from the small model's distribution, which was just refused."""
    return _accept(target, guess, draft, uniforms, "from guess")


def difference_turned(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """You draw the replacement from what *guess* has more than target. It is the other way round:
    what target has more has come too rarely.
    """
    return _accept(target, guess, draft, uniforms, "turned")


def absolute_difference(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """You take the absolute difference, so that tokens of which guess has too much can come as a
    replacement. They have the weight 0.
    """
    return _accept(target, guess, draft, uniforms, "absolute")


def weights_as_logits(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """`sample_token` wants scores, and you give it probabilities. Which function makes scores of
    them, and -inf of 0?
    """
    return _accept(target, guess, draft, uniforms, "as logits")


def best_replacement(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """You take the most probable token at the end. It has to be drawn."""
    return _accept(target, guess, draft, uniforms, "best of rest")


def compared_with_target(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """You compare the number with target's probability alone. It is the ratio of both models that
    counts: where they agree, everything is kept.
    """
    return _accept(target, guess, draft, uniforms, "bare target")


def kept_if_more_probable(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """You refuse every token to which target gives less than guess. It is kept with the probability
    target / guess then, and the number decides.
    """
    return _accept(target, guess, draft, uniforms, "target above guess")


def ratio_upside_down(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """The ratio is upside down: what target likes *more* than guess is always kept."""
    return _accept(target, guess, draft, uniforms, "upside down")


def kept_above(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """You keep a token if the number is *above* the ratio. A larger ratio should mean that it is
    kept more often.
    """
    return _accept(target, guess, draft, uniforms, "above")


def fixed_limit(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """You compare the ratio with a fixed limit. A random number has to decide."""
    return _accept(target, guess, draft, uniforms, "half")


def best_kept(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """You keep a token if it is the best one of target. That is right for the greedy loop; here the
    distribution of target has to be kept.
    """
    return _accept(target, guess, draft, uniforms, "best")


def all_are_kept(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """You keep every drafted token: then the small model writes."""
    return _accept(target, guess, draft, uniforms, "all")


def one_number_for_all(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """All tokens are judged with the first number. Each has its own."""
    return _accept(target, guess, draft, uniforms, "one number")


def number_used_twice(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """The replacement is drawn with the number that has just refused a token, which is large for
    that reason. Use the last one.
    """
    return _accept(target, guess, draft, uniforms, "number of the place")


def later_ones_too(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """You keep drafted tokens after the first refused one. They were drafted as a continuation of
    it: with it they fall.
    """
    return _accept(target, guess, draft, uniforms, "later")


def row_after(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """The replacement is drawn from the row after its own. Row i of target is about drafted token
    i.
    """
    return _accept(target, guess, draft, uniforms, "row after")


def row_before(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """If all are kept you draw from the last drafted token's row. Target has one row more, for the
    token after the draft.
    """
    return _accept(target, guess, draft, uniforms, "row before")


def without_a_gift(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """If all are kept you add nothing. Target was asked about the token after the draft as well:
    draw it from the last row.
    """
    full = _accept(target, guess, draft, uniforms)
    return full[: len(draft)] if len(full) == len(draft) + 1 else full


def kept_ones_alone(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """You return the kept tokens alone. One more is drawn, whatever happens."""
    return _accept(target, guess, draft, uniforms)[:-1]


def new_one_alone(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """You return the new token alone, without the kept ones before it."""
    return _accept(target, guess, draft, uniforms)[-1:]


def zero_equals_zero(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """A token to which target gives the probability 0 is kept when the number is 0. The number has
    to be *less* than the ratio.
    """
    return _accept(target, guess, draft, uniforms, "equal counts")


def own_numbers(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """You draw with numbers of your own. They are given, as `uniforms`, so that results can be
    compared.
    """
    return _accept(target, guess, draft, torch.rand_like(uniforms))


def by_cumprod(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    p, q = (rows.gather(-1, draft[:, None])[:, 0] for rows in (target[:-1], guess))
    count = (uniforms[:-1] < p / q).long().cumprod(0).sum()
    none = torch.zeros_like(target[:1])
    rest = (target - torch.cat([guess, none]))[count].relu()
    mass = (rest / rest.sum()).cumsum(0)
    new = (mass <= uniforms[-1] * mass[-1]).sum()
    return torch.cat([draft[:count], new.view(1)])


def in_lists(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    numbers, p, q = uniforms.tolist(), target.tolist(), guess.tolist()
    written = []
    for place, token in enumerate(draft.tolist()):
        if numbers[place] >= p[place][token] / q[place][token]:
            break
        written.append(token)
    weights = p[len(written)]
    if len(written) < len(q):
        weights = [max(0.0, a - b) for a, b in zip(weights, q[len(written)], strict=True)]
    wanted, mass = numbers[-1] * sum(weights), 0.0
    token = -1
    while mass <= wanted:
        token += 1
        mass += weights[token]
    return torch.tensor([*written, token], device=target.device)


def refusals_first(target: Tensor, guess: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    places = torch.arange(len(draft), device=draft.device)
    ratio = target[places, draft].div(guess[places, draft]).clamp(max=1)
    refused = (uniforms[: len(draft)] >= ratio).nonzero().flatten()
    if refused.numel():
        first = int(refused[0])
        left = torch.maximum(target[first] - guess[first], torch.zeros_like(target[first]))
        return torch.hstack([draft[:first], sample_token(torch.log(left), uniforms[-1])])
    return torch.hstack([draft, sample_token(torch.log(target[-1]), uniforms[-1])])


EXERCISE = Exercise(
    solution=speculative_accept,
    chapter=CHAPTER,
    title="Keep or refuse a draft",
    points=4,
    minutes=13,
    difficulty=4,
    statement=(
        "A small model has drafted some tokens, and a large one, the target, has computed its "
        "distribution at each of these places, and at the one after. Keep as many of the drafted "
        "tokens as possible such that what is written is distributed as if the target had written "
        "it, and draw one token more."
    ),
    example=(
        "One token was drafted, token 0. The small model gave it 0.9, the target 0.5: it is kept "
        "if its number is below 0.5 / 0.9 = 0.56. With 0.5 it is kept, and one more token is drawn "
        "from the last row of target. With 0.6 it is refused. Target has more than the small model "
        "only of token 1, 0.5 against 0.1: the replacement is token 1, whatever the last number is."
    ),
    conventions=(
        "Token i of the draft is kept if uniforms[i] is less than the ratio of target's to the "
        "small model's probability. At the first that is not, the rest of the draft falls, too.",
        "The replacement is drawn from the positive part of the difference of the two rows, "
        "divided by its sum.",
        "Whatever happens, one token is drawn at the end, with the last number, as by "
        "`sample_token`: the sums run in the order of the vocabulary.",
        "Probabilities are given, not logits. Those of the drafted tokens are not 0 in `guess`.",
    ),
    hints=(
        "A loop over the draft, with a `break`, is fine.",
        "From which weights is the last token drawn if all are kept, and if not?",
        "`sample_token` wants scores. It does not need weights that sum to 1.",
    ),
    cases=CASES,
    mistakes=(
        replaced_from_target,
        replaced_from_guess,
        difference_turned,
        absolute_difference,
        weights_as_logits,
        best_replacement,
        compared_with_target,
        kept_if_more_probable,
        ratio_upside_down,
        kept_above,
        fixed_limit,
        best_kept,
        all_are_kept,
        one_number_for_all,
        number_used_twice,
        later_ones_too,
        row_after,
        row_before,
        without_a_gift,
        kept_ones_alone,
        new_one_alone,
        zero_equals_zero,
        own_numbers,
        on_the_cpu(speculative_accept),
        float64_narrowed(speculative_accept),
        changed_in_place(speculative_accept),
    ),
    alternatives=(by_cumprod, in_lists, refusals_first),
)
