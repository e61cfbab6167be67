"""Exercise: Nadaraya-Watson regression with a Gaussian kernel."""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_01 import CHAPTER
from autograder.exercises.chapter_01 import _draws as draw
from autograder.inputs import normal, sizes, uniform
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, in_dtypes
from solutions.kernel import kernel_attention

DTYPES = (torch.float64,)  # `torch.cdist`, which may be used, knows no half precision on a CPU


def _on_keys(rng: Generator, noise: float, words: str, bandwidth: float) -> Trial:
    """Draw queries that each lie on a key, but for some noise."""
    trial = draw.search(rng, bandwidth=bandwidth)
    q, k, v = trial.request.calls[0].args
    place = torch.arange(q.shape[-2]) % k.shape[-2]
    q = k[..., place, :] + noise * torch.randn(q.shape, generator=rng)
    return draw.searched([q, k, v], dict(trial.sizes), note=words, bandwidth=bandwidth)


def one_batch(rng: Generator) -> Iterator[Trial]:
    yield _on_keys(rng, 1.0, ", queries near keys", 1.5)
    yield _on_keys(rng, 1.0, ", queries near keys", uniform(rng, 1.1, 1.4))


def bandwidths(rng: Generator) -> Iterator[Trial]:
    yield _on_keys(rng, 0.4, ", queries near keys", uniform(rng, 0.4, 0.7))
    yield draw.search(rng, bandwidth=3)


def many_features(rng: Generator) -> Iterator[Trial]:
    yield draw.search(rng, fixed={"K": 16}, bandwidth=uniform(rng, 2.5, 3.5))


def moved(rng: Generator) -> Iterator[Trial]:
    trial = draw.search(rng, bandwidth=1.5)
    q, k, v = trial.request.calls[0].args
    words = ", and again with all points moved by 3"
    for away in (0.0, 3.0):
        tensors = [q + away, k + away, v]
        yield draw.searched(tensors, dict(trial.sizes), note=words, bandwidth=1.5)


