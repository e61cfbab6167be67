"""Exercise: softmax(q k^T / sqrt(K)), the weights of attention.

Out of scope: masks (chapter 03) and heads (chapter 04).
"""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_02 import CHAPTER
from autograder.inputs import described, normal, sizes
from autograder.spec import Case, Exercise, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import elsewhere
from autograder.wire import call, gradient
from solutions.attention import attention_weights
from solutions.softmax import softmax


def _words(leading: str, of: dict[str, int], note: str = "") -> str:
    q, k = f"{leading} L K".strip(), f"{leading} M K".strip()
    return f"{described('q', q, of)}, {described('k', k, of)}{note}"


def _trial(q: Tensor, k: Tensor, of: dict[str, int], leading: str = "B", note: str = "") -> Trial:
    return Trial(call(q, k), _words(leading, of, note), of, f"{leading} L M".strip())


def _drawn(rng: Generator, leading: str = "B", dtype: torch.dtype = torch.float32) -> Trial:
    of = sizes(rng, f"{leading} L M K".strip())
    q = normal(rng, f"{leading} L K".strip(), of, dtype=dtype)
    k = normal(rng, f"{leading} M K".strip(), of, dtype=dtype)
    note = "" if dtype == torch.float32 else f", {str(dtype).removeprefix('torch.')}"
    return _trial(q, k, of, leading, note)


def one_batch(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def wide_keys(rng: Generator) -> Iterator[Trial]:
    of = {**sizes(rng, "B L M"), "K": 64}
    yield _trial(normal(rng, "B L K", of), normal(rng, "B M K", of), of)


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, leading="B H")
    yield _drawn(rng, leading="")
    yield _drawn(rng, leading="X B H")


def one_query(rng: Generator) -> Iterator[Trial]:
    for single in "LMB":
        of = {**sizes(rng, "B L M K"), single: 1}
        yield _trial(normal(rng, "B L K", of), normal(rng, "B M K", of), of)


