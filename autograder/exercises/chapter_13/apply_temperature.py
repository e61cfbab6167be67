"""Exercise: the temperature of a distribution over tokens.

Out of scope: ties at temperature 0, temperatures below 0.
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_13 import CHAPTER
from autograder.exercises.chapter_13._draws import Sizes, filtered, hiding, scores
from autograder.inputs import sizes, uniform
from autograder.slips import always_float32, changed_in_place, float64_narrowed, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.sampling import apply_temperature

T = "temperature"


def _trial(rng: Generator, temperature: float, axes: str = "B V", of: Sizes | None = None) -> Trial:
    of = of or sizes(rng, "B L V")
    return filtered(scores(rng, axes, of), axes, of, (T, temperature))


def hot_and_cold(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, uniform(rng, 0.3, 0.8))
    yield _trial(rng, uniform(rng, 1.3, 3.0))


def one(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 1.0)
    yield _trial(rng, 1)


def zero(rng: Generator) -> Iterator[Trial]:
    of = {**sizes(rng, "B L V"), "V": 7}
    yield _trial(rng, 0.0, of=of)
    yield _trial(rng, 0, of=of)
    below = scores(rng, "B V", of) - 20
    yield filtered(below, "B V", of, (T, 0.0), ", all negative")


def near_zero(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 0.001)
    of = {**sizes(rng, "B V"), "V": 7}
    yield filtered(1e-6 * scores(rng, "B V", of), "B V", of, (T, 1e-6), ", numbers as small")


def ranks(rng: Generator) -> Iterator[Trial]:
    for axes in ("V", "B L V"):
        yield _trial(rng, uniform(rng, 0.3, 0.8), axes)
        yield _trial(rng, 0.0, axes)


def hidden(rng: Generator) -> Iterator[Trial]:
    of = {**sizes(rng, "B V"), "V": 6}
    for temperature in (uniform(rng, 1.3, 3.0), 0.0):
        logits = hiding(rng, scores(rng, "B V", of), 2)
        yield filtered(logits, "B V", of, (T, temperature), ", some are -inf")


def extremes(rng: Generator) -> Iterator[Trial]:
    for factor in (1e-3, 1e4):
        of = sizes(rng, "B V")
        for temperature in (uniform(rng, 0.3, 0.8), 0.0):
            logits = factor * scores(rng, "B V", of)
            yield filtered(logits, "B V", of, (T, temperature), f", numbers of order {factor:g}")


def single(rng: Generator) -> Iterator[Trial]:
    for of in ({"B": 4, "V": 4}, {"B": 1, "V": 5}, {"B": 3, "V": 1}):
        yield _trial(rng, 0.5, of=of)
        yield _trial(rng, 0.0, of=of)


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(rng, uniform(rng, 0.3, 0.8)), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    for temperature in (uniform(rng, 0.3, 0.8), 0.0):
        yield from in_dtypes(_trial(rng, temperature))


def all_digits(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B V")
    for temperature in (0.5, 0.0):
        logits = 1e-60 * (9 + scores(rng, "B V", of).double())
        yield filtered(logits, "B V", of, (T, temperature), ", float64 of order 1e-60")


def kept(rng: Generator) -> Iterator[Trial]:
    yield from hot_and_cold(rng)
    yield _trial(rng, 0.0)
    yield _trial(rng, 1.0)


def devices(rng: Generator) -> Iterator[Trial]:
    for temperature in (uniform(rng, 0.3, 0.8), 0.0):
        yield elsewhere(_trial(rng, temperature))


def calls(rng: Generator) -> Iterator[Trial]:
    first, second = _trial(rng, 0.5), _trial(rng, 0.0)
    of = sizes(rng, "B V")
    last = call(scores(rng, "B V", of), 2.0)
    both = (*first.request.calls, *second.request.calls, *last.calls)
    yield Trial(type(last)(both), "three calls, the second with temperature 0", of, "")


CASES = (
    Case("below 1 it sharpens, above 1 it flattens", hot_and_cold, values, weight=3),
    Case("at 1 nothing changes", one, values),
    Case("at 0 the best score alone is left", zero, values, weight=2),
    Case("a very small temperature is not 0", near_zero, values),
    Case("works for one row and for many axes", ranks, values),
    Case("what is hidden stays hidden", hidden, values),
    Case("small and large scores are no exception", extremes, values),
    Case("works where sizes are equal, or 1", single, values),
    Case("the gradient is divided, too", gradients, values),
    Case("the dtype is kept", dtypes, values),
    Case("float64 is used to its full precision", all_digits, values),
    Case("one call does not change the next", calls, values),
    Case("the logits themselves are not changed", kept, inputs_kept),
    Case("works on whatever device the logits are on", devices, values),
)


def multiplied(logits: Tensor, temperature: float) -> Tensor:
    """You multiply by the temperature, so a high one sharpens. That number would be a sharpness:
    temperature divides.
    """
    return logits * temperature if temperature else apply_temperature(logits, 0)


def zero_divides(logits: Tensor, temperature: float) -> Tensor:
    """A temperature of 0 is divided by as any other, and gives infinities and NaN. What should be
    left of the distribution then?
    """
    return logits / torch.as_tensor(temperature, dtype=logits.dtype, device=logits.device)


def zero_is_one(logits: Tensor, temperature: float) -> Tensor:
    """At temperature 0 you return the scores as they are, as if the temperature were 1. Then any
    token can still be drawn. Which alone should be possible?
    """
    return logits / temperature if temperature else logits.clone()


def zero_is_tiny(logits: Tensor, temperature: float) -> Tensor:
    """You put a small number in the place of temperature 0. The scores become very large, not -inf,
    and where two are close to each other both stay possible.
    """
    return logits / max(temperature, 1e-6)


def floored(logits: Tensor, temperature: float) -> Tensor:
    """You do not let the temperature fall below some limit. Only 0 is special: a temperature of
    0.001 divides as any other.
    """
    low = 0 < temperature < 0.01
    return apply_temperature(logits, 0.01 if low else temperature)


def near_zero_is_zero(logits: Tensor, temperature: float) -> Tensor:
    """You treat small temperatures as 0. Only 0 itself is special."""
    return apply_temperature(logits, 0 if temperature < 0.01 else temperature)


def almost_zero_is_zero(logits: Tensor, temperature: float) -> Tensor:
    """You treat tiny temperatures as 0. Only 0 itself is special: scores may be as close to each
    other as the temperature is small.
    """
    return apply_temperature(logits, 0 if temperature < 1e-4 else temperature)


def best_over_all_rows(logits: Tensor, temperature: float) -> Tensor:
    """At temperature 0 one entry is left in the whole tensor. Each row, along the last axis, has a
    best one of its own.
    """
    if temperature:
        return logits / temperature
    return logits.masked_fill(logits < logits.max(), -torch.inf)


def best_over_the_batch(logits: Tensor, temperature: float) -> Tensor:
    """At temperature 0 the best is looked for along the first axis. It is the last one that holds
    the tokens.
    """
    if temperature:
        return logits / temperature
    return logits.masked_fill(logits < logits.amax(0, keepdim=True), -torch.inf)


def one_hot(logits: Tensor, temperature: float) -> Tensor:
    """At temperature 0 you return ones and zeros: those are probabilities. As a score, 0 is not
    impossible, -inf is.
    """
    if temperature:
        return logits / temperature
    return (logits == logits.amax(-1, keepdim=True)).to(logits.dtype)


def best_becomes_zero(logits: Tensor, temperature: float) -> Tensor:
    """At temperature 0 the best score becomes 0. The distribution is right, but asked is that the
    score stays as it is.
    """
    if temperature:
        return logits / temperature
    best = logits.amax(-1, keepdim=True)
    return torch.zeros_like(logits).masked_fill(logits < best, -torch.inf)


def finite_fill(logits: Tensor, temperature: float) -> Tensor:
    """At temperature 0 the others get a large negative number. Only -inf gives them the probability
    0, whatever the best score is.
    """
    if temperature:
        return logits / temperature
    return logits.masked_fill(logits < logits.amax(-1, keepdim=True), -1e4)


def the_worst(logits: Tensor, temperature: float) -> Tensor:
    """At temperature 0 it is the lowest score that you keep."""
    if temperature:
        return logits / temperature
    return logits.masked_fill(logits > logits.amin(-1, keepdim=True), -torch.inf)


def token_of_zero(logits: Tensor, temperature: float) -> Tensor:
    """At temperature 0 you return which token is best. Asked are scores, as at any other
    temperature.
    """
    return logits / temperature if temperature else logits.argmax(-1)


def probabilities(logits: Tensor, temperature: float) -> Tensor:
    """You return probabilities. Asked are scores, so that the filters that follow can work on them;
    softmax comes last.
    """
    return apply_temperature(logits, temperature).softmax(-1)


def log_probabilities(logits: Tensor, temperature: float) -> Tensor:
    """You return log-probabilities. The distribution is right, but the scores are asked, divided
    and nothing else.
    """
    return apply_temperature(logits, temperature).log_softmax(-1)


def after_softmax(logits: Tensor, temperature: float) -> Tensor:
    """You divide probabilities by the temperature, after the softmax. That changes their sum and
    not their proportions: divide the scores.
    """
    return apply_temperature(logits.softmax(-1), temperature)


def around_the_mean(logits: Tensor, temperature: float) -> Tensor:
    """You take the mean away before you divide. The distribution is right, but the scores are
    asked, divided and nothing else.
    """
    return apply_temperature(logits - logits.mean(-1, keepdim=True), temperature)


def squared(logits: Tensor, temperature: float) -> Tensor:
    """You divide by the square of the temperature. Once is enough."""
    return apply_temperature(logits, temperature**2)


def rooted(logits: Tensor, temperature: float) -> Tensor:
    """You divide by the root of the temperature. It is no variance: divide by the number itself."""
    return apply_temperature(logits, temperature**0.5)


def only_below_one(logits: Tensor, temperature: float) -> Tensor:
    """A temperature above 1 does nothing in your code. It flattens."""
    return apply_temperature(logits, min(temperature, 1))


def cut_off(logits: Tensor, temperature: float) -> Tensor:
    """The numbers are right but carry no gradient: `detach`, `.data` or `no_grad` cuts them off
    from the logits.
    """
    return apply_temperature(logits.detach(), temperature)


def by_the_best_token(logits: Tensor, temperature: float) -> Tensor:
    if temperature > 0:
        return logits.mul(1 / temperature)
    best = logits.argmax(dim=-1, keepdim=True)
    alone = torch.full_like(logits, float("-inf"))
    return alone.scatter(-1, best, logits.gather(-1, best))


def by_where(logits: Tensor, temperature: float) -> Tensor:
    best = logits == logits.max(dim=-1, keepdim=True)[0]
    if temperature == 0:
        return torch.where(best, logits, -torch.inf)
    return torch.div(logits, temperature)


def in_place_on_a_copy(logits: Tensor, temperature: float) -> Tensor:
    out = logits.clone()
    if temperature != 0.0:
        out /= temperature
        return out
    out[out < out.topk(1).values] = -torch.inf
    return out


def row_by_row(logits: Tensor, temperature: float) -> Tensor:
    if temperature:
        return torch.stack([column / temperature for column in logits.unbind(-1)], dim=-1)
    rows = logits.reshape(-1, logits.shape[-1]).clone()
    for row in rows:
        best = int(row.argmax())
        row[:best], row[best + 1 :] = -torch.inf, -torch.inf
    return rows.view(logits.shape)


EXERCISE = Exercise(
    solution=apply_temperature,
    chapter=CHAPTER,
    title="Temperature",
    points=2,
    minutes=5,
    difficulty=1,
    statement=(
        "Divide the scores of the next token by a temperature. Below 1 the distribution becomes "
        "sharper, above 1 flatter. A temperature of 0 stands for the limit: only the best token of "
        "each row is still possible."
    ),
    example=(
        "The scores are 1, 3, 2. At temperature 0.5 they become 2, 6, 4: the best token had a "
        "probability of 0.67 and now has 0.87. At temperature 2 they become 0.5, 1.5, 1, which "
        "gives it 0.51. At temperature 0 they become -inf, 3, -inf."
    ),
    conventions=(
        "What comes back are scores, before any softmax, in the dtype of the logits.",
        "At temperature 0 the best score of a row stays as it is and the others become -inf. No "
        "two scores of a row are equal then.",
        "Only 0 itself is special: 0.000001 divides as any other number.",
        "A score of -inf stays -inf at any temperature.",
        "Other texts multiply by a sharpness; it is 1 / temperature.",
    ),
    hints=(
        "All temperatures but one need a single operation.",
        "At 0: which entries are below the maximum of their row?",
        "Keep the axis of the maximum, so that it can be compared with every entry of its row.",
    ),
    cases=CASES,
    mistakes=(
        multiplied,
        zero_divides,
        zero_is_one,
        zero_is_tiny,
        floored,
        near_zero_is_zero,
        almost_zero_is_zero,
        best_over_all_rows,
        best_over_the_batch,
        one_hot,
        best_becomes_zero,
        finite_fill,
        the_worst,
        token_of_zero,
        probabilities,
        log_probabilities,
        after_softmax,
        around_the_mean,
        squared,
        rooted,
        only_below_one,
        cut_off,
        on_the_cpu(apply_temperature),
        always_float32(apply_temperature),
        float64_narrowed(apply_temperature),
        changed_in_place(apply_temperature),
    ),
    alternatives=(by_the_best_token, by_where, in_place_on_a_copy, row_by_row),
)
