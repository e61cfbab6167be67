"""Exercise: find the outputs of a black box that hear from later tokens.

Out of scope: models that answer differently when asked twice (dropout, chapter 12).
"""

from collections.abc import Callable, Iterator
from itertools import combinations

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_03 import CHAPTER
from autograder.inputs import integer, normal, uniform
from autograder.lent import BlackBox
from autograder.slips import changed_in_place, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere
from autograder.wire import call
from solutions.masked import find_leak

Model = Callable[[Tensor], Tensor]
Pairs = list[tuple[int, int]]


def _far_from_zero(rng: Generator, axes: str, of: dict[str, int]) -> Tensor:
    """Draw numbers of both signs, none of them small."""
    drawn = normal(rng, axes, of)
    return drawn + 0.5 * torch.where(drawn < 0, -1.0, 1.0)


def _mix(rng: Generator, of: dict[str, int], leaks: Pairs) -> Tensor:
    """Make a causal mixture of tokens with leaks at the given places."""
    everything = _far_from_zero(rng, "L L", of)
    return everything * (_pairs_alone(of["L"], leaks) + torch.ones(of["L"], of["L"]).tril())


def _some_pairs(rng: Generator, n: int, count: int) -> Pairs:
    pairs = list(combinations(range(n), 2))
    return [pairs[p] for p in torch.randperm(len(pairs), generator=rng)[:count].tolist()]


def _trial(mix: Tensor, features: Tensor, x: Tensor, note: str = "") -> Trial:
    of = {"L": x.shape[0], "D": x.shape[1]}
    count = int((mix.triu(1) != 0).sum())
    words = f"x (L, D) = ({of['L']}, {of['D']}), leaks in the model: {count}{note}"
    return Trial(call(BlackBox(mix, features), x), words, of, "L L")


def _of_sizes(rng: Generator) -> dict[str, int]:
    return {"L": integer(rng, 6, 9), "D": integer(rng, 2, 5)}


def _drawn(rng: Generator, count: int) -> Trial:
    of = _of_sizes(rng)
    mix = _mix(rng, of, _some_pairs(rng, of["L"], count))
    return _trial(mix, _far_from_zero(rng, "D D", of), normal(rng, "L D", of))


def several(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 3)
    yield _drawn(rng, 6)


def none_at_all(rng: Generator) -> Iterator[Trial]:
    of = _of_sizes(rng)
    features = _far_from_zero(rng, "D D", of)
    yield _trial(_mix(rng, of, []), features, normal(rng, "L D", of))
    yield _trial(torch.eye(of["L"]), features, normal(rng, "L D", of))


def just_one(rng: Generator) -> Iterator[Trial]:
    of = _of_sizes(rng)
    for pair in ((0, of["L"] - 1), (0, 1), (2, 4)):
        features = _far_from_zero(rng, "D D", of)
        yield _trial(_mix(rng, of, [pair]), features, normal(rng, "L D", of))


def everywhere(rng: Generator) -> Iterator[Trial]:
    of = _of_sizes(rng)
    features, x = _far_from_zero(rng, "D D", of), normal(rng, "L D", of)
    yield _trial(_far_from_zero(rng, "L L", of), features, x)
    yield _trial(torch.eye(of["L"]).flip(0), features, x, ", x in reverse")


def zero_tokens(rng: Generator) -> Iterator[Trial]:
    of = _of_sizes(rng)
    mix = _mix(rng, of, _some_pairs(rng, of["L"], 8))
    yield _trial(mix, _far_from_zero(rng, "D D", of), torch.zeros(of["L"], of["D"]), ", x of zeros")