def square(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L K")
    of["M"] = of["L"]
    q, k = normal(rng, "B L K", of), normal(rng, "B M K", of)
    yield Trial(call(q, k), _words("B", of), {k_: v for k_, v in of.items() if k_ != "M"}, "B L L")
    of = sizes(rng, "B L M")
    of["K"] = of["M"]
    q, k = normal(rng, "B L K", of), normal(rng, "B K M", of).mT  # k is not contiguous
    yield _trial(q, k, of)


def far_apart(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L M K")
    q, k = torch.zeros(of["B"], of["L"], of["K"]), torch.zeros(of["B"], of["M"], of["K"])
    signs = 1 - 2 * (torch.arange(of["L"]) % 2)  # rows of large and of very negative scores
    q[..., 0] = signs * (100.0 * torch.arange(of["L"]) + 500.0 * torch.arange(of["B"])[:, None])
    k[..., 0] = 20.0 + 20.0 * torch.rand(of["B"], of["M"], generator=rng).argsort(-1)
    yield _trial(q, k, of, note=", scores of thousands")


def gradients(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L M K")
    q, k, out = (normal(rng, axes, of) for axes in ("B L K", "B M K", "B L M"))
    yield Trial(gradient(out, q, k), _words("B", of), of)
    two = [tensor.unsqueeze(1) for tensor in (out, q, k)]
    yield Trial(gradient(*two), f"{_words('B', of)}, a second batch axis", of)


def dtypes(rng: Generator) -> Iterator[Trial]:
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        yield _drawn(rng, dtype=dtype)


def all_kinds(rng: Generator) -> Iterator[Trial]:
    yield from one_batch(rng)
    yield from dtypes(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    yield trial
    yield elsewhere(trial)


CASES = (
    Case("each query's weights over the keys sum to 1", one_batch, values, weight=2),
    Case("the scale is that of the key's width", wide_keys, values),
    Case("works with no batch axis and with several", other_ranks, values),
    Case("works where sizes happen to be equal", square, values),
    Case("works with a single query, key or example", one_query, values),
    Case("scores in the thousands stay finite", far_apart, values),
    Case("the gradient reaches q and k", gradients, values),
    Case("the dtype of q and k is kept", dtypes, values, tolerance=6e-2),
    Case("q and k themselves are not changed", all_kinds, inputs_kept, tolerance=6e-2),
    Case("works on whatever device q and k are on", devices, values),
)


def _scores(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.transpose(-2, -1)


def no_scale(q: Tensor, k: Tensor) -> Tensor:
    """The scores are not scaled: their variance is K. By what do you divide to bring it back to
    1?
    """
    return softmax(_scores(q, k))


def divided_by_width(q: Tensor, k: Tensor) -> Tensor:
    """The scores are divided by K, the variance. To bring a variance of K back to 1, divide by the
    standard deviation.
    """
    return softmax(_scores(q, k) / q.shape[-1])


def multiplied(q: Tensor, k: Tensor) -> Tensor:
    """The scores are multiplied by sqrt(K), which spreads them further. They should come closer."""
    return softmax(_scores(q, k) * math.sqrt(q.shape[-1]))


def fourth_root(q: Tensor, k: Tensor) -> Tensor:
    """The scores are divided by the fourth root of K. If you scale q and k before the product, both
    need it.
    """
    return softmax(_scores(q, k) / q.shape[-1] ** 0.25)


def root_of_keys(q: Tensor, k: Tensor) -> Tensor:
    """The scale is the root of the number of keys. The variance of a score is the number of terms
    that it adds up: how many is that?
    """
    return softmax(_scores(q, k) / math.sqrt(k.shape[-2]))


def root_of_queries(q: Tensor, k: Tensor) -> Tensor:
    """The scale is the root of the number of queries: the size was read from the wrong axis of q.
    The variance of a score is the number of terms that it adds up.
    """
    return softmax(_scores(q, k) / math.sqrt(q.shape[-2]))


def root_of_batch(q: Tensor, k: Tensor) -> Tensor:
    """The scale is the root of the size of the first axis. Read K from the last one."""
    return softmax(_scores(q, k) / math.sqrt(q.shape[0]))


def scale_of_64(q: Tensor, k: Tensor) -> Tensor:
    """The scores are divided by 8 whatever K is. That is right for keys of 64 entries only."""
    return softmax(_scores(q, k) / 8)


def precedence(q: Tensor, k: Tensor) -> Tensor:
    """`K ** 1/2` is (K ** 1) / 2: the power is taken first. Write `K ** 0.5` or `math.sqrt(K)`."""
    return softmax(_scores(q, k) / (q.shape[-1] / 2))


def times_key_unchanged(q: Tensor, k: Tensor) -> Tensor:
    """q and k have the same last axis, so they cannot be multiplied as they are: in a product, the
    last axis of the left side meets the axis before the last of the right side.
    """
    return softmax(q @ k / math.sqrt(q.shape[-1]))


def reshaped(q: Tensor, k: Tensor) -> Tensor:
    """`reshape` and `view` cut the numbers of k into new rows. To swap two axes, transpose them."""
    swapped = k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
    return softmax(q @ swapped / math.sqrt(q.shape[-1]))


def causal(q: Tensor, k: Tensor) -> Tensor:
    """Later keys are hidden from earlier queries. Masks come in the next chapter; here every query
    sees every key.
    """
    scores = _scores(q, k) / math.sqrt(q.shape[-1])
    return softmax(scores.masked_fill(torch.ones_like(scores).tril() == 0, -math.inf))


def on_the_cpu(q: Tensor, k: Tensor) -> Tensor:
    """q and k are moved to the CPU, or a tensor of more than one entry is made there. Leave
    everything on the device of q.
    """
    return attention_weights(q.cpu(), k.cpu())


def over_queries(q: Tensor, k: Tensor) -> Tensor:
    """Your weights are a softmax over the query axis: for each key they sum to 1 over the queries.
    Each query should share out 1 over the keys, along the last axis.
    """
    return softmax(_scores(q, k) / math.sqrt(q.shape[-1]), dim=-2)


def over_axis_one(q: Tensor, k: Tensor) -> Tensor:
    """The softmax runs along axis 1, which is the axis of the keys only if there is no batch.
    Count from the end: the keys are on axis -1.
    """
    return softmax(_scores(q, k) / math.sqrt(q.shape[-1]), dim=1)


def over_axis_two(q: Tensor, k: Tensor) -> Tensor:
    """The softmax runs along axis 2, which is the axis of the keys only if there is exactly one
    batch axis. Count from the end.
    """
    return softmax(_scores(q, k) / math.sqrt(q.shape[-1]), dim=2)


def over_batch(q: Tensor, k: Tensor) -> Tensor:
    """The softmax runs along the first axis, so examples of one batch compete with each other."""
    return softmax(_scores(q, k) / math.sqrt(q.shape[-1]), dim=0)


def over_everything(q: Tensor, k: Tensor) -> Tensor:
    """All weights together sum to 1. Each query should have 1 to share out by itself."""
    scores = _scores(q, k) / math.sqrt(q.shape[-1])
    return softmax(scores.flatten(), 0).reshape(scores.shape)


def scaled_afterwards(q: Tensor, k: Tensor) -> Tensor:
    """The scale is applied to the weights, after the softmax, so they no longer sum to 1. Scale the
    scores.
    """
    return softmax(_scores(q, k)) / math.sqrt(q.shape[-1])


def no_softmax(q: Tensor, k: Tensor) -> Tensor:
    """You return the scaled scores. Softmax turns them into weights."""
    return _scores(q, k) / math.sqrt(q.shape[-1])


def sum_normalised(q: Tensor, k: Tensor) -> Tensor:
    """The scores are divided by their sum without the exponential, so weights can be negative."""
    scores = _scores(q, k)
    return scores / scores.sum(-1, keepdim=True)


def unstable(q: Tensor, k: Tensor) -> Tensor:
    """The scores are exponentiated as they are, and exp(1000) is infinite in float32. Use a softmax
    that is safe for large scores.
    """
    weights = (_scores(q, k) / math.sqrt(q.shape[-1])).exp()
    return weights / weights.sum(-1, keepdim=True)


def shifted_globally(q: Tensor, k: Tensor) -> Tensor:
    """The largest score of the whole tensor is taken from every row, so that rows far below it lose
    all their weight. Each row needs its own maximum.
    """
    scores = _scores(q, k) / math.sqrt(q.shape[-1])
    weights = (scores - scores.max()).exp()
    return weights / weights.sum(-1, keepdim=True)


def transposed(q: Tensor, k: Tensor) -> Tensor:
    """You compute k q^T: the rows are keys and the columns are queries. Rows should be queries."""
    return softmax(_scores(k, q) / math.sqrt(q.shape[-1]))


def transposed_at_the_end(q: Tensor, k: Tensor) -> Tensor:
    """The weights are right, but the axes of queries and keys are swapped at the end: rows should
    be queries.
    """
    return attention_weights(q, k).transpose(-2, -1)


def transposed_by_t(q: Tensor, k: Tensor) -> Tensor:
    """`transpose(0, 1)` swaps the batch axis, or the wrong ones. Which two axes of k must change
    places, counted from the end?
    """
    return softmax(q @ k.transpose(0, 1) / math.sqrt(q.shape[-1]))


def transposed_by_capital_t(q: Tensor, k: Tensor) -> Tensor:
    """`k.T` and `k.t()` turn all axes round, the batch axes too: they are for matrices alone.
    Swap the last two alone.
    """
    return softmax(q @ k.permute(*reversed(range(k.ndim))) / math.sqrt(q.shape[-1]))


def transposed_one_two(q: Tensor, k: Tensor) -> Tensor:
    """`transpose(1, 2)` fits exactly one batch axis. Count the two axes from the end, and any
    number of batch axes will do.
    """
    return softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]))


def cosine(q: Tensor, k: Tensor) -> Tensor:
    """The scores are cosines: the lengths of q and k are divided out. Here they count; the only
    scale is the root of K.
    """
    return softmax(F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1))


def negative_distance(q: Tensor, k: Tensor) -> Tensor:
    """The scores are negative squared distances. Asked is the inner product."""
    return softmax(-((q.unsqueeze(-2) - k.unsqueeze(-3)) ** 2).sum(-1) / math.sqrt(q.shape[-1]))


def hard(q: Tensor, k: Tensor) -> Tensor:
    """Each query gives all its weight to its best key. Asked is the soft choice."""
    scores = _scores(q, k)
    return F.one_hot(scores.argmax(-1), scores.shape[-1]).to(q.dtype)


def uniform(q: Tensor, k: Tensor) -> Tensor:
    """All keys get the same weight, whatever q and k are."""
    return torch.full_like(_scores(q, k), 1 / k.shape[-2])


def opposite(q: Tensor, k: Tensor) -> Tensor:
    """The worst match gets the largest weight: a sign is wrong."""
    return attention_weights(-q, k)


def softmax_twice(q: Tensor, k: Tensor) -> Tensor:
    """Softmax is applied twice, which flattens the weights."""
    return softmax(attention_weights(q, k))


def in_place(q: Tensor, k: Tensor) -> Tensor:
    """An operation writes into the caller's q or k (`/=`, `mul_`). Make a new tensor instead."""
    q.data /= math.sqrt(q.shape[-1])
    return softmax(_scores(q, k))


def own_buffer(q: Tensor, k: Tensor) -> Tensor:
    """You fill a tensor made with `torch.zeros` or `torch.empty` alone: it is float32 and on the
    CPU whatever q is. See `q.new_zeros`, or build the result by an expression.
    """
    out = torch.zeros(*q.shape[:-1], k.shape[-2])
    out[:] = attention_weights(q, k)
    return out


def always_float32(q: Tensor, k: Tensor) -> Tensor:
    """The result is float32 whatever the dtype of q. Give it back in the dtype that came in."""
    return attention_weights(q.float(), k.float())


def cut_from_autograd(q: Tensor, k: Tensor) -> Tensor:
    """The numbers are right but carry no gradient: `detach`, `.data`, `no_grad`, numpy or
    `torch.tensor` cuts them off from q and k.
    """
    return attention_weights(q.detach(), k.detach())


def key_detached(q: Tensor, k: Tensor) -> Tensor:
    """No gradient reaches k, so the keys would never learn."""
    return attention_weights(q, k.detach())


def query_detached(q: Tensor, k: Tensor) -> Tensor:
    """No gradient reaches q, so the queries would never learn."""
    return attention_weights(q.detach(), k)


def by_einsum(q: Tensor, k: Tensor) -> Tensor:
    scores = torch.einsum("...lk,...mk->...lm", q, k) * q.shape[-1] ** -0.5
    return torch.softmax(scores, dim=-1)


def query_scaled_first(q: Tensor, k: Tensor) -> Tensor:
    return F.softmax(torch.matmul(q / q.size(-1) ** 0.5, k.mT), dim=-1)


def both_scaled(q: Tensor, k: Tensor) -> Tensor:
    root = k.shape[-1] ** 0.25
    scores = (q / root) @ (k / root).transpose(-1, -2)
    powers = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return powers / powers.sum(dim=-1, keepdim=True)


def broadcast_and_sum(q: Tensor, k: Tensor) -> Tensor:
    products = q.unsqueeze(-2) * k.unsqueeze(-3)
    root = torch.tensor(float(q.shape[-1])).sqrt().item()
    return products.sum(-1).div(root).softmax(-1)


def query_by_query(q: Tensor, k: Tensor) -> Tensor:
    rows = []
    for i in range(q.shape[-2]):
        scores = (k * q[..., i : i + 1, :]).sum(dim=-1) / math.sqrt(k.shape[-1])
        rows.append(torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True)))
    return torch.stack(rows, dim=-2)