def far_away(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L M K W")
    q, k, v = (normal(rng, f"B {e}", of) for e in draw.ENDINGS.values())
    k[..., 0] /= 10  # so that several keys are about as far
    q[..., 0] += 40 + 10 * torch.arange(of["L"])
    yield draw.searched([q, k, v], of, note=", queries far from all keys", bandwidth=1.5)


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield from draw.ranks(rng, bandwidth=1.5)


def one_of_them(rng: Generator) -> Iterator[Trial]:
    yield from draw.singles(rng, "LMBKW", bandwidth=1.5)


def square(rng: Generator) -> Iterator[Trial]:
    yield from draw.equal_sizes(rng, bandwidth=1.5)


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(draw.search(rng, bandwidth=1.5), rng)


def on_a_key(rng: Generator) -> Iterator[Trial]:
    trial = _on_keys(rng, 0.0, ", queries that lie on keys", 1.5)
    yield backward(trial, rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(draw.search(rng, bandwidth=1.5), DTYPES)


def lent(rng: Generator) -> Iterator[Trial]:
    yield draw.search(rng, bandwidth=1.5)


def devices(rng: Generator) -> Iterator[Trial]:
    yield from draw.places(draw.search(rng, bandwidth=1.5))


# Some right answers multiply the square of the distance out, which costs them a digit or two.
LOOSE = 1e-4
CASES = (
    Case("near keys weigh more, by the Gaussian kernel", one_batch, values, 2, LOOSE),
    Case("the bandwidth sets what is near", bandwidths, values, 1, LOOSE),
    Case("squares are added up over all features", many_features, values, 1, LOOSE),
    Case("moving all points together changes nothing", moved, values, 1, 1e-3),
    Case("far from all keys the answer stays finite", far_away, values, 1, 2e-2),
    Case("works with no batch axis and with several", other_ranks, values, 1, LOOSE),
    Case("works where sizes happen to be equal", square, values, 1, LOOSE),
    Case("works where any one size is 1", one_of_them, values, 1, LOOSE),
    Case("the gradient reaches q, k and v", gradients, values, 1, 1e-3),
    Case("on a key the gradient is finite", on_a_key, values, 1, 1e-3),
    Case("the dtype of q, k and v is kept", dtypes, values, 1, LOOSE),
    Case("q, k and v themselves are not changed", lent, inputs_kept, 1, LOOSE),
    Case("works on whatever device q, k and v are on", devices, values, 1, LOOSE),
)


def _squares(q: Tensor, k: Tensor) -> Tensor:
    return (q[..., :, None, :] - k[..., None, :, :]).pow(2).sum(-1)


def _averaged(scores: Tensor, v: Tensor) -> Tensor:
    return torch.matmul(scores.softmax(-1), v)


def _shared(exponents: Tensor) -> Tensor:
    """Divide exponentials by their sum, as they are."""
    kernels = exponents.exp()
    return kernels / kernels.sum(-1, keepdim=True)


def without_two(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The exponent is divided by b^2 and not by 2 b^2. Both are in use; here the 2 belongs to it,
    so that b is the standard deviation of the kernel.
    """
    return kernel_attention(q, k, v, bandwidth / math.sqrt(2))


def two_squared(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The 2 is squared together with the bandwidth: (2 b)^2 is 4 b^2. The square is of b alone."""
    return kernel_attention(q, k, v, bandwidth * math.sqrt(2))


def not_squared_bandwidth(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The bandwidth is not squared: you use it as a variance. Here it is a distance, so that it can
    be compared with one.
    """
    return kernel_attention(q, k, v, math.sqrt(bandwidth))


def multiplied(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The bandwidth multiplies the distance: it acts as a sharpness. A large bandwidth should let
    far keys count.
    """
    return kernel_attention(q, k, v, 1 / bandwidth)


def ignored(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The bandwidth is not used."""
    return kernel_attention(q, k, v, 1.0)


def unsquared_distance(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The exponent has the distance, not its square. That is another kernel, the Laplacian one."""
    return _averaged(-_squares(q, k).sqrt() / bandwidth, v)


def root_in_the_gaussian(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """You divide by 2 b^2, but the distance above it is not squared."""
    return _averaged(-_squares(q, k).sqrt() / (2 * bandwidth**2), v)


def root_then_square(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The answers are right, but a root is taken and squared again. The derivative of a root at 0
    is infinite, so that the gradient of a query that lies on a key is NaN. The squares will do.
    """
    return _averaged(-((_squares(q, k).sqrt() / bandwidth) ** 2) / 2, v)


def absolute_differences(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The differences of the features are added up as absolute values. Square each, then add."""
    gaps = (q[..., :, None, :] - k[..., None, :, :]).abs().sum(-1)
    return _averaged(-(gaps**2) / (2 * bandwidth**2), v)


def squared_sum(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The differences are added up first and squared then, so that they cancel. Square each feature
    first.
    """
    gaps = (q[..., :, None, :] - k[..., None, :, :]).sum(-1)
    return _averaged(-(gaps**2) / (2 * bandwidth**2), v)


def first_feature(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """Only the first feature is compared. The distance is over all of them."""
    return kernel_attention(q[..., :1], k[..., :1], v, bandwidth)


def product_once(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The square of the difference is multiplied out, but the product comes once. (a - b)^2 has it
    twice.
    """
    lengths = q.square().sum(-1).unsqueeze(-1) + k.square().sum(-1).unsqueeze(-2)
    return _averaged(-(lengths - q @ k.mT) / (2 * bandwidth**2), v)


def mean_of_features(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The squares are averaged over the features. A squared distance is their sum."""
    return kernel_attention(q, k, v, bandwidth * math.sqrt(q.shape[-1]))


def far_ones(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The sign is missing: the farther a key, the more it weighs."""
    return _averaged(_squares(q, k) / (2 * bandwidth**2), v)


def boxcar(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """All keys within the bandwidth count alike, the others not at all. That is the boxcar kernel;
    here it is the Gaussian one.
    """
    inside = (_squares(q, k) <= bandwidth**2).to(v.dtype)
    return inside / inside.sum(-1, keepdim=True).clamp(min=1) @ v


def inner_products(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The score is the inner product over b^2. That agrees with the distance only where all keys
    have the same length: which term is missing?
    """
    return _averaged(q @ k.mT / bandwidth**2, v)


def exponentiated(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """Far from all keys every kernel is rounded to 0, and 0 / 0 is NaN. What does the softmax of
    the exponents do instead?
    """
    return _shared(-_squares(q, k) / (2 * bandwidth**2)) @ v


def guarded(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """Far from all keys the answer is 0: a small number below the line, or NaN replaced by 0, hides
    that all kernels were rounded to 0. The weights should sum to 1 there too.
    """
    return exponentiated(q, k, v, bandwidth).nan_to_num()


def held_up(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The kernels, or their exponents, are kept above a smallest number (`clamp`). Far away all of
    them are that number, and the answer is the plain mean: the nearest keys should decide.
    """
    kernels = (-_squares(q, k) / (2 * bandwidth**2)).exp().clamp(min=1e-30)
    return kernels / kernels.sum(-1, keepdim=True) @ v


def one_minimum(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The smallest distance of all is subtracted everywhere. Queries that are farther away than
    that one still end in 0 / 0: each query needs the distance of its own nearest key.
    """
    squares = _squares(q, k)
    return _shared((squares.amin() - squares) / (2 * bandwidth**2)) @ v


def nearest_far_away(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """Where all kernels are rounded to 0, the nearest key gets everything. Others may be almost as
    near, and should count: a softmax of the exponents gives the mean there too.
    """
    kernels = (-_squares(q, k) / (2 * bandwidth**2)).exp()
    total = kernels.sum(-1, keepdim=True)
    return torch.where(total > 0, kernels @ v / total, nearest(q, k, v, bandwidth))


def softmax_of_kernels(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """You take the softmax of the kernels. It exponentiates what it gets: give it the exponents."""
    return _averaged((-_squares(q, k) / (2 * bandwidth**2)).exp(), v)


def not_normalised(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The kernels are never divided by their sum: the weights do not sum to 1."""
    return (-_squares(q, k) / (2 * bandwidth**2)).exp() @ v


def as_density(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The kernels have the constant of the normal density and are averaged, but not divided by
    their sum. A mean has weights that sum to 1.
    """
    constant = (bandwidth * math.sqrt(2 * math.pi)) ** q.shape[-1] * k.shape[-2]
    return not_normalised(q, k, v, bandwidth) / constant


def normal_density(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The kernels are divided by b sqrt(2 pi), the constant that makes a bell a density. Weights of
    a mean are divided by their own sum, and any constant cancels there.
    """
    return not_normalised(q, k, v, bandwidth) / (bandwidth * math.sqrt(2 * math.pi))


def over_queries(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """The weights sum to 1 over the queries. They should do so over the keys of each query."""
    return (-_squares(q, k) / (2 * bandwidth**2)).softmax(-2) @ v


def nearest(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """Only the nearest key counts. Here all do, the nearer the more."""
    return v.take_along_dim(_squares(q, k).argmin(-1, keepdim=True), dim=-2)


def plain_mean(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """Every query gets the plain mean of the values, as if the bandwidth were endless."""
    return v.mean(-2, keepdim=True).expand(*q.shape[:-1], v.shape[-1]).clone()


def weights_alone(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    """You return the weights. They still have to meet the values."""
    return (-_squares(q, k) / (2 * bandwidth**2)).softmax(-1)


def by_norm(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    weights = torch.softmax(-0.5 * _squares(q / bandwidth, k / bandwidth), dim=-1)
    return torch.einsum("...lm,...mw->...lw", weights, v)


def multiplied_out(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    products = q @ k.transpose(-1, -2)
    lengths = k.square().sum(-1).unsqueeze(-2)
    return _averaged((2 * products - lengths) / (2 * bandwidth**2), v)


def by_cdist(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    scaled = torch.cdist(q, k) / bandwidth
    return (scaled * scaled / -2).softmax(dim=-1).matmul(v)


def by_log_sum(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    logs = _squares(q, k).mul(-0.5 / bandwidth**2)
    return (logs - logs.logsumexp(-1, keepdim=True)).exp() @ v


def query_by_query(q: Tensor, k: Tensor, v: Tensor, bandwidth: float) -> Tensor:
    answers = []
    for i in range(q.shape[-2]):
        exponents = -((k - q[..., i : i + 1, :]) ** 2).sum(-1) / (2 * bandwidth * bandwidth)
        kernels = torch.exp(exponents - exponents.amax(-1, keepdim=True)).unsqueeze(-1)
        answers.append((kernels * v).sum(-2) / kernels.sum(-2))
    return torch.stack(answers, dim=-2)


EXERCISE = Exercise(
    solution=kernel_attention,
    chapter=CHAPTER,
    title="Kernel regression",
    points=4,
    minutes=14,
    difficulty=3,
    statement=(
        "The attention of 1964: estimate a value at each query as the mean of the observed values, "
        "weighted by a Gaussian kernel of the distance between query and key. It must also answer "
        "far away from all keys, where every kernel is too small for the computer."
    ),
    example=(
        "The query is 1, the keys are 0 and 3, the bandwidth is 1. The squared distances are 1 and "
        "4, the exponents -0.5 and -2, the kernels 0.607 and 0.135. Divided by their sum they are "
        "0.818 and 0.182. With the values 10 and 20 the answer is 8.18 + 3.65 = 11.82."
    ),
    conventions=(
        "The kernel is exp(-d^2 / (2 b^2)): the bandwidth b is a distance, the standard deviation "
        "of the bell, and d is the Euclidean distance over all K features.",
        "The weights of each query sum to 1 over the keys, however far away it is: there the "
        "nearest keys decide.",
        "A query may lie on a key. The distance is 0 there, and gradients stay finite.",
        "The answers have shape (..., L, W), in the dtype and on the device of q.",
    ),
    hints=(
        "With an axis of size 1 in the right place of each, q minus k gives the differences of "
        "every query with every key: (..., L, M, K).",
        "exp(-800) is 0 on a computer, and 0 / 0 is not a number. But a quotient of exponentials "
        "only depends on differences of the exponents.",
        "A softmax is just such a quotient. What do you have to give it as scores?",
    ),
    cases=CASES,
    mistakes=(
        without_two,
        two_squared,
        not_squared_bandwidth,
        multiplied,
        ignored,
        unsquared_distance,
        root_in_the_gaussian,
        root_then_square,
        absolute_differences,
        squared_sum,
        first_feature,
        product_once,
        mean_of_features,
        far_ones,
        boxcar,
        inner_products,
        exponentiated,
        guarded,
        held_up,
        one_minimum,
        nearest_far_away,
        softmax_of_kernels,
        not_normalised,
        as_density,
        normal_density,
        over_queries,
        nearest,
        plain_mean,
        weights_alone,
        changed_in_place(kernel_attention),
        on_the_cpu(kernel_attention),
        always_float32(kernel_attention),
        cut_from_autograd(kernel_attention),
    ),
    alternatives=(by_norm, multiplied_out, by_cdist, by_log_sum, query_by_query),
)