def odd_features(rng: Generator) -> Iterator[Trial]:
    of = {**_of_sizes(rng), "D": integer(rng, 3, 5)}
    mix = _mix(rng, of, _some_pairs(rng, of["L"], 5))
    drawn = _far_from_zero(rng, "D D", of)
    cancelling = drawn - drawn.mean(-1, keepdim=True)
    silent, quiet, unheard = drawn.clone(), drawn.clone(), drawn.clone()
    silent[:, 0] = quiet[:, -1] = unheard[0] = 0.0
    for features, note in (
        (cancelling, "the features of an output sum to 0"),
        (quiet, "the last feature of every output is 0"),
        (silent, "feature 0 of every output is 0"),
        (unheard, "feature 0 of x is not heard"),
    ):
        yield _trial(mix, features, normal(rng, "L D", of), f", {note}")


def differences(rng: Generator) -> Iterator[Trial]:
    """Draw models that hear only how the features of a token differ from each other.

    Everything is exact, and the tokens are so far from zero that tanh is 1: features that are all
    raised by the same number give the same answer, bit for bit.
    """
    for count in (4, 6):
        of = {"L": integer(rng, 6, 9), "D": integer(rng, 3, 5)}
        mix = _in_quarters(_mix(rng, of, _some_pairs(rng, of["L"], count)))
        features = _in_quarters(_far_from_zero(rng, "D D", of))
        features[-1] -= features.sum(0)
        x = (10 + _far_from_zero(rng, "L D", of).abs()).round()
        yield _trial(mix, features, x, ", only differences of features are heard")


def _in_quarters(numbers: Tensor) -> Tensor:
    return (4 * numbers).round() / 4


def weak(rng: Generator) -> Iterator[Trial]:
    """Draw leaks through which a feature that is raised by 1 raises another by 0.001 to 0.003.

    No change of a token is lost in the features, whatever its direction: they turn or mirror it.
    """
    for _ in range(2):
        of = {"L": integer(rng, 6, 9), "D": 2}
        mix = _mix(rng, of, []) + 0.002 * _pairs_alone(of["L"], _some_pairs(rng, of["L"], 4))
        features = uniform(rng, 0.5, 0.75) * torch.tensor([[1.0, 1.0], [1.0, -1.0]])
        yield _trial(mix, features, normal(rng, "L D", of, std=0.3), ", weak ones")


def _pairs_alone(n: int, pairs: Pairs) -> Tensor:
    table = torch.zeros(n, n)
    for i, j in pairs:
        table[i, j] = 1.0
    return table


def special_sizes(rng: Generator) -> Iterator[Trial]:
    for of in ({"L": integer(rng, 4, 9), "D": 1}, {"L": 4, "D": 4}, {"L": 1, "D": 3}):
        mix = _mix(rng, of, _some_pairs(rng, of["L"], 2))
        yield _trial(mix, _far_from_zero(rng, "D D", of), normal(rng, "L D", of))


def devices(rng: Generator) -> Iterator[Trial]:
    (trial, *_) = several(rng)
    yield trial
    yield elsewhere(trial)


CASES = (
    Case("leaks are found, each at its place", several, values, weight=3),
    Case("a causal model has none", none_at_all, values, weight=2),
    Case("a single leak is found, between any two tokens", just_one, values, weight=2),
    Case("a model that hears everything leaks everywhere", everywhere, values),
    Case("tokens that are zero can leak, too", zero_tokens, values),
    Case("a leak through any feature is found", odd_features, values, weight=2),
    Case("a leak of differences between features is found", differences, values, weight=2),
    Case("weak leaks count", weak, values),
    Case("works where sizes are equal, or 1", special_sizes, values),
    Case("x itself is not changed", several, inputs_kept),
    Case("works on whatever device x is on", devices, values),
)


def _moved(model: Model, x: Tensor) -> Tensor:
    """By how much does output i move when token j is moved?"""
    columns = [(model(_raised(x, j)) - model(x)).abs() for j in range(x.shape[0])]
    return torch.stack(columns, dim=1)  # (L, L, D)


def _raised(x: Tensor, j: int | slice) -> Tensor:
    """Raise the features of a token by 1, by the root of 2, and so on."""
    changed = x.clone()
    changed[j] += torch.arange(1, x.shape[1] + 1, device=x.device).sqrt()
    return changed


