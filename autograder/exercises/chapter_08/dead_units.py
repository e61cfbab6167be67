"""Exercise: units that ReLU silences on every token.

Out of scope: batches without a token. The numbers are small integers, times powers of two, so that
sums are exact in any order and "exactly 0" means it. There are many units, so that a wrong answer
seldom agrees with another one by chance.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import linear

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_08 import CHAPTER
from autograder.inputs import described, sizes
from autograder.slips import changed_in_place, float64_narrowed, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere, in_dtypes
from autograder.wire import call
from solutions.activations import dead_units

Sizes = dict[str, int]


def _integers(rng: Generator, low: int, high: int, axes: str, of: Sizes) -> Tensor:
    shape = [of[letter] for letter in axes.split()]
    return torch.randint(low, high + 1, shape, generator=rng).float()


def _sizes(rng: Generator, tokens: str) -> Sizes:
    """Draw sizes; there are more units than anything else."""
    of = sizes(rng, f"{tokens} D F".strip())
    return of | {"F": of["F"] + 10}


def _axes(of: Sizes) -> str:
    return " ".join(letter for letter in of if letter != "F")


def _layer(rng: Generator, of: Sizes) -> tuple[Tensor, Tensor, Tensor]:
    """Draw x and w_in, and give the inputs to ReLU without a bias, one row for each token."""
    x, w_in = _integers(rng, -3, 3, _axes(of), of), _integers(rng, -2, 2, "F D", of)
    return x, w_in, (x @ w_in.T).reshape(-1, of["F"])


def _called(x: Tensor, w_in: Tensor, b_in: Tensor, of: Sizes, note: str) -> Trial:
    words = f"{described('x', _axes(of), of)}, {described('w_in', 'F D', of)}, {note}"
    return Trial(call(x, w_in, b_in), words, of, "F")


def _trial(rng: Generator, of: Sizes, tops: Tensor) -> Trial:
    """Choose the biases so that each unit's largest input to ReLU is as given."""
    x, w_in, inputs = _layer(rng, of)
    return _called(x, w_in, tops - inputs.amax(0), of, _note(tops))


def _note(tops: Tensor) -> str:
    return f"largest inputs to ReLU [{', '.join(f'{top:g}' for top in tops.tolist())}]"


def _mixed(rng: Generator, of: Sizes, low: int, high: int) -> Tensor:
    """Draw largest inputs of both kinds: the first unit is dead, the last is not."""
    tops = _integers(rng, low, high, "F", of)
    tops[0], tops[-1] = low, high
    return tops


def _drawn(rng: Generator, tokens: str = "B L", low: int = -2, high: int = 2) -> Trial:
    of = _sizes(rng, tokens)
    return _trial(rng, of, _mixed(rng, of, low, high))


def _scaled(rng: Generator, scales: tuple[float, ...], dtype: torch.dtype) -> Trial:
    """Draw a layer whose units work at different scales: its inputs to ReLU are exact all the same.

    Every scale has a unit that is dead and one that is not.
    """
    of = _sizes(rng, "L")
    tops = 1.0 - 2 * (torch.arange(of["F"]) % 2)
    scale = torch.tensor(scales, dtype=dtype).repeat_interleave(2).repeat(of["F"])[: of["F"]]
    x, w_in, inputs = _layer(rng, of)
    w_in, b_in = scale[:, None] * w_in, scale * (tops - inputs.amax(0))
    return _called(x.to(dtype), w_in, b_in, of, _note(scale * tops))


def both_kinds(rng: Generator) -> Iterator[Trial]:
    for _ in range(2):
        of = _sizes(rng, "L")
        tops = 4 * _mixed(rng, of, 0, 1) - 2
        yield _trial(rng, of, tops)


def just_above_zero(rng: Generator) -> Iterator[Trial]:
    yield _scaled(rng, (1.0, 2.0**-10, 2.0**-30), torch.float32)
    yield _scaled(rng, (1.0, 2.0**-30, 2.0**-200), torch.float64)


def opposite_tokens(rng: Generator) -> Iterator[Trial]:
    """Draw each token with its opposite, and units with weights of 0: only their biases count."""
    of = _sizes(rng, "L")
    x, w_in, _ = _layer(rng, of)
    x, of = torch.cat((x, -x)), of | {"L": 2 * of["L"]}
    w_in[::2] = 0
    tops = _integers(rng, 0, 1, "F", of)
    tops[0], tops[2] = 0, 1
    b_in = tops - (x @ w_in.T).amax(0)
    yield _called(x, w_in, b_in, of, f"{_note(tops)}, every other row of w_in is 0")
    yield _called(0 * x, w_in, tops, of, f"{_note(tops)}, all of x is 0")


