"""Exercise: scores of the experts with learned noise.

Out of scope: the choice (top_k_route), the load of an expert as a smooth function.
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_09 import CHAPTER
from autograder.inputs import described, normal, sizes
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.routing import noisy_logits

Sizes = dict[str, int]


def _trial(
    rng: Generator, training: bool, axes: str = "L", of: Sizes | None = None, strong: float = 1.0
) -> Trial:
    """Draw everything; with `strong`, the noise's matrix is so many times as large."""
    of = of or sizes(rng, "B L D X")
    x = normal(rng, f"{axes} D".strip(), of)
    w_router, w_noise = normal(rng, "X D", of), strong * normal(rng, "X D", of)
    noise = normal(rng, f"{axes} X".strip(), of)
    words = f"{described('x', f'{axes} D'.strip(), of)}, {described('w', 'X D', of)}"
    words += f", training = {training}" + (", a large w_noise" if strong > 1 else "")
    arguments = (x, w_router, w_noise, noise, training)
    return Trial(call(*arguments), words, of, f"{axes} X".strip())


def in_training(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, True)
    yield _trial(rng, True)


def in_use(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, False)


def other_ranks(rng: Generator) -> Iterator[Trial]:
    for axes in ("", "B L"):
        yield _trial(rng, True, axes)
        yield _trial(rng, False, axes)


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, True, of={"L": 4, "D": 4, "X": 4})
    yield _trial(rng, False, of={"L": 4, "D": 4, "X": 4})


def single(rng: Generator) -> Iterator[Trial]:
    for letter in "LDX":
        yield _trial(rng, True, of={**sizes(rng, "B L D X"), letter: 1})


def strong_noise(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, True, strong=500.0)


def not_contiguous(rng: Generator) -> Iterator[Trial]:
    for training in (True, False):
        trial = _trial(rng, training, "B L")
        x, w_router, w_noise, noise, _ = trial.request.calls[0].args
        x, noise = (t.transpose(0, 1).contiguous().transpose(0, 1) for t in (x, noise))
        request = call(x, w_router, w_noise, noise, training)
        yield Trial(request, f"{trial.inputs}, not contiguous", trial.sizes, trial.returns)


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(rng, True), rng)
    yield backward(_trial(rng, False), rng)


def strong_gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(rng, True, strong=500.0), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng, True))
    yield from in_dtypes(_trial(rng, False))


def kept(rng: Generator) -> Iterator[Trial]:
    yield from in_training(rng)
    yield from in_use(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, True))
    yield elsewhere(_trial(rng, False))


CASES = (
    Case("in training each score gets its own noise", in_training, values, weight=2),
    Case("in use there is no noise", in_use, values, weight=2),
    Case("works for a single token and for batches", other_ranks, values),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("works with one token, entry or expert", single, values),
    Case("very strong and very weak noise stays finite", strong_noise, values),
    Case("works for tensors that are not contiguous", not_contiguous, values),
    Case("the gradient reaches all that the scores depend on", gradients, values),
    Case("with very strong noise the gradient is finite, too", strong_gradients, values),
    Case("the dtype is kept", dtypes, values, tolerance=6e-2),
    Case("nothing that was given is changed", kept, inputs_kept),
    Case("works on whatever device the tensors are on", devices, values),
)


