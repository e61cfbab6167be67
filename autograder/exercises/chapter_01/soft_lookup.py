"""Exercise: softmax(sharpness q k^T) v.

Out of scope: the scale 1 / sqrt(K) (chapter 02), masks (chapter 03).
"""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_01 import CHAPTER
from autograder.exercises.chapter_01 import _draws as draw
from autograder.inputs import uniform
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import backward, in_dtypes
from solutions.lookup import hard_lookup, soft_lookup


def no_sharpness_given(rng: Generator) -> Iterator[Trial]:
    yield draw.search(rng)
    yield draw.search(rng)


def sharpnesses(rng: Generator) -> Iterator[Trial]:
    yield draw.search(rng, sharpness=uniform(rng, 0.2, 0.8))
    yield draw.search(rng, sharpness=uniform(rng, 1.5, 2.5))
    yield draw.search(rng, sharpness=2)


def none_at_all(rng: Generator) -> Iterator[Trial]:
    yield draw.search(rng, sharpness=0.0)


def very_sharp(rng: Generator) -> Iterator[Trial]:
    yield draw.search(rng, sharpness=1000.0)


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield from draw.ranks(rng, sharpness=0.5)


def one_of_them(rng: Generator) -> Iterator[Trial]:
    yield from draw.singles(rng, "LMBKW", sharpness=0.5)


