"""Exercise: the value of the key with the largest inner product."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_01 import CHAPTER
from autograder.exercises.chapter_01 import _draws as draw
from autograder.inputs import normal, sizes
from autograder.slips import always_float32, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, in_dtypes
from solutions.lookup import hard_lookup


def one_batch(rng: Generator) -> Iterator[Trial]:
    yield draw.search(rng)
    yield draw.search(rng)


def loud_keys(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L M K W")
    q, k, v = (normal(rng, f"B {e}", of) for e in draw.ENDINGS.values())
    k = k * torch.linspace(0.3, 3.0, of["M"]).unsqueeze(-1)
    yield draw.searched([draw.with_winners(q, k, rng), k, v], of, note=", keys of many lengths")


def short_queries(rng: Generator) -> Iterator[Trial]:
    trial = draw.search(rng)
    q, k, v = trial.request.calls[0].args
    tensors = [q * 2.0**-30, k, v]  # exact, so that the same keys win
    yield draw.searched(tensors, dict(trial.sizes), note=", q multiplied by 2 ** -30")


def negative_scores(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B M K W") | {"L": 2}
    k = normal(rng, "B M K", of).abs() + 0.1
    best = k.sum(-1).argmin(-1)  # for a query of equal entries; one clear winner is made
    k.scatter_(-2, best[:, None, None].expand(-1, 1, of["K"]), 0.05)
    q = -torch.tensor([4.0, 8.0])[:, None].expand(of["B"], 2, of["K"])
    yield draw.searched([q.contiguous(), k, normal(rng, "B M W", of)], of, note=", scores below 0")


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield from draw.ranks(rng)


def one_of_them(rng: Generator) -> Iterator[Trial]:
    yield from draw.singles(rng, "LMBW")


def square(rng: Generator) -> Iterator[Trial]:
    yield from draw.equal_sizes(rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(draw.search(rng))


def lent(rng: Generator) -> Iterator[Trial]:
    yield draw.search(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield from draw.places(draw.search(rng))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(draw.search(rng), rng)


CASES = (
    Case("each query gets the value of its best key", one_batch, values, weight=2),
    Case("a long key wins over one that points better", loud_keys, values),
    Case("a narrow win is a win, however short the query", short_queries, values, 1, 1e-3),
    Case("the best score may be negative", negative_scores, values),
    Case("works with no batch axis and with several", other_ranks, values),
    Case("works where sizes happen to be equal", square, values),
    Case("works with a single query, key, example or value entry", one_of_them, values),
    Case("the gradient reaches the values that were chosen", gradients, values),
    Case("the dtype of the values is kept", dtypes, values),
    Case("q, k and v themselves are not changed", lent, inputs_kept),
    Case("works on whatever device q, k and v are on", devices, values),
)


def _scores(q: Tensor, k: Tensor) -> Tensor:
    return torch.einsum("...lk,...mk->...lm", q, k)


def _picked(of: Tensor, scores: Tensor) -> Tensor:
    """Pick, for each row of scores, the row of `of` where it is largest."""
    return torch.take_along_dim(of, scores.argmax(-1, keepdim=True), dim=-2)


def soft(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """All values are averaged by a softmax. Here the best key alone decides."""
    return _scores(q, k).softmax(-1) @ v


def very_sharp(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """A very sharp softmax comes close to the best key only where it wins by much. If the query is
    short, all scores are close together, and others are mixed in. Pick the place of the best one.
    """
    return (1000 * _scores(q, k)).softmax(-1) @ v


def smallest(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """You take the key with the smallest inner product. A good match has a large one."""
    return _picked(v, -_scores(q, k))


def cosine(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """You compare directions (cosine). That is another convention: here the inner product as it is
    decides, so that long keys count for more.
    """
    return _picked(v, _scores(q, F.normalize(k, dim=-1)))


def nearest(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """You take the nearest key (Euclidean distance). That is another convention: here the inner
    product decides. Write the squared distance out, and look for the term that differs.
    """
    return _picked(v, -(q.unsqueeze(-2) - k.unsqueeze(-3)).square().sum(-1))


def absolute(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The sign of the score is lost: a key that points the opposite way counts as a good match."""
    return _picked(v, _scores(q, k).abs())