def noise_always(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """There is noise when the model is in use, too. It is for training: afterwards equal inputs
    should give equal answers.
    """
    return noisy_logits(x, w_router, w_noise, noise, True)


def noise_never(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """There is no noise in training."""
    return noisy_logits(x, w_router, w_noise, noise, False)


def the_wrong_way_round(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """There is noise in use, and none in training: the condition is the wrong way round."""
    return noisy_logits(x, w_router, w_noise, noise, not training)


def softplus_in_use(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """In use the scale of the noise is added, without the noise. Add nothing."""
    scale = F.softplus(x @ w_noise.T)
    return x @ w_router.T + (noise * scale if training else scale)


def _with_scale(
    scale: Tensor, x: Tensor, w_router: Tensor, noise: Tensor, training: bool
) -> Tensor:
    logits = x @ w_router.T
    return logits + noise * scale if training else logits


def unscaled(x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool) -> Tensor:
    """The noise is added as it is. How strong it should be is learned, with w_noise."""
    return _with_scale(torch.ones_like(noise), x, w_router, noise, training)


def without_softplus(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """The scale is x w_noise^T itself, which may be negative or 0. Softplus makes it positive."""
    return _with_scale(x @ w_noise.T, x, w_router, noise, training)


def exponential(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """The scale is an exponential. Softplus is the logarithm of 1 plus that."""
    return _with_scale((x @ w_noise.T).exp(), x, w_router, noise, training)


def rectified(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """The scale is a ReLU, which is 0 for half of its inputs. Softplus never is."""
    return _with_scale((x @ w_noise.T).relu(), x, w_router, noise, training)


def by_sigmoid(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """The scale is a sigmoid, which never exceeds 1. Softplus grows without bound."""
    return _with_scale((x @ w_noise.T).sigmoid(), x, w_router, noise, training)


def softplus_unstable(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """Softplus is computed as it stands in the formula, and its exponential overflows above 88.
    What is it close to for large inputs? Torch has a function that knows.
    """
    return _with_scale((1 + (x @ w_noise.T).exp()).log(), x, w_router, noise, training)


def overflow_hidden(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """The scores are finite, but their gradient is not: `where` hides the overflow of an
    exponential from the values. The gradient goes through both of its sides, and 0 times infinity
    is no number.
    """
    wide = x @ w_noise.T
    scale = torch.where(wide > 20, wide, (1 + wide.exp()).log())
    return _with_scale(scale, x, w_router, noise, training)


def square_root(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """You take the root of softplus, as if it were a variance. It is the standard deviation."""
    return _with_scale(F.softplus(x @ w_noise.T).sqrt(), x, w_router, noise, training)


def squared(x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool) -> Tensor:
    """The noise is multiplied by the square of softplus. Once is enough."""
    return _with_scale(F.softplus(x @ w_noise.T).square(), x, w_router, noise, training)


def softplus_of_all(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """Softplus is applied to noise and scale together, and so all noise is positive. Apply it to
    the scale alone.
    """
    logits = x @ w_router.T
    return logits + F.softplus(noise * (x @ w_noise.T)) if training else logits


def same_matrix(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """The scale of the noise comes from w_router. It has a matrix of its own."""
    return noisy_logits(x, w_router, w_router, noise, training)


def matrices_swapped(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """w_router and w_noise have changed places."""
    return noisy_logits(x, w_noise, w_router, noise, training)


def not_transposed(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """The matrices are not transposed. They have a row for each expert, as `nn.Linear` does."""
    return _with_scale(F.softplus(x @ w_noise), x, w_router.T, noise, training)


def multiplied(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """The scores are multiplied by the noise, as with the jitter of other routers. Here it is
    added.
    """
    logits = x @ w_router.T
    return logits * (1 + noise * F.softplus(x @ w_noise.T)) if training else logits


def one_for_all(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """All experts of a token get the same noise, so that it changes no choice."""
    return noisy_logits(x, w_router, w_noise, noise[..., :1].expand_as(noise), training)


def own_noise(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """You draw noise of your own. It is given, as `noise`, so that results can be compared."""
    drawn = torch.randn_like(noise) + 0 * noise
    return noisy_logits(x, w_router, w_noise, drawn, training)


def no_gradient_in_use(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """In use the scores are cut off from the gradient. `training` decides about the noise alone."""
    logits = noisy_logits(x, w_router, w_noise, noise, training)
    return logits if training else logits.detach()


def flattened(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """`view` needs tokens that lie in one piece of memory. `reshape` does not, and a product with a
    matrix takes any axes before the last as they are.
    """
    logits = noisy_logits(x.view(-1, x.shape[-1]), w_router, w_noise, 0 * noise[:0, :0], False)
    scores = logits.view(*x.shape[:-1], -1)
    return scores + noise * F.softplus(x @ w_noise.T) if training else scores


def with_softmax(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    """You return probabilities. Asked are the scores: softmax comes when the choice is made."""
    return noisy_logits(x, w_router, w_noise, noise, training).softmax(-1)


def by_einsum(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    logits, wide = (torch.einsum("...d,xd->...x", x, w) for w in (w_router, w_noise))
    return logits + training * noise * torch.logaddexp(wide, torch.zeros_like(wide))


def by_both_halves(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    logits = torch.matmul(x, w_router.t())
    if training:
        u = torch.matmul(x, w_noise.t())
        logits = logits + (u.clamp(min=0) + torch.log1p(torch.exp(-u.abs()))).mul(noise)
    return logits


def in_one_product(
    x: Tensor, w_router: Tensor, w_noise: Tensor, noise: Tensor, training: bool
) -> Tensor:
    clean, raw = F.linear(x, torch.cat([w_router, w_noise])).chunk(2, dim=-1)
    return torch.addcmul(clean, noise, F.softplus(raw)) if training else clean


EXERCISE = Exercise(
    solution=noisy_logits,
    chapter=CHAPTER,
    title="Noise for the router",
    points=2,
    minutes=7,
    difficulty=2,
    statement=(
        "Score all experts for each token, and in training add noise to each score: a number that "
        "was drawn from a normal distribution, times a scale that the layer learns. Outside of "
        "training, return the scores without noise."
    ),
    example=(
        "One token x = 1, two experts. The scores are 2 and 0. w_noise is 0, and softplus(0) = "
        "ln 2 = 0.693 is the scale of both. With the noise 1 and -1 the results are 2 + 0.693 = "
        "2.693 and 0 - 0.693 = -0.693."
    ),
    conventions=(
        "Both matrices are laid out as in `nn.Linear`, (X, D), a row for each expert, no bias.",
        "softplus(u) = ln(1 + e^u) is the standard deviation. It must stay finite for large u: "
        "softplus(1000) is 1000.",
        "`noise` is given. You draw nothing yourself.",
        "`training` decides about the noise alone: gradients flow either way, and stay finite for "
        "large u.",
        "What comes back are scores, before any softmax.",
    ),
    hints=(
        "Two products: one for the scores, one for what becomes the scale.",
        "Which of the three numbers, score, noise and scale, has to be positive?",
        "Torch has softplus in `torch.nn.functional`.",
    ),
    cases=CASES,
    mistakes=(
        noise_always,
        noise_never,
        the_wrong_way_round,
        softplus_in_use,
        unscaled,
        without_softplus,
        exponential,
        rectified,
        by_sigmoid,
        softplus_unstable,
        overflow_hidden,
        square_root,
        squared,
        softplus_of_all,
        same_matrix,
        matrices_swapped,
        not_transposed,
        multiplied,
        one_for_all,
        own_noise,
        no_gradient_in_use,
        flattened,
        with_softmax,
        on_the_cpu(noisy_logits),
        always_float32(noisy_logits),
        cut_from_autograd(noisy_logits),
        changed_in_place(noisy_logits, 4),
    ),
    alternatives=(by_einsum, by_both_halves, in_one_product),
)