def a_single_token(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, "L")
    yield _trial(rng, of, torch.ones(of["F"]))
    yield _trial(rng, of, 3 * _mixed(rng, of, 0, 1) - 2)


def a_silent_token(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, "L")
    x, w_in, inputs = _layer(rng, of)
    yield _called(x, w_in, -1 - inputs.amin(0), of, "smallest inputs to ReLU -1")


def exactly_zero(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, "L")
    yield _trial(rng, of, _mixed(rng, of, 0, 1))


def batches(rng: Generator) -> Iterator[Trial]:
    for tokens in ("B L", "", "X B L"):
        yield _drawn(rng, tokens)
    trial = _drawn(rng, "B L")
    x, w_in, b_in = trial.request.calls[0].args
    turned = x.transpose(0, 1).contiguous().transpose(0, 1)  # the same numbers, in another order
    words = f"{trial.inputs}, x not contiguous"
    yield Trial(call(turned, w_in.T.contiguous().T, b_in), words, trial.sizes, "F")


def all_or_none(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, "L")
    for top in (-1.0, 1.0):
        yield _trial(rng, of, torch.full((of["F"],), top))


def special_sizes(rng: Generator) -> Iterator[Trial]:
    for single in "LDF":
        of = _sizes(rng, "L") | {single: 1}
        yield _trial(rng, of, _mixed(rng, of, -1, 1))
    of = dict.fromkeys("LDF", 12)
    yield _trial(rng, of, _mixed(rng, of, -1, 1))


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng))


