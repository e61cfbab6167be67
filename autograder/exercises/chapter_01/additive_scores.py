"""Exercise: u . tanh(q W_q + k W_k) for every query with every key.

Out of scope: the softmax over these scores.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_01 import CHAPTER
from autograder.exercises.chapter_01 import _draws as draw
from autograder.inputs import described, normal, sizes
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, in_dtypes
from autograder.wire import call
from solutions.additive import additive_scores

WEIGHTS = {"w_q": "D F", "w_k": "K F", "u": "F"}


def _drawn(
    rng: Generator, leading: str = "B", fixed: Mapping[str, int] | None = None, std: float = 0.7
) -> Trial:
    of = sizes(rng, draw.axes(leading, "L M D K F")) | dict(fixed or {})
    every = {"q": draw.axes(leading, "L D"), "k": draw.axes(leading, "M K")} | WEIGHTS
    tensors = [normal(rng, axes, of, std=std) for axes in every.values()]
    words = ", ".join(described(name, axes, of) for name, axes in every.items())
    return Trial(call(*tensors), words, of, draw.axes(leading, "L M"))


def one_batch(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def as_many_queries_as_keys(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng, fixed={"L": 5, "M": 5})
    yield Trial(trial.request, trial.inputs, {**trial.sizes, "M": 0}, "B L L")


def all_widths_equal(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, fixed={"D": 4, "K": 4, "F": 4})


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, "B H", {"B": 2, "H": 3})
    yield _drawn(rng, "")
    yield _drawn(rng, "B H", {"B": 4, "H": 2, "L": 4, "M": 5})


def one_of_them(rng: Generator) -> Iterator[Trial]:
    for letter in "BLMDKF":
        yield _drawn(rng, fixed={letter: 1})


def large(rng: Generator) -> Iterator[Trial]:
    """Whole numbers: their sums are exact in any order, and tanh near 0 has no rounding to show."""
    trial = _drawn(rng, std=40.0)
    yield replace(trial, request=call(*(part.round() for part in trial.request.calls[0].args)))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng))


def lent(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield from draw.places(_drawn(rng))


CASES = (
    Case("there is a score for every query with every key", one_batch, values, weight=2),
    Case("as many queries as keys are not paired off", as_many_queries_as_keys, values),
    Case("vectors are rows, also where all widths agree", all_widths_equal, values),
    Case("works with no batch axis and with several", other_ranks, values),
    Case("works where any one size is 1", one_of_them, values),
    Case("large inputs stay finite", large, values),
    Case("the gradient reaches all five arguments", gradients, values, tolerance=1e-4),
    Case("the dtype of the inputs is kept", dtypes, values, tolerance=1e-1),
    Case("the inputs themselves are not changed", lent, inputs_kept),
    Case("works on whatever device the inputs are on", devices, values),
)


def _pairs(q: Tensor, k: Tensor) -> Tensor:
    return q[..., :, None, :] + k[..., None, :, :]


def no_tanh(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """The tanh is missing. A query then adds the same number to the scores of all its keys, and the
    softmax, which sees differences only, would not notice the query at all.
    """
    return _pairs(q @ w_q, k @ w_k) @ u


def tanh_of_each(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """The tanh is taken of each part before they are added. They have to meet inside of it: outside
    the query's part is the same for all keys.
    """
    return _pairs((q @ w_q).tanh(), (k @ w_k).tanh()) @ u


def tanh_of_score(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """The tanh is taken of the score, after u. It belongs before it, on each of the F entries."""
    return no_tanh(q, k, w_q, w_k, u).tanh()


def sigmoid(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """You bend with a sigmoid. Here it is the tanh, which is 0 at 0."""
    return _pairs(q @ w_q, k @ w_k).sigmoid() @ u


def relu(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """You bend with a ReLU. That makes a score too, but here it is the tanh."""
    return _pairs(q @ w_q, k @ w_k).relu() @ u


def multiplied(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """Query and key are multiplied entry by entry. An additive score adds them."""
    return ((q @ w_q)[..., :, None, :] * (k @ w_k)[..., None, :, :]).tanh() @ u


def dot_product(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """You take inner products of the projected vectors. That is the score of the transformer; here
    a small network with u at its end gives the score.
    """
    return (q @ w_q) @ (k @ w_k).mT


def subtracted(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """The key is subtracted from the query. The two are added; the weights can learn a sign."""
    return additive_scores(q, -k, w_q, w_k, u)


def without_u(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """The F entries are summed up without u, which says how much each of them counts."""
    return _pairs(q @ w_q, k @ w_k).tanh().sum(-1)


def mean_for_sum(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """The products with u are averaged. An inner product is their sum."""
    return (_pairs(q @ w_q, k @ w_k).tanh() * u).mean(-1)


def not_summed(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """The products with u are not added up: you return F numbers for each pair, not one score."""
    return _pairs(q @ w_q, k @ w_k).tanh() * u


def last_axis_kept(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """An axis of size 1 is left over at the end: u was made a column. A product with a vector has
    none.
    """
    return additive_scores(q, k, w_q, w_k, u).unsqueeze(-1)


def squeezed(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """`squeeze()` without an axis removes every axis of size 1, also one that should stay."""
    return additive_scores(q, k, w_q, w_k, u).squeeze()


def scaled(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """The score is divided by the root of its width. That belongs to inner products, chapter 2."""
    return additive_scores(q, k, w_q, w_k, u) / math.sqrt(u.shape[0])


def weights(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """You return the softmax of the scores. Here the scores themselves are asked."""
    return additive_scores(q, k, w_q, w_k, u).softmax(-1)


def paired_off(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """Query i only meets key i. Every query should meet every key: which axes of size 1 make the
    sum a table?
    """
    return (q @ w_q + k @ w_k).tanh() @ u


def keys_first(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """The table is transposed: a row should belong to a query, a column to a key."""
    return additive_scores(q, k, w_q, w_k, u).mT.contiguous()


def linear_layout(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """The weights are transposed, as `nn.Linear` and `F.linear` lay them out. Here vectors are
    rows, and w_q has shape (D, F).
    """
    return _pairs(F.linear(q, w_q), F.linear(k, w_k)).tanh() @ u


def queries_for_keys(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """Queries meet queries: k is not used."""
    return additive_scores(q, q, w_q, w_q, u)


def one_matrix(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """Queries and keys go through the same matrix, w_q. The keys have one of their own."""
    return additive_scores(q, k, w_q, w_q, u)


def matrices_exchanged(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """Queries go through w_k and keys through w_q. Each has its own: w_q is for queries."""
    return additive_scores(q, k, w_k, w_q, u)


def weights_wrapped(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """The scores are right, but no gradient reaches w_q and w_k: an `nn.Linear`, or an
    `nn.Parameter`, that is made of them is a new leaf. Use the matrices that came in.
    """
    return additive_scores(q, k, w_q.detach(), w_k.detach(), u)


def tanh_by_hand(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """A tanh from exponentials overflows: inf / inf is NaN. `torch.tanh` does not."""
    pairs = _pairs(q @ w_q, k @ w_k)
    up, down = pairs.exp(), (-pairs).exp()
    return ((up - down) / (up + down)) @ u


def tanh_by_one_exponential(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """A tanh from the exponential of 2 x overflows where x is large: inf / inf is NaN. `torch.tanh`
    does not.
    """
    powers = (2 * _pairs(q @ w_q, k @ w_k)).exp()
    return ((powers - 1) / (powers + 1)) @ u


def by_concatenation(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    """Each pair side by side through one matrix, as many papers draw it."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    left = q.unsqueeze(-2).expand(*q.shape[:-1], n_k, q.shape[-1])
    right = k.unsqueeze(-3).expand(*k.shape[:-2], n_q, *k.shape[-2:])
    both = torch.cat([left, right], dim=-1)
    return torch.tanh(both @ torch.cat([w_q, w_k])).matmul(u)