def square(rng: Generator) -> Iterator[Trial]:
    yield from draw.equal_sizes(rng, sharpness=0.5)


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(draw.search(rng, sharpness=uniform(rng, 0.3, 0.7)), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(draw.search(rng, sharpness=0.5))


def lent(rng: Generator) -> Iterator[Trial]:
    yield draw.search(rng, sharpness=0.5)


def devices(rng: Generator) -> Iterator[Trial]:
    yield from draw.places(draw.search(rng, sharpness=0.5))


CASES = (
    Case("each answer is the weighted average of the values", no_sharpness_given, values, weight=2),
    Case("the sharpness multiplies the scores", sharpnesses, values),
    Case("with sharpness 0 all keys count alike", none_at_all, values),
    Case("a very sharp search finds the best key alone", very_sharp, values),
    Case("works with no batch axis and with several", other_ranks, values),
    Case("works where sizes happen to be equal", square, values),
    Case("works where any one size is 1", one_of_them, values),
    Case("the gradient reaches q, k and v", gradients, values),
    Case("the dtype of q, k and v is kept", dtypes, values, tolerance=6e-2),
    Case("q, k and v themselves are not changed", lent, inputs_kept),
    Case("works on whatever device q, k and v are on", devices, values),
)


def _scores(q: Tensor, k: Tensor) -> Tensor:
    return torch.einsum("...lk,...mk->...lm", q, k)


def ignored(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The sharpness is not used."""
    return soft_lookup(q, k, v)


def zero_for_none(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """A sharpness of 0 is taken for "none given": `sharpness or 1.0` does so, as does a test such
    as `if sharpness`. 0 is a sharpness like any other.
    """
    return soft_lookup(q, k, v, sharpness or 1.0)


def whole_number(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The sharpness is cut to a whole number. It may be 0.5."""
    return soft_lookup(q, k, v, int(sharpness))


def divided(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The scores are divided by the sharpness. That is a temperature, another convention: here
    more sharpness means larger differences between the scores.
    """
    return (_scores(q, k) / sharpness).softmax(-1) @ v


def squared(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The sharpness comes in twice, with q and with k. It multiplies their product once."""
    return soft_lookup(q, k, v, sharpness**2)


def after_softmax(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The weights are multiplied by the sharpness, so they no longer sum to 1. It belongs on the
    scores, before the softmax.
    """
    return sharpness * soft_lookup(q, k, v)


def always_scaled(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The scores are divided by sqrt(K). Chapter 2 explains that convention; here the sharpness
    alone sets the scale.
    """
    return soft_lookup(q, k, v, sharpness / math.sqrt(q.shape[-1]))


def opposite(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The sign is turned round: the worst match weighs most."""
    return soft_lookup(-q, k, v, sharpness)


def keys_not_turned(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The keys are multiplied as they are, (..., M, K). A matrix product takes rows times columns:
    which two axes of k have to change places, so that every query meets every key?
    """
    return (sharpness * (q @ k)).softmax(-1) @ v


def keys_turned_round(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """`k.T` turns round all the axes of k, the batch too. Only the last two should change places:
    see `mT` or `transpose`.
    """
    return (sharpness * (q @ k.permute(*reversed(range(k.ndim))))).softmax(-1) @ v


def over_queries(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The softmax runs over the queries: each key shares itself out among them. Each query should
    share its weight among the keys.
    """
    return (sharpness * _scores(q, k)).softmax(-2) @ v


def over_axis_one(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The softmax runs over axis 1. Where the keys are does not depend on how many axes stand in
    front: count from the end.
    """
    return (sharpness * _scores(q, k)).softmax(1) @ v


def over_batch(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The softmax runs over the first axis, the batch: the examples compete with each other."""
    return (sharpness * _scores(q, k)).softmax(0) @ v


def no_softmax(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The scores are used as weights as they are: they do not sum to 1, and some are negative."""
    return (sharpness * _scores(q, k)) @ v


def sum_normalised(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The scores are divided by their sum. That sum may be near 0, and scores may be negative. What
    makes any number positive and keeps the order?
    """
    scores = sharpness * _scores(q, k)
    return scores / scores.sum(-1, keepdim=True) @ v


def not_normalised(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The exponentials are never divided by their sum."""
    return (sharpness * _scores(q, k)).exp() @ v


def unstable(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The scores are exponentiated as they are, and overflow once they are large. What changes if
    the largest score is subtracted from all of them first? Or let torch's softmax do it.
    """
    powers = (sharpness * _scores(q, k)).exp()
    return powers / powers.sum(-1, keepdim=True) @ v


def one_maximum(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The largest score of all is subtracted everywhere. In rows that are far below it every
    exponential is rounded to 0. Subtract the largest score of each row.
    """
    scores = sharpness * _scores(q, k)
    powers = (scores - scores.amax()).exp()
    return powers / powers.sum(-1, keepdim=True) @ v


def softmax_twice(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The softmax is taken twice. The second one takes weights for scores, and flattens them."""
    return (sharpness * _scores(q, k)).softmax(-1).softmax(-1) @ v


def cosine(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """q and k are brought to length 1 first (cosine similarity). That is another convention: here
    lengths count.
    """
    return soft_lookup(F.normalize(q, dim=-1), F.normalize(k, dim=-1), v, sharpness)


def by_distance(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The score is minus the squared distance, as in kernel regression. Here it is the inner
    product.
    """
    return (-sharpness * (q.unsqueeze(-2) - k.unsqueeze(-3)).square().sum(-1)).softmax(-1) @ v


def hard(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The best key gets everything. Here all keys have a say, by how well they match."""
    return hard_lookup(q, k, v)


def plain_mean(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """Every query gets the plain mean of the values, whatever q and k are."""
    return soft_lookup(q, k, v, sharpness=0.0)


def weights_alone(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """You return the weights. They still have to meet the values."""
    return (sharpness * _scores(q, k)).softmax(-1)


def with_weights(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> tuple[Tensor, Tensor]:
    """You return a pair, answers and weights. Here only the answers are asked."""
    return soft_lookup(q, k, v, sharpness), weights_alone(q, k, v, sharpness)


def keys_for_values(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The keys are averaged where the values should be."""
    return soft_lookup(q, k, k, sharpness)


def roles_swapped(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """Keys and queries have changed roles: there should be one answer for each query."""
    return soft_lookup(k, q, v, sharpness)


def weights_detached(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    """The gradient reaches v but neither q nor k: the weights are cut off. A soft search is there
    to give the query a gradient.
    """
    return soft_lookup(q.detach(), k.detach(), v, sharpness)


def by_einsum(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    weights = F.softmax(torch.einsum("...lk,...mk->...lm", q, k).mul(sharpness), dim=-1)
    return torch.einsum("...lm,...mw->...lw", weights, v)


def sharper_queries(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    return torch.matmul(((q * sharpness) @ k.mT).softmax(-1), v)


def normalised_last(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    scores = torch.matmul(q, k.transpose(-1, -2)) * sharpness
    powers = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return (powers @ v) / powers.sum(-1, keepdim=True)


def query_by_query(q: Tensor, k: Tensor, v: Tensor, sharpness: float = 1.0) -> Tensor:
    answers = []
    for i in range(q.shape[-2]):
        weights = torch.softmax(sharpness * (k * q[..., i : i + 1, :]).sum(-1), -1)
        answers.append((weights.unsqueeze(-1) * v).sum(-2))
    return torch.stack(answers, -2)


EXERCISE = Exercise(
    solution=soft_lookup,
    chapter=CHAPTER,
    title="Soft lookup",
    points=3,
    minutes=8,
    difficulty=2,
    statement=(
        "Search softly: every key answers, and how much it counts is a softmax of its inner "
        "products with the query. A sharpness says how strongly the best keys are preferred. "
        "torch's softmax is yours to use; its ready-made attention is not allowed."
    ),
    example=(
        "The query (1, 0) has the inner products ln 3 and 0 with the two keys. Their exponentials "
        "are 3 and 1, so the weights are 0.75 and 0.25, and the values 10 and 20 give 12.5. With "
        "sharpness 2 the exponentials are 9 and 1: the answer is 0.9 x 10 + 0.1 x 20 = 11."
    ),
    conventions=(
        "The sharpness multiplies the inner products: 0 weighs all keys alike, large numbers come "
        "close to the hard lookup. (A temperature divides: it is 1 / sharpness.)",
        "No other scale: nothing is divided by the root of the width here.",
        "Weights sum to 1 over the keys of each query. Only the answers are returned, (..., L, W), "
        "in the dtype and on the device of q.",
    ),
    hints=(
        "Which shape do all inner products have together, and along which of its axes do the "
        "weights sum to 1?",
        "Multiply by the sharpness before the softmax. Afterwards it would only make answers "
        "larger.",
        "A row of weights times the matrix of values is a weighted sum of its rows.",
    ),
    cases=CASES,
    mistakes=(
        ignored,
        zero_for_none,
        whole_number,
        divided,
        squared,
        after_softmax,
        always_scaled,
        opposite,
        keys_not_turned,
        keys_turned_round,
        over_queries,
        over_axis_one,
        over_batch,
        no_softmax,
        sum_normalised,
        not_normalised,
        unstable,
        one_maximum,
        softmax_twice,
        cosine,
        by_distance,
        hard,
        plain_mean,
        weights_alone,
        with_weights,
        keys_for_values,
        roles_swapped,
        weights_detached,
        changed_in_place(soft_lookup),
        on_the_cpu(soft_lookup),
        always_float32(soft_lookup),
        cut_from_autograd(soft_lookup),
    ),
    alternatives=(by_einsum, sharper_queries, normalised_last, query_by_query),
    forbidden=READY_MADE_ATTENTION,
)