def kept(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


CASES = (
    Case("dead units are found, and no others", both_kinds, values, weight=3),
    Case("one token is enough to keep a unit alive", a_single_token, values, weight=2),
    Case("an input just above 0 is enough", just_above_zero, values),
    Case("pulls that cancel each other do not make a unit dead", opposite_tokens, values),
    Case("a token that leaves it silent does not kill a unit", a_silent_token, values),
    Case("a unit that reaches exactly 0 is dead", exactly_zero, values),
    Case("works with no token axis and with several", batches, values, weight=2),
    Case("all may be dead, or none", all_or_none, values),
    Case("works where sizes are equal, or 1", special_sizes, values),
    Case("works in every dtype", dtypes, values),
    Case("nothing that was given is changed", kept, inputs_kept),
    Case("works on whatever device the tensors are on", devices, values),
)


def _inputs(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    return linear(x, w_in, b_in).reshape(-1, len(b_in))


def zero_alive(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """A unit whose largest input is exactly 0 is called alive. ReLU gives 0 there, and torch's
    gradient at 0 is 0, too: nothing reaches the unit.
    """
    return (_inputs(x, w_in, b_in) < 0).all(0)


def sometimes_silent(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """These are the units that *some* token leaves silent. That is their work: a unit is dead only
    if every token does.
    """
    return (_inputs(x, w_in, b_in) <= 0).any(0)


def on_average(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """These are the units whose mean input, or whose sum of inputs, is 0 or less. One token above 0
    keeps a unit alive, whatever the others do.
    """
    return _inputs(x, w_in, b_in).mean(0) <= 0


def within_a_margin(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """Inputs a little above 0 count as silent: by a margin, a tolerance, or rounding. ReLU lets
    them through, so the unit is alive.
    """
    return (_inputs(x, w_in, b_in) <= 0.01).all(0)


def tiny_as_zero(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """Inputs of 1e-9 count as 0: by a small tolerance, or a dtype that is too coarse for them. ReLU
    lets them through, so the unit is alive.
    """
    return (_inputs(x, w_in, b_in) <= 1e-7).all(0)


def by_weight_gradient(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """A unit is called dead because its weights get no gradient. That is not the same: the pulls of
    several tokens can cancel each other, and a token of zeros pulls at the bias alone.
    """
    fires = (_inputs(x, w_in, b_in) > 0).to(x.dtype)
    return (fires.T @ x.reshape(-1, x.shape[-1]) == 0).all(1)


def alive(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """True and False are exchanged: True should mark the dead units."""
    return ~dead_units(x, w_in, b_in)


def first_axis_alone(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """Only the first axis is reduced: with a batch you get a table for each position. All axes but
    the last hold tokens.
    """
    return (linear(x, w_in, b_in) <= 0).all(0)


def last_axis(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """You ask for each token whether all units are silent. Asked is for each unit whether all
    tokens leave it silent.
    """
    return (linear(x, w_in, b_in) <= 0).all(-1)


def bias_forgotten(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """These are the units that would be dead if all biases were 0. Add them before you compare."""
    return dead_units(x, w_in, torch.zeros_like(b_in))


def bias_subtracted(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """These are the units that would be dead if the biases were subtracted, like thresholds. They
    are added, as in nn.Linear.
    """
    return dead_units(x, w_in, -b_in)


def bias_alone(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """These are the units whose bias is 0 or less. Such a unit still fires for tokens that match
    it.
    """
    return b_in <= 0


def not_transposed(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """w_in has one row for each unit, (F, D), as nn.Linear keeps it. What has to be done before the
    rows of x can be multiplied by it?
    """
    return dead_units(x @ w_in, torch.eye(len(b_in)), b_in)


def counted(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """You return how many units are dead. Asked is which."""
    return dead_units(x, w_in, b_in).sum()


def listed(x: Tensor, w_in: Tensor, b_in: Tensor) -> Any:
    """You return the numbers of the dead units. Asked is True or False for every unit."""
    return dead_units(x, w_in, b_in).nonzero().flatten()


def as_numbers(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """The answer is made of numbers, 0 and 1. It should be of dtype bool: what does a comparison
    give?
    """
    return dead_units(x, w_in, b_in).to(x.dtype)


def rarely_alive(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """You return for each unit the share of tokens that leave it silent. Dead means all of them."""
    return (_inputs(x, w_in, b_in) <= 0).float().mean(0)


def by_maximum(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    highest = torch.einsum("...d,fd->...f", x, w_in).flatten(0, -2) if x.ndim > 1 else None
    highest = (w_in @ x)[None] if highest is None else highest
    return highest.amax(dim=0).add(b_in).le(0)


def by_activation(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    active = torch.relu(linear(x, w_in, b_in))
    while active.ndim > 1:
        active = active.sum(dim=0)
    return active == 0


def by_gradient(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    """A unit is dead where its bias gets no gradient."""
    bias = b_in.detach().clone().requires_grad_()
    (slope,) = torch.autograd.grad(torch.relu(linear(x, w_in, bias)).sum(), bias)
    return slope == 0


def token_by_token(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    alive = torch.zeros(len(b_in), dtype=torch.bool, device=x.device)
    for token in x.reshape(-1, x.shape[-1]):
        alive |= (w_in @ token + b_in) > 0
    return ~alive


def unit_by_unit(x: Tensor, w_in: Tensor, b_in: Tensor) -> Tensor:
    rows = [~((x * w + b_in.new_zeros(())).sum(-1) + b > 0).any() for w, b in zip(w_in, b_in)]  # noqa: B905
    return torch.stack(rows)


EXERCISE = Exercise(
    solution=dead_units,
    chapter=CHAPTER,
    title="Dead units",
    points=3,
    minutes=8,
    difficulty=2,
    statement=(
        "Which hidden units of a ReLU layer does a batch of tokens leave silent altogether? Such a "
        "unit learns from none of these tokens. You are given the tokens, and the weights and "
        "biases of the expansion; the answer says for each unit whether it is dead."
    ),
    example=(
        "Two tokens of width 1, the numbers 1 and 2, and three units. Unit 0 has weight 1 and gets "
        "1 and 2: alive. Unit 1 has weight -1 and gets -1 and -2: dead. Unit 2 has weight 1 and "
        "bias -2 and gets -1 and 0. ReLU gives 0 for both: dead."
    ),
    conventions=(
        "A unit is dead if its input to ReLU is 0 or less for every token, in all axes of x but "
        "the last. Exactly 0 counts as silent, since ReLU's gradient there is 0 in torch. The "
        "smallest number above 0 that the dtype of x can hold does not.",
        "That says more than a weight gradient of 0: the pulls of two tokens can cancel each "
        "other, and the unit is not dead.",
        "w_in has the layout of nn.Linear, one row for each unit: (F, D).",
        "The result is of dtype bool and shape (F,), on the device of x; True is dead.",
    ),
    hints=(
        "First the inputs to ReLU, one for each token and unit: (..., F).",
        "How do you bring all tokens to one axis, whether x has none, one or three before D?",
        "Then one comparison, and one question to a whole axis: do all ...?",
    ),
    cases=CASES,
    mistakes=(
        zero_alive,
        sometimes_silent,
        on_average,
        within_a_margin,
        tiny_as_zero,
        by_weight_gradient,
        alive,
        first_axis_alone,
        last_axis,
        bias_forgotten,
        bias_subtracted,
        bias_alone,
        not_transposed,
        counted,
        listed,
        as_numbers,
        rarely_alive,
        float64_narrowed(dead_units),
        on_the_cpu(dead_units),
        changed_in_place(dead_units),
    ),
    alternatives=(by_maximum, by_activation, by_gradient, token_by_token, unit_by_unit),
)