def past_too(model: Model, x: Tensor) -> Tensor:
    """You report every influence, that of earlier tokens too. Hearing the past is what a model is
    for: only later tokens leak.
    """
    return _moved(model, x).amax(-1) > 0


def own_token_too(model: Model, x: Tensor) -> Tensor:
    """You report that outputs hear their own token. They may: a leak comes from a later one."""
    return past_too(model, x).triu()


def only_the_past(model: Model, x: Tensor) -> Tensor:
    """You report what outputs hear from *earlier* tokens: the other triangle."""
    return past_too(model, x).tril(-1)


def transposed(model: Model, x: Tensor) -> Tensor:
    """Rows and columns are exchanged: the row is the output, the column is the token that was
    changed.
    """
    return find_leak(model, x).T


def sound(model: Model, x: Tensor) -> Tensor:
    """True stands where nothing leaks. It should stand where something does."""
    later = torch.ones(len(x), len(x), dtype=torch.bool, device=x.device).triu(1)
    return ~find_leak(model, x) & later


def last_token_alone(model: Model, x: Tensor) -> Tensor:
    """Only the last token is changed. Any token may leak into the outputs before it."""
    leaks = find_leak(model, x).clone()
    leaks[:, :-1] = False
    return leaks


def nothing_found(model: Model, x: Tensor) -> Tensor:
    """You find no leak anywhere. Is it a copy that you change, and is the model given the changed
    one? Is its answer compared with the one from before the change?
    """
    return torch.zeros(len(x), len(x), dtype=torch.bool, device=x.device)


def stacked_as_rows(model: Model, x: Tensor) -> Tensor:
    """Changing token j tells something about *column* j. You stack the results as rows (`dim=0`),
    so what stays above the diagonal is the past.
    """
    return past_too(model, x).T.triu(1)


def stacked_as_rows_and_all(model: Model, x: Tensor) -> Tensor:
    """Changing token j tells something about *column* j, and you stack the results as rows
    (`dim=0`). Besides, only what lies above the diagonal is a leak.
    """
    return past_too(model, x).T


def neighbours_alone(model: Model, x: Tensor) -> Tensor:
    """You only look whether an output hears the very next token. It may hear any later one."""
    return find_leak(model, x).tril(1)


def all_later_together(model: Model, x: Tensor) -> Tensor:
    """You change token j and all after it at once, so what any of them leaks is put down to token
    j. Change one token at a time.
    """
    before = model(x)
    columns = [(model(_raised(x, slice(j, None))) != before).any(-1) for j in range(len(x))]
    return torch.stack(columns, dim=1).triu(1)


def accumulated(model: Model, x: Tensor) -> Tensor:
    """Tokens that were changed stay changed: each try should begin with x as it was. `clone` makes
    a copy.
    """
    before, changed = model(x), x.clone()
    columns = []
    for j in range(len(x)):
        changed[j] += torch.rand_like(x[j]) + 1.0
        columns.append((model(changed) != before).any(-1))
    return torch.stack(columns, dim=1).triu(1)


def multiplied(model: Model, x: Tensor) -> Tensor:
    """A token that is zero does not change when you multiply it, or replace it by zeros. Add
    something instead.
    """
    changes = [(model(_doubled(x, j)) != model(x)).any(-1) for j in range(len(x))]
    return torch.stack(changes, dim=1).triu(1)


def _doubled(x: Tensor, j: int) -> Tensor:
    changed = x.clone()
    changed[j] *= 2.0
    return changed


def raised_alike(model: Model, x: Tensor) -> Tensor:
    """You raise all features of a token by the same number. A model that hears only how features
    differ from each other, as one that begins by taking away their mean, does not notice. Change
    each feature by another amount, as a random one.
    """
    before, columns = model(x), []
    for j in range(len(x)):
        changed = x.clone()
        changed[j] += 1.0
        columns.append((model(changed) != before).any(-1))
    return torch.stack(columns, dim=1).triu(1)