EXERCISE = Exercise(
    solution=attention_weights,
    chapter=CHAPTER,
    title="Who listens to whom",
    points=4,
    minutes=10,
    difficulty=2,
    statement=(
        "Write the weights of attention: the inner product of every query with every key, scaled "
        "so that its variance is 1 when the entries are independent with variance 1, then a "
        "softmax over the keys. Use your `softmax` from above or torch's, as you like."
    ),
    example=(
        "The query (2, 0, 0, 0) has the inner products 2 and 0 with the keys (1, 0, 0, 0) and "
        "(0, 1, 0, 0). K is 4, so they are divided by 2: the scores are 1 and 0. "
        "e / (e + 1) = 0.731, so the weights are 0.731 and 0.269."
    ),
    conventions=(
        "Queries are rows and keys are columns: the result is (..., L, M), L queries by M keys.",
        "Any number of batch axes may stand in front, also none; they are the same for q and k.",
        "The result has the dtype and device of q; q and k themselves are not changed, and "
        "gradients flow back to both.",
    ),
    hints=(
        "A matrix product adds up over the last axis of its left side and the axis before the last "
        "of its right side. Which two axes of k must change places?",
        "The variance of a score is the number of products that it adds up. Which axis of q has "
        "that size?",
        "Scale before the softmax, and let the softmax run over the axis along which the keys "
        "stand.",
    ),
    cases=CASES,
    mistakes=(
        no_scale,
        divided_by_width,
        multiplied,
        fourth_root,
        root_of_keys,
        root_of_queries,
        root_of_batch,
        scale_of_64,
        precedence,
        times_key_unchanged,
        reshaped,
        causal,
        on_the_cpu,
        over_queries,
        over_axis_one,
        over_axis_two,
        over_batch,
        over_everything,
        scaled_afterwards,
        no_softmax,
        sum_normalised,
        unstable,
        transposed,
        transposed_at_the_end,
        transposed_by_t,
        transposed_by_capital_t,
        transposed_one_two,
        cosine,
        negative_distance,
        hard,
        uniform,
        opposite,
        softmax_twice,
        in_place,
        own_buffer,
        always_float32,
        cut_from_autograd,
        key_detached,
        query_detached,
        shifted_globally,
    ),
    alternatives=(by_einsum, query_scaled_first, both_scaled, broadcast_and_sum, query_by_query),
    forbidden=READY_MADE_ATTENTION,
)
