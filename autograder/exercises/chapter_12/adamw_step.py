"""Exercise: one step of AdamW.

Both orders of step and decay get full marks, and the bias correction may be folded into the
learning rate: the inputs are such that these differ by less than the tolerance, and the decay is
looked at by itself where gradients are 0. Out of scope: AMSGrad, half precision.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_12 import CHAPTER
from autograder.inputs import described, integer, normal, sizes, uniform
from autograder.slips import (
    always_float32,
    changed_in_place,
    float64_narrowed,
    on_the_cpu,
)
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere, in_dtypes
from autograder.wire import Request, call
from solutions.optimiser import adamw_step

State = tuple[Tensor, Tensor, Tensor]
RETURNS = "parameter, mean, square"


def _trial(
    rng: Generator,
    step: int | None = None,
    *,
    axes: str = "D F",
    scale: float = 1.0,
    lr: float | None = None,
    decay: float | None = 0.0,
    **rest: object,
) -> Trial:
    """Draw everything; gradients and what is kept of them are `scale` times as large.

    None is near 0, where it would matter in which way eps is added.

    decay  if None, it is not given
    """
    of = sizes(rng, "D F B")
    parameter, gradient, mean = (normal(rng, axes, of) for _ in range(3))
    gradient = gradient + 0.3 * gradient.sign()
    square = normal(rng, axes, of).square() + 0.1
    step = integer(rng, 5, 30) if step is None else step
    if step == 1:
        mean, square = torch.zeros_like(mean), torch.zeros_like(square)
    lr = uniform(rng, 0.02, 0.2) if lr is None else lr
    rest = rest if decay is None else {**rest, "decay": decay}
    words = f"{described('parameter', axes, of)}, step = {step}, lr = {lr}"
    words += f", gradients of size {scale:g}" if scale != 1 else ""
    words += "".join(f", {name} = {one}" for name, one in rest.items())
    arguments = (parameter, scale * gradient, scale * mean, scale**2 * square, step, lr)
    return Trial(call(*arguments, **rest), words, of, RETURNS)


def _still(trial: Trial, rows: Tensor | None = None) -> Trial:
    """Give the trial with gradients that were always 0: of some rows, or of all."""
    (one,) = trial.request.calls
    parameter, *others = one.args[:4]
    where = torch.arange(len(parameter)) if rows is None else rows
    none = (other.index_fill(0, where, 0.0) for other in others)
    request = call(parameter, *none, *one.args[4:], **one.kwargs)
    words = "no gradient ever" if rows is None else "some gradients always 0"
    return replace(trial, request=request, inputs=f"{trial.inputs}, {words}")


def first_step(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 1)
    yield _trial(rng, 1, lr=1.0)


def later_steps(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng)
    yield _trial(rng, integer(rng, 2, 4))


def decay_alone(rng: Generator) -> Iterator[Trial]:
    for step in (1, 7):
        yield _still(_trial(rng, step, decay=uniform(rng, 1.0, 3.0)))
    yield _still(_trial(rng, 3, lr=1.0, decay=None))


def decay_and_gradient(rng: Generator) -> Iterator[Trial]:
    """With a small rate the order of the two hardly shows, and each of them does."""
    for _ in range(2):
        yield _trial(rng, integer(rng, 15, 30), lr=0.003, decay=uniform(rng, 3.0, 4.0))


def other_betas(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 3, betas=(uniform(rng, 0.3, 0.6), uniform(rng, 0.7, 0.9)))
    yield _trial(rng, 2, betas=(0.0, 0.999))


def other_sizes(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 300, scale=1e-3)
    yield _trial(rng, scale=1e3)


def tiny_gradients(rng: Generator) -> Iterator[Trial]:
    """At a late step it does not matter whether the correction is part of the rate."""
    yield _trial(rng, 500, scale=1e-4, lr=1.0, eps=1e-4)
    yield _trial(rng, 400, scale=1e-7, lr=1.0)


def no_gradient(rng: Generator) -> Iterator[Trial]:
    for step in (1, 7):
        yield _still(_trial(rng, step), torch.tensor([0]))


def other_ranks(rng: Generator) -> Iterator[Trial]:
    for axes in ("", "D", "B D F"):
        yield _trial(rng, axes=axes)


def precision(rng: Generator) -> Iterator[Trial]:
    trials = (_trial(rng, 3), _still(_trial(rng, 3, decay=uniform(rng, 0.5, 2.0))))
    for one in trials:
        yield from in_dtypes(one, (torch.float64,))
    (trial,) = in_dtypes(_trial(rng, lr=1.0), (torch.float64,))
    parameter, gradient, mean, square, *rest = trial.request.calls[0].args
    tiny = (1e-25 * gradient, 1e-25 * mean, 1e-50 * square)
    request = call(parameter, *tiny, *rest, decay=0.0, eps=1e-34)
    yield replace(trial, request=request, inputs=f"{trial.inputs}, gradients of 1e-25, eps = 1e-34")


def not_contiguous(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng)
    (one,) = trial.request.calls
    args = tuple(a.T.contiguous().T if isinstance(a, Tensor) else a for a in one.args)
    words = f"{trial.inputs}, not contiguous"
    yield replace(trial, request=call(*args, **one.kwargs), inputs=words)


def several_calls(rng: Generator) -> Iterator[Trial]:
    one, other = _trial(rng, 4), _trial(rng, 4, axes="F D B")
    calls = (*one.request.calls, *other.request.calls, *one.request.calls)
    yield replace(one, request=Request(calls), inputs=f"{one.inputs}, then another, then the first")


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng))


ORDERS = 4e-4  # decay before the step or after it: they differ by lr * decay of the step

CASES = (
    Case("the first step is corrected for means of 0", first_step, values, weight=2),
    Case("later steps use what is kept", later_steps, values, weight=2),
    Case("decay shrinks the weights, whatever the gradient", decay_alone, values, weight=2),
    Case("decay and step come together", decay_and_gradient, values, tolerance=ORDERS),
    Case("both betas are used, each for its own mean", other_betas, values),
    Case("small and large gradients make equal steps", other_sizes, values),
    Case("eps is added to the root", tiny_gradients, values),
    Case("a weight without a gradient stays where it is", no_gradient, values),
    Case("works for a single number and for any axes", other_ranks, values),
    Case("float64 keeps its digits", precision, values),
    Case("works for tensors that are not contiguous", not_contiguous, values),
    Case("the second call does not depend on the first", several_calls, values),
    Case("nothing that was given is changed", decay_and_gradient, inputs_kept, tolerance=ORDERS),
    Case("works on whatever device the tensors are on", devices, values),
)


class _Steps:
    """The parts of a step, of which a mistake changes one."""

    def __call__(  # noqa: PLR0917 - the symbols of its formula
        self,
        parameter: Tensor,
        gradient: Tensor,
        mean: Tensor,
        square: Tensor,
        step: int,
        lr: float,
        betas: tuple[float, float] = (0.9, 0.95),
        eps: float = 1e-8,
        decay: float = 0.1,
    ) -> State:
        gradient = self.seen(gradient, parameter, decay)
        b, c = betas
        mean = self.mean(mean, gradient, b)
        square = self.square(square, gradient, c)
        direction, wide = self.corrected(mean, square, (1 - b**step, 1 - c**step), betas)
        moved = self.shrunk(parameter, lr, decay) - lr * self.ratio(direction, wide, eps)
        return moved, mean, square

    def seen(self, gradient: Tensor, parameter: Tensor, decay: float) -> Tensor:
        return gradient

    def mean(self, mean: Tensor, gradient: Tensor, b: float) -> Tensor:
        return b * mean + (1 - b) * gradient

    def square(self, square: Tensor, gradient: Tensor, c: float) -> Tensor:
        return c * square + (1 - c) * gradient**2

    def corrected(
        self, mean: Tensor, square: Tensor, sums: tuple[float, float], betas: tuple[float, float]
    ) -> tuple[Tensor, Tensor]:
        return mean / sums[0], square / sums[1]

    def shrunk(self, parameter: Tensor, lr: float, decay: float) -> Tensor:
        return parameter * (1 - lr * decay)

    def ratio(self, direction: Tensor, wide: Tensor, eps: float) -> Tensor:
        return direction / (wide.sqrt() + eps)


def _mistake(name: str, hint: str, **parts: Callable[..., object]) -> Callable[..., State]:
    """Make the step with other parts, and a hint."""
    steps = type(name, (_Steps,), parts)()

    def answer(*args: object, **kwargs: object) -> State:
        made: State = steps(*args, **kwargs)
        return made

    answer.__name__, answer.__doc__ = name, hint
    return answer


MISTAKES = (
    _mistake(
        "decay_in_the_gradient",
        "The decay is added to the gradient: L2, and Adam divides it by the root of the squares, "
        "too. AdamW shrinks the weights directly, whatever the gradients are.",
        seen=lambda self, gradient, parameter, decay: gradient + decay * parameter,
        shrunk=lambda self, parameter, lr, decay: parameter,
    ),
    _mistake(
        "no_decay",
        "The weights do not decay.",
        shrunk=lambda self, parameter, lr, decay: parameter,
    ),
    _mistake(
        "decay_without_lr",
        "The weights shrink by the decay itself. It is multiplied by the learning rate: where "
        "nothing is learned nothing decays.",
        shrunk=lambda self, parameter, lr, decay: parameter * (1 - decay),
    ),
    _mistake(
        "growing",
        "The decay has the wrong sign: weights grow.",
        shrunk=lambda self, parameter, lr, decay: parameter * (1 + lr * decay),
    ),
    _mistake(
        "decay_of_signs",
        "The weights move towards 0 by a fixed amount, as with an L1 penalty. They shrink by a "
        "factor.",
        shrunk=lambda self, parameter, lr, decay: parameter - lr * decay * parameter.sign(),
    ),
    _mistake(
        "not_corrected",
        "The means are not corrected. They began at 0, so that the first ones are far too small.",
        corrected=lambda self, mean, square, sums, betas: (mean, square),
    ),
    _mistake(
        "mean_not_corrected",
        "Only the mean of the squares is corrected. The other mean began at 0 as well.",
        corrected=lambda self, mean, square, sums, betas: (mean, square / sums[1]),
    ),
    _mistake(
        "square_not_corrected",
        "Only the mean of the gradients is corrected. That of the squares began at 0 as well.",
        corrected=lambda self, mean, square, sums, betas: (mean / sums[0], square),
    ),
    _mistake(
        "corrected_as_at_step_one",
        "The correction is that of the first step at each step: the power of beta is missing.",
        corrected=lambda self, mean, square, sums, betas: (
            mean / (1 - betas[0]),
            square / (1 - betas[1]),
        ),
    ),
    _mistake(
        "multiplied_by_the_correction",
        "You multiply by 1 - beta^step. What is too small by this factor is divided by it.",
        corrected=lambda self, mean, square, sums, betas: (mean * sums[0], square * sums[1]),
    ),
    _mistake(
        "eps_in_the_root",
        "eps is added to the square, inside of the root. It is added to the root.",
        ratio=lambda self, direction, wide, eps: direction / (wide + eps).sqrt(),
    ),
    _mistake(
        "no_eps",
        "eps is not used: where no gradient ever came you divide 0 by 0.",
        ratio=lambda self, direction, wide, eps: direction / wide.sqrt(),
    ),
    _mistake(
        "no_root",
        "The root is missing: the mean of the squares is divided by as it is.",
        ratio=lambda self, direction, wide, eps: direction / (wide + eps),
    ),
    _mistake(
        "no_division",
        "The squares are not used: this is momentum. Each weight's step is divided by the root of "
        "its own mean square.",
        ratio=lambda self, direction, wide, eps: direction,
    ),
    _mistake(
        "signs",
        "Each weight moves by its sign alone. That is what AdamW does at the first step only.",
        ratio=lambda self, direction, wide, eps: direction.sign(),
    ),
    _mistake(
        "one_size_for_all",
        "All weights are divided by the same number, a mean over the tensor. Each has its own.",
        ratio=lambda self, direction, wide, eps: direction / (wide.mean().sqrt() + eps),
    ),
    _mistake(
        "uphill",
        "The step goes up the gradient. A loss falls against it.",
        ratio=lambda self, direction, wide, eps: -direction / (wide.sqrt() + eps),
    ),
    _mistake(
        "square_of_the_mean",
        "You square the running mean. Asked is a running mean of the squares.",
        square=lambda self, square, gradient, c: c * square + (1 - c) * (gradient.mean()) ** 2,
    ),
    _mistake(
        "squares_not_squared",
        "The running mean of the squares is one of sizes: the gradient is not squared.",
        square=lambda self, square, gradient, c: c * square + (1 - c) * gradient.abs(),
    ),
    _mistake(
        "shares_swapped",
        "beta is the share of the new gradient, 1 - beta of the old mean. It is the other way "
        "round: means change slowly.",
        mean=lambda self, mean, gradient, b: (1 - b) * mean + b * gradient,
        square=lambda self, square, gradient, c: (1 - c) * square + c * gradient**2,
    ),
    _mistake(
        "gradient_in_full",
        "The new gradient is added in full, as in momentum. In a running mean its share is "
        "1 - beta.",
        mean=lambda self, mean, gradient, b: b * mean + gradient,
        square=lambda self, square, gradient, c: c * square + gradient**2,
    ),
)  # fmt: skip


def betas_swapped(  # noqa: PLR0917
    parameter: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, lr: float,
    betas: tuple[float, float] = (0.9, 0.95), eps: float = 1e-8, decay: float = 0.1,
) -> State:  # fmt: skip
    """The betas have changed places: the first is for the gradients, the second for their
    squares.
    """
    return adamw_step(parameter, gradient, mean, square, step, lr, betas[::-1], eps, decay)


def torch_defaults(  # noqa: PLR0917
    parameter: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, lr: float,
    betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, decay: float = 0.01,
) -> State:  # fmt: skip
    """Where betas and decay are not given, you take torch's 0.999 and 0.01. Here they are 0.95 and
    0.1.
    """
    return adamw_step(parameter, gradient, mean, square, step, lr, betas, eps, decay)


def counted_from_zero(  # noqa: PLR0917
    parameter: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, lr: float,
    betas: tuple[float, float] = (0.9, 0.95), eps: float = 1e-8, decay: float = 0.1,
) -> State:  # fmt: skip
    """You add 1 to the step. It is counted from 1 already."""
    return adamw_step(parameter, gradient, mean, square, step + 1, lr, betas, eps, decay)


def corrected_means_kept(  # noqa: PLR0917
    parameter: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, lr: float,
    betas: tuple[float, float] = (0.9, 0.95), eps: float = 1e-8, decay: float = 0.1,
) -> State:  # fmt: skip
    """You return the corrected means. The next step needs them as they were, or corrects them
    again.
    """
    new, mean, square = adamw_step(parameter, gradient, mean, square, step, lr, betas, eps, decay)
    return new, mean / (1 - betas[0] ** step), square / (1 - betas[1] ** step)


def old_means_used(  # noqa: PLR0917
    parameter: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, lr: float,
    betas: tuple[float, float] = (0.9, 0.95), eps: float = 1e-8, decay: float = 0.1,
) -> State:  # fmt: skip
    """The step uses the means from before this gradient. Renew them first."""
    _, newer, wider = adamw_step(parameter, gradient, mean, square, step, lr, betas, eps, decay)
    size = (square / (1 - betas[1] ** step)).sqrt() + eps
    move = lr * mean / (1 - betas[0] ** step) / size
    return parameter * (1 - lr * decay) - move, newer, wider


def old_means_returned(  # noqa: PLR0917
    parameter: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, lr: float,
    betas: tuple[float, float] = (0.9, 0.95), eps: float = 1e-8, decay: float = 0.1,
) -> State:  # fmt: skip
    """The means come back as they were. The next step needs the new ones."""
    new, _, _ = adamw_step(parameter, gradient, mean, square, step, lr, betas, eps, decay)
    return new, mean.clone(), square.clone()


def only_the_parameter(  # noqa: PLR0917
    parameter: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, lr: float,
    betas: tuple[float, float] = (0.9, 0.95), eps: float = 1e-8, decay: float = 0.1,
) -> Tensor:  # fmt: skip
    """Only the parameter comes back. The next step needs both means, too."""
    return adamw_step(parameter, gradient, mean, square, step, lr, betas, eps, decay)[0]


def in_place(  # noqa: PLR0917
    parameter: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, lr: float,
    betas: tuple[float, float] = (0.9, 0.95), eps: float = 1e-8, decay: float = 0.1,
) -> State:  # fmt: skip
    """The numbers are right, and the tensors that were given hold them: torch's optimisers work
    like that. Here nothing that is given is changed.
    """
    new, newer, wider = adamw_step(parameter, gradient, mean, square, step, lr, betas, eps, decay)
    return parameter.copy_(new), mean.copy_(newer), square.copy_(wider)


def decay_last(  # noqa: PLR0917
    parameter: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, lr: float,
    betas: tuple[float, float] = (0.9, 0.95), eps: float = 1e-8, decay: float = 0.1,
) -> State:  # fmt: skip
    """As many handouts have it: the correction in the learning rate, the decay afterwards."""
    m = betas[0] * mean + (1 - betas[0]) * gradient
    v = betas[1] * square + (1 - betas[1]) * gradient.square()
    rate = lr * math.sqrt(1 - betas[1] ** step) / (1 - betas[0] ** step)
    p = parameter - rate * m / (torch.sqrt(v) + eps)
    return p - lr * decay * p, m, v


def by_lerp(  # noqa: PLR0917
    parameter: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, lr: float,
    betas: tuple[float, float] = (0.9, 0.95), eps: float = 1e-8, decay: float = 0.1,
) -> State:  # fmt: skip
    """As torch has it, on copies."""
    new, m, v = parameter.clone(), mean.clone(), square.clone()
    new.mul_(1 - lr * decay)
    m.lerp_(gradient, 1 - betas[0])
    v.mul_(betas[1]).addcmul_(gradient, gradient, value=1 - betas[1])
    root = (v.sqrt() / math.sqrt(1 - betas[1] ** step)).add_(eps)
    return new.addcdiv_(m, root, value=-lr / (1 - betas[0] ** step)), m, v


def by_torch(  # noqa: PLR0917
    parameter: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: int, lr: float,
    betas: tuple[float, float] = (0.9, 0.95), eps: float = 1e-8, decay: float = 0.1,
) -> State:  # fmt: skip
    """Torch's own optimiser, given the state."""
    one = torch.nn.Parameter(parameter.clone())
    one.grad = gradient.clone()
    optimiser = torch.optim.AdamW([one], lr=lr, betas=betas, eps=eps, weight_decay=decay)
    optimiser.state[one] = {
        "step": torch.tensor(float(step - 1)),
        "exp_avg": mean.clone(),
        "exp_avg_sq": square.clone(),
    }
    optimiser.step()
    kept = optimiser.state[one]
    return one.detach(), kept["exp_avg"], kept["exp_avg_sq"]