def without_abs(model: Model, x: Tensor) -> Tensor:
    """You ask whether outputs become larger. They may become smaller, too: compare with `!=`, or
    take the absolute value of the difference.
    """
    before = model(x)
    changes = [(model(_raised(x, j)) - before > 1e-6).any(-1) for j in range(len(x))]
    return torch.stack(changes, dim=1).triu(1)


def summed(model: Model, x: Tensor) -> Tensor:
    """You compare sums over the features, in which changes can cancel. Compare feature by
    feature.
    """
    before = model(x).sum(-1)
    changes = [(model(_raised(x, j)).sum(-1) - before).abs() > 1e-3 for j in range(len(x))]
    return torch.stack(changes, dim=1).triu(1)


def first_feature_compared(model: Model, x: Tensor) -> Tensor:
    """You compare the first feature of the outputs only. A leak may show in any of them."""
    return (_moved(model, x)[..., 0] > 0).triu(1)


def first_feature_changed(model: Model, x: Tensor) -> Tensor:
    """You change the first feature of a token only. The model may not listen to that one."""
    before, columns = model(x), []
    for j in range(len(x)):
        changed = x.clone()
        changed[j, 0] += 1.0
        columns.append((model(changed) != before).any(-1))
    return torch.stack(columns, dim=1).triu(1)


def every_feature(model: Model, x: Tensor) -> Tensor:
    """You ask that *all* features of an output move. One is enough for a leak."""
    return (_moved(model, x) > 0).all(-1).triu(1)


def coarse(model: Model, x: Tensor) -> Tensor:
    """Changes below some limit do not count for you, and the limit is too high: a weak leak is a
    leak. How little may an output move where a feature is raised by 1?
    """
    return (_moved(model, x).amax(-1) > 0.02).triu(1)


def coarse_and_alike(model: Model, x: Tensor) -> Tensor:
    """Your limit is too high: how little may an output move where a feature is raised by 1? And you
    raise all features alike, which a model that hears only their differences does not notice.
    """
    columns = []
    for j in range(len(x)):
        changed = x.clone()
        changed[j] += 1.0
        columns.append(((model(changed) - model(x)).abs() > 0.02).any(-1))
    return torch.stack(columns, dim=1).triu(1)


def with_nan(model: Model, x: Tensor) -> Tensor:
    """You put NaN or infinity into a token. 0 times NaN is NaN, so even outputs that give a token
    the weight 0 become NaN. Change it by a finite number.
    """
    columns = []
    for j in range(len(x)):
        changed = x.clone()
        changed[j] = float("nan")
        columns.append(model(changed).isnan().any(-1))
    return torch.stack(columns, dim=1).triu(1)


def yes_or_no(model: Model, x: Tensor) -> Tensor:
    """You say whether there is a leak at all. Asked is where: a table with a row for each output
    and a column for each token.
    """
    return find_leak(model, x).any()


def sizes_of_changes(model: Model, x: Tensor) -> Tensor:
    """You return how large the changes are. Asked are booleans: is there one?"""
    return _moved(model, x).amax(-1).triu(1)


def by_derivatives(model: Model, x: Tensor) -> Tensor:
    jacobian = torch.autograd.functional.jacobian
    full: Tensor = jacobian(model, x)  # type: ignore[no-untyped-call]  # L D L D
    return (full != 0).any(dim=3).any(dim=1).triu(diagonal=1)


def all_at_once(model: Model, x: Tensor) -> Tensor:
    """A batch of copies of x, in each of which another token is changed."""
    copies = x.expand(len(x), *x.shape)
    changes = torch.eye(len(x), dtype=x.dtype, device=x.device).unsqueeze(-1)
    uneven = torch.arange(1, x.shape[1] + 1, device=x.device) ** 2
    moved = model(copies + changes * uneven) - model(copies)  # token output D
    return torch.triu(moved.abs().amax(-1).T > 1e-4, 1)