def only_positive(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """A score below 0 cannot win: negative scores are set to 0, or the search starts from 0. All
    scores of a query may be negative; the largest of them still wins.
    """
    return _picked(v, _scores(q, k).clamp(min=0))


def keys_not_turned(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The keys are multiplied as they are, (..., M, K). A matrix product takes rows times columns:
    which two axes of k have to change places, so that every query meets every key?
    """
    return _picked(v, q @ k)


def keys_turned_round(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """`k.T` turns round all the axes of k, the batch too. Only the last two should change places:
    see `mT` or `transpose`.
    """
    return _picked(v, q @ k.permute(*reversed(range(k.ndim))))


def entry_by_entry(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """A key is judged by its single largest product with the query. The score is their sum."""
    return _picked(v, (q.unsqueeze(-2) * k.unsqueeze(-3)).amax(-1))


def loudest(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """All queries get the same value: that of the longest key. Where does the query come in?"""
    length = k.square().sum(-1).unsqueeze(-2)
    return _picked(v, length.expand(*q.shape[:-1], k.shape[-2]))


def over_queries(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """You look for the best query of each key: the maximum runs along the wrong axis. There should
    be one answer for each query.
    """
    return _picked(v.new_ones(q.shape[:-1]).unsqueeze(-1) * v[..., :1, :], _scores(k, q))


def one_winner(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """One key wins for all queries together. Each query should have its own winner."""
    return _picked(v, _scores(q, k).sum(-2, keepdim=True)).expand(*q.shape[:-1], -1).clone()


def place_of_it(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """You return the place of the best key. Asked is the value that lies there."""
    return _scores(q, k).argmax(-1)


def key_of_it(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """You return the best key itself. Asked is the value that belongs to it."""
    return _picked(k, _scores(q, k))


def score_of_it(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """You return the best score. Asked is the value of the key that has it."""
    return _scores(q, k).amax(-1)


def times_score(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The value is multiplied by its score. It should come back as it is."""
    return _picked(v, _scores(q, k)) * _scores(q, k).amax(-1, keepdim=True)


def largest_value(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """You take the largest values. The keys decide which value is taken, whatever it is."""
    return v.amax(-2, keepdim=True).expand(*q.shape[:-1], v.shape[-1]).clone()


def indexed_without_batch(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """`v[best]` counts along the first axis of v, which is the batch as soon as there is one. You
    need the axis of the keys, within each example: see `take_along_dim` or `gather`.
    """
    return v[_scores(q, k).argmax(-1)]


def one_entry(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """`gather` takes one entry for each index, so you get the first entry of each value alone. The
    index needs W columns (`expand`), or `take_along_dim`, which repeats it.
    """
    return v.gather(-2, _scores(q, k).argmax(-1, keepdim=True))


def first_example(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Every example of the batch gets the values of the first one."""
    return _picked(v[:1].expand_as(v) if v.ndim > 2 else v, _scores(q, k))


def squeezed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """`squeeze()` without an axis removes every axis of size 1, also one that should stay."""
    return hard_lookup(q, k, v).squeeze()


def with_slope_of_softmax(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The answers are right, but you lend q and k the gradient of a softmax (a straight-through
    estimate). That is a way to train a hard search; here the choice itself is asked, without slope.
    """
    shares = _scores(q, k).softmax(-1)
    return by_one_hot(q, k, v) + (shares - shares.detach()) @ v


def built_anew(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """A new tensor is built from plain numbers (`tolist`, `item`, `torch.tensor`). It has torch's
    default dtype and no gradient. Stay with operations on tensors.
    """
    return torch.tensor(hard_lookup(q, k, v).tolist())


def by_one_hot(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    choice = F.one_hot((q @ k.mT).argmax(-1), k.shape[-2])
    return choice.to(v.dtype) @ v


def by_gather(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    best = torch.max(torch.matmul(q, k.transpose(-1, -2)), dim=-1).indices
    return torch.gather(v, -2, best[..., None].expand(*best.shape, v.shape[-1]))


def query_by_query(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    answers = []
    for i in range(q.shape[-2]):
        scores = (k * q[..., i : i + 1, :]).sum(-1)
        hit = (scores == scores.amax(-1, keepdim=True)).unsqueeze(-1)
        answers.append(torch.where(hit, v, 0).sum(-2))
    return torch.stack(answers, dim=-2)


def by_flat_index(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    best = torch.einsum("...lk,...mk->...lm", q, k).argmax(-1)
    flat = v.reshape(-1, *v.shape[-2:])
    rows = torch.arange(len(flat), device=q.device).unsqueeze(-1)
    return flat[rows, best.reshape(len(flat), -1)].reshape(*q.shape[:-1], v.shape[-1])


EXERCISE = Exercise(
    solution=hard_lookup,
    chapter=CHAPTER,
    title="Hard lookup",
    points=2,
    minutes=6,
    difficulty=1,
    statement=(
        "Search exactly: compare each query with all keys by the inner product, and give it the "
        "value of the key that matches best, unchanged."
    ),
    example=(
        "The query (1, 1) has the inner product 3 + 1 = 4 with the key (3, 1), and 1 + 2 = 3 with "
        "the key (1, 2). The first key wins, so the answer is its value, 10. For the query (0, 1) "
        "the products are 1 and 2: the second key wins, and the answer is 20."
    ),
    conventions=(
        "The inner product decides, not the angle and not the distance: a long key can win "
        "although another one points better.",
        "No two keys match a query equally well: ties do not occur.",
        "A choice has no slope: the gradient reaches the chosen values, and neither q nor k.",
        "The answer has shape (..., L, W), and the dtype and device of v.",
    ),
    hints=(
        "All inner products at once are one matrix product, with the keys turned on their side: "
        "shape (..., L, M).",
        "`argmax` along the axis of the keys gives one place for each query.",
        "To pick rows of v by place within each example, see `take_along_dim` or `gather`; or make "
        "rows of a single 1 and zeros, and multiply.",
    ),
    cases=CASES,
    mistakes=(
        soft,
        very_sharp,
        smallest,
        cosine,
        nearest,
        absolute,
        only_positive,
        keys_not_turned,
        keys_turned_round,
        entry_by_entry,
        loudest,
        over_queries,
        one_winner,
        place_of_it,
        key_of_it,
        score_of_it,
        times_score,
        largest_value,
        indexed_without_batch,
        one_entry,
        first_example,
        squeezed,
        with_slope_of_softmax,
        built_anew,
        on_the_cpu(hard_lookup),
        always_float32(hard_lookup),
        cut_from_autograd(hard_lookup),
    ),
    alternatives=(by_one_hot, by_gather, query_by_query, by_flat_index),
)