def by_einsum(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    hidden_q = torch.einsum("...ld,df->...lf", q, w_q)
    hidden_k = torch.einsum("...mk,kf->...mf", k, w_k)
    return torch.einsum("...lmf,f->...lm", torch.tanh(_pairs(hidden_q, hidden_k)), u)


def query_by_query(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    keys = torch.matmul(k, w_k)
    rows = [((row.unsqueeze(-2) @ w_q + keys).tanh() * u).sum(-1) for row in q.unbind(-2)]
    return torch.stack(rows, dim=-2)


def by_linear(q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, u: Tensor) -> Tensor:
    hidden = F.linear(q, w_q.T).unsqueeze(-2) + F.linear(k, w_k.T).unsqueeze(-3)
    return F.linear(hidden.tanh(), u.unsqueeze(0)).squeeze(-1)


EXERCISE = Exercise(
    solution=additive_scores,
    chapter=CHAPTER,
    title="Additive scores",
    points=4,
    minutes=12,
    difficulty=3,
    statement=(
        "The first learned score: a network with one hidden layer looks at a query and a key and "
        "says how well they match. Compute it for every query with every key. (Good code does not "
        "repeat a matrix product for each pair; this is advice, and not checked.)"
    ),
    example=(
        "All widths are 1. The query is 1, the keys are 0 and 2, w_q is 1, w_k is -1 and u is 2. "
        "The sums are 1 - 0 = 1 and 1 - 2 = -1, their tanh is 0.7616 and -0.7616, and the scores "
        "are 2 x 0.7616 = 1.5232 and -1.5232."
    ),
    conventions=(
        "Vectors are rows: q w_q with w_q of shape (D, F). (`nn.Linear` keeps the transpose.)",
        "Queries and keys may have different widths, D and K; both become F entries.",
        "The raw scores are asked, (..., L, M): no softmax, no scale, no bias. Query i and key j "
        "stand at [..., i, j].",
    ),
    hints=(
        "Project all queries at once, and all keys at once. The pairs come after that.",
        "A sum of shapes (..., L, 1, F) and (..., 1, M, F) is a table of all pairs: "
        "(..., L, M, F).",
        "Bend the table with tanh, then let u read off one number for each pair: a product with a "
        "vector removes the last axis.",
    ),
    cases=CASES,
    mistakes=(
        no_tanh,
        tanh_of_each,
        tanh_of_score,
        sigmoid,
        relu,
        multiplied,
        dot_product,
        subtracted,
        without_u,
        mean_for_sum,
        not_summed,
        last_axis_kept,
        squeezed,
        scaled,
        weights,
        paired_off,
        keys_first,
        linear_layout,
        queries_for_keys,
        one_matrix,
        matrices_exchanged,
        weights_wrapped,
        tanh_by_hand,
        tanh_by_one_exponential,
        changed_in_place(additive_scores),
        on_the_cpu(additive_scores),
        always_float32(additive_scores),
        cut_from_autograd(additive_scores),
    ),
    alternatives=(by_concatenation, by_einsum, query_by_query, by_linear),
)