def feature_by_feature(model: Model, x: Tensor) -> Tensor:
    leaks = torch.zeros(len(x), len(x), dtype=torch.bool, device=x.device)
    with torch.no_grad():
        base = model(x)
        for j in range(len(x)):
            for f in range(x.size(1)):
                raised = x.clone()
                raised[j, f] += 1
                leaks[:j, j] |= (model(raised) - base).abs()[:j].amax(-1) > 5e-4
    return leaks


def pair_by_pair(model: Model, x: Tensor) -> Tensor:
    leaks = torch.zeros(len(x), len(x), dtype=torch.bool, device=x.device)
    before = model(x)
    for j in range(1, len(x)):
        other = torch.randn_like(x[j : j + 1]) + 3.0
        changed = torch.cat([x[:j], other, x[j + 1 :]])
        after = model(changed)
        for i in range(j):
            leaks[i, j] = not torch.allclose(before[i], after[i])
    return leaks


def with_noise(model: Model, x: Tensor) -> Tensor:
    noise = torch.randn_like(x)
    later = torch.ones(len(x), len(x), device=x.device).triu(1) == 1
    rows = []
    for j in range(len(x)):
        where = torch.arange(len(x), device=x.device) == j
        after = model(torch.where(where[:, None], x + noise, x))
        rows.append((after - model(x)).norm(dim=-1) > 1e-5)
    return torch.stack(rows).mT & later


EXERCISE = Exercise(
    solution=find_leak,
    chapter=CHAPTER,
    title="A leak detector",
    points=4,
    minutes=12,
    difficulty=3,
    statement=(
        "Write `find_leak(model, x)`. You can call `model` as often as you like, and cannot look "
        "into it. Find out which outputs change when a later token of `x` is changed. You will use "
        "this on your own models from here on."
    ),
    example=(
        "The model that reverses three tokens: output 0 is token 2, which comes later, so there is "
        "a leak at [0, 2]. Output 1 is token 1, its own, and output 2 is token 0, an earlier one. "
        "Nothing else leaks."
    ),
    conventions=(
        "Row i is the output, column j the token. True stands at [i, j] where j is greater than i "
        "and a change of token j changes output i. All else is False.",
        "The model takes (L, D), or a batch (..., L, D), and answers in the same shape. Asked "
        "twice, it answers the same.",
        "A leak may pass through any feature, and may need features that *differ*: a model that "
        "first takes away their mean hears nothing where all are raised alike. So change each "
        "feature of a token by another amount, or one at a time.",
        "The models of the check are smooth and never flat. Raise any one feature that is heard by "
        "1: each leak then moves some feature of the output by 0.001 or more, and what does not "
        "leak by less than 0.0001, the rounding. With 0.01 as a limit you would miss leaks.",
        "x is not changed.",
    ),
    hints=(
        "Ask the model once as it is. Then change one token of a copy and ask again: which outputs "
        "are different?",
        "Which change cannot be overlooked? Think of a token that is zero, of features that cancel "
        "in a sum, of a feature to which the model does not listen, and of a model that listens "
        "only to differences of features. A random change can do it.",
        "One try gives one column of the table. `torch.stack(columns, dim=1)` puts them together, "
        "and `triu(1)` keeps what lies above the diagonal.",
    ),
    cases=CASES,
    mistakes=(
        past_too,
        own_token_too,
        only_the_past,
        transposed,
        sound,
        last_token_alone,
        nothing_found,
        stacked_as_rows,
        stacked_as_rows_and_all,
        neighbours_alone,
        all_later_together,
        accumulated,
        multiplied,
        raised_alike,
        without_abs,
        summed,
        first_feature_compared,
        first_feature_changed,
        every_feature,
        coarse,
        coarse_and_alike,
        with_nan,
        yes_or_no,
        sizes_of_changes,
        on_the_cpu(find_leak),
        changed_in_place(find_leak, 2),
    ),
    alternatives=(by_derivatives, all_at_once, feature_by_feature, pair_by_pair, with_noise),
)