EXERCISE = Exercise(
    solution=adamw_step,
    chapter=CHAPTER,
    title="One step of AdamW",
    points=4,
    minutes=15,
    difficulty=3,
    statement=(
        "Renew the two running means, correct them for their beginning at 0, divide one by the "
        "root of the other, and let the weights decay apart from that."
    ),
    example=(
        "One weight, 1, its first gradient, 4, and lr = 0.1. The means become 0.1 x 4 = 0.4 and "
        "0.05 x 16 = 0.8. Corrected they are 4 and 16, and 4 / 4 = 1. The decay leaves 1 x "
        "(1 - 0.1 x 0.1) = 0.99, the step 0.99 - 0.1 = 0.89."
    ),
    conventions=(
        "`step` is counted from 1. The means come and go without correction.",
        "The decay is decoupled: it is not part of the gradient. It may act before the step, as in "
        "torch, or after it: then it takes its share of the step, too, and the results differ by "
        "lr x decay of the step. The checks allow both.",
        "eps is added to the root of the corrected square. To fold the correction into the "
        "learning rate, as some papers do, is accepted, too. It makes eps larger by 1 / sqrt(1 - "
        "beta^step) with the second beta: 4.5 times as large at step 1. That matters for tiny "
        "gradients only.",
        "New tensors come back, in the dtype and on the device of what came in; no argument is "
        "changed.",
    ),
    hints=(
        "Five lines: two means, two corrections, one step.",
        "At the first step mean and gradient differ by the factor 1 - beta, at the second one by "
        "...?",
        "Test: without decay the first step has the size lr for every weight, whatever its "
        "gradient is.",
    ),
    cases=CASES,
    mistakes=(
        *MISTAKES,
        betas_swapped,
        torch_defaults,
        counted_from_zero,
        corrected_means_kept,
        old_means_used,
        old_means_returned,
        only_the_parameter,
        in_place,
        on_the_cpu(adamw_step),
        always_float32(adamw_step),
        float64_narrowed(adamw_step),
        changed_in_place(adamw_step),
    ),
    alternatives=(decay_last, by_lerp, by_torch),
)
