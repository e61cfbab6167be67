"""Exercise: softmax(q k^T / sqrt(K)) v.

Out of scope: masks (chapter 03), dropout (chapter 12).
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_02 import CHAPTER
from autograder.exercises.chapter_02 import attention_weights as wrong
from autograder.inputs import described, normal, sizes
from autograder.spec import Case, Exercise, Implementation, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import elsewhere
from autograder.wire import call, gradient
from solutions.attention import attention_weights, scaled_dot_product_attention
from solutions.softmax import softmax

ENDINGS = {"q": "L K", "k": "M K", "v": "M W"}


def _axes(leading: str, ending: str) -> str:
    return f"{leading} {ending}".strip()


def _trial(tensors: list[Tensor], of: dict[str, int], leading: str = "B", note: str = "") -> Trial:
    words = ", ".join(described(name, _axes(leading, e), of) for name, e in ENDINGS.items())
    return Trial(call(*tensors), words + note, of, _axes(leading, "L W"))


def _drawn(rng: Generator, leading: str = "B", dtype: torch.dtype = torch.float32) -> Trial:
    of = sizes(rng, _axes(leading, "L M K W"))
    tensors = [normal(rng, _axes(leading, e), of, dtype=dtype) for e in ENDINGS.values()]
    note = "" if dtype == torch.float32 else f", {str(dtype).removeprefix('torch.')}"
    return _trial(tensors, of, leading, note)


def one_batch(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def wide_keys(rng: Generator) -> Iterator[Trial]:
    of = {**sizes(rng, "B L M W"), "K": 64}
    yield _trial([normal(rng, f"B {e}", of) for e in ENDINGS.values()], of)


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, leading="B H")
    yield _drawn(rng, leading="")
    yield _drawn(rng, leading="X B H")


def one_query(rng: Generator) -> Iterator[Trial]:
    for single in "LMBW":
        of = {**sizes(rng, "B L M K W"), single: 1}
        yield _trial([normal(rng, f"B {e}", of) for e in ENDINGS.values()], of)


def self_attention(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L K")
    of |= {"M": of["L"], "W": of["K"]}
    q, k, v = (normal(rng, f"B {e}", of) for e in ENDINGS.values())
    words = f"q, k and v (B, L, K) = ({of['B']}, {of['L']}, {of['K']})"
    named = {letter: of[letter] for letter in "BLK"}
    yield Trial(call(q, k, v), words, named, "B L K")
    of = sizes(rng, "B L M")
    of |= {"K": of["M"], "W": of["M"]}
    tensors = [normal(rng, f"B {ending[::-1]}", of).mT for ending in ENDINGS.values()]
    yield _trial(tensors, of)  # not contiguous


def far_apart(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L M K W")
    q, k = torch.zeros(of["B"], of["L"], of["K"]), torch.zeros(of["B"], of["M"], of["K"])
    signs = 1 - 2 * (torch.arange(of["L"]) % 2)  # rows of large and of very negative scores
    q[..., 0] = signs * (100.0 * torch.arange(of["L"]) + 500.0 * torch.arange(of["B"])[:, None])
    k[..., 0] = 20.0 + 20.0 * torch.rand(of["B"], of["M"], generator=rng).argsort(-1)
    yield _trial([q, k, normal(rng, "B M W", of)], of, note=", scores of thousands")


def gradients(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    cotangent = normal(rng, "B L W", trial.sizes)
    yield Trial(gradient(cotangent, *trial.request.calls[0].args), trial.inputs, trial.sizes)


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
    Case("each answer is the weighted average of the values", one_batch, values, weight=2),
    Case("the scale is that of the key's width", wide_keys, values),
    Case("works with no batch axis and with several", other_ranks, values),
    Case("works where sizes happen to be equal", self_attention, values),
    Case("works with a single query, key, example or value entry", one_query, values),
    Case("scores in the thousands stay finite", far_apart, values),
    Case("the gradient reaches q, k and v", gradients, values),
    Case("the dtype of q, k and v is kept", dtypes, values, tolerance=6e-2),
    Case("q, k and v themselves are not changed", all_kinds, inputs_kept, tolerance=6e-2),
    Case("works on whatever device q, k and v are on", devices, values),
)


# Wrong weights, averaged over the values: the hint is the same.
OF_THE_WEIGHTS = (
    wrong.no_scale,
    wrong.divided_by_width,
    wrong.root_of_keys,
    wrong.root_of_queries,
    wrong.scale_of_64,
    wrong.precedence,
    wrong.multiplied,
    wrong.fourth_root,
    wrong.scaled_afterwards,
    wrong.over_queries,
    wrong.over_axis_one,
    wrong.over_axis_two,
    wrong.over_batch,
    wrong.over_everything,
    wrong.no_softmax,
    wrong.sum_normalised,
    wrong.unstable,
    wrong.shifted_globally,
    wrong.softmax_twice,
    wrong.opposite,
    wrong.cosine,
    wrong.negative_distance,
    wrong.causal,
    wrong.reshaped,
    wrong.times_key_unchanged,
    wrong.transposed_one_two,
    wrong.transposed_by_t,
    wrong.transposed_by_capital_t,
    wrong.in_place,
)


def _with_values(mistake: Implementation) -> Implementation:
    def answer(q: Tensor, k: Tensor, v: Tensor) -> Any:
        return mistake(q, k) @ v

    answer.__name__, answer.__doc__ = mistake.__name__, mistake.__doc__
    return answer


def _scores(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.transpose(-2, -1)


def root_of_values(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The scale is the root of W, the width of the values. A score adds up products of q and k:
    whose width counts?
    """
    return softmax(_scores(q, k) / math.sqrt(v.shape[-1])) @ v


def on_the_cpu(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """q, k and v are moved to the CPU, and the result stays there. Leave everything on the device
    of q.
    """
    return scaled_dot_product_attention(q.cpu(), k.cpu(), v.cpu())


def value_transposed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """v is transposed. One row of weights times v, as it is, is a weighted sum of its rows."""
    return attention_weights(q, k) @ v.transpose(-2, -1)


def elementwise_product(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """`*` multiplies entry by entry. A weighted sum of the values is a matrix product, `@`."""
    return attention_weights(q, k) * v


def scaled_twice(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The scores are scaled as they should be, and the answers are scaled once more."""
    return scaled_dot_product_attention(q, k, v) / math.sqrt(q.shape[-1])


def hard(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Each query takes the value of its best key alone. Asked is the average over all keys."""
    return v.take_along_dim(_scores(q, k).argmax(-1, keepdim=True), dim=-2)


def mean_pooling(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Every query gets the plain mean of the values, whatever q and k are."""
    return v.mean(-2, keepdim=True).expand(*q.shape[:-1], v.shape[-1])


def sum_of_exponentials(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The weights are exponentials that are never divided by their sum."""
    scores = _scores(q, k) / math.sqrt(q.shape[-1])
    return (scores - scores.amax(-1, keepdim=True)).exp() @ v


def divided_by_number(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The sum over the keys is divided by their number as well. The weights already sum to 1."""
    return scaled_dot_product_attention(q, k, v) / k.shape[-2]


def weights_alone(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """You return the weights. They still have to meet the values."""
    return attention_weights(q, k)


def with_weights(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """You return a pair, the answers and the weights. Here only the answers are asked."""
    return scaled_dot_product_attention(q, k, v), attention_weights(q, k)


def softmax_of_answers(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The softmax comes after the values are mixed in. It belongs on the scores."""
    return softmax(_scores(q, k) / math.sqrt(q.shape[-1]) @ v)


def keys_for_values(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The keys are averaged where the values should be."""
    return attention_weights(q, k) @ k


def queries_for_keys(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Queries are compared with queries: k is not used."""
    return attention_weights(q, q) @ v


def roles_swapped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Keys and queries have changed roles: there should be one answer for each query."""
    return attention_weights(k, q) @ v


def weights_transposed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The weights are transposed before they meet the values: each row of weights belongs to a
    query.
    """
    return attention_weights(q, k).transpose(-2, -1) @ v


def own_buffer(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """You fill a tensor made with `torch.zeros` or `torch.empty` alone: it is float32 and on the
    CPU whatever q is. See `q.new_zeros`, or build the result by an expression.
    """
    out = torch.zeros(*q.shape[:-1], v.shape[-1])
    out[:] = scaled_dot_product_attention(q, k, v)
    return out


def always_float32(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The result is float32 whatever the dtype of q. Give it back in the dtype that came in."""
    return scaled_dot_product_attention(q.float(), k.float(), v.float())


def cut_from_autograd(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The numbers are right but carry no gradient: `detach`, `.data`, `no_grad`, numpy or
    `torch.tensor` cuts them off from q, k and v.
    """
    return scaled_dot_product_attention(q.detach(), k.detach(), v.detach())


def weights_detached(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The gradient reaches v but neither q nor k: the weights are cut off, so the model could never
    learn where to look.
    """
    return attention_weights(q, k).detach() @ v


def by_einsum(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = torch.einsum("...lk,...mk->...lm", q, k) / q.shape[-1] ** 0.5
    return torch.einsum("...lm,...mw->...lw", torch.softmax(scores, dim=-1), v)


def normalised_last(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Divide by the sum of the weights after the product, as fused kernels do."""
    scores = torch.matmul(q, k.mT) * (1.0 / math.sqrt(k.size(-1)))
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return torch.matmul(powers, v) / powers.sum(-1, keepdim=True)


def key_by_key(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """One pass over the keys with a running maximum and sum (the idea of FlashAttention)."""
    top = q.new_full(q.shape[:-1], -math.inf)
    total, mixed = torch.zeros_like(top), q.new_zeros(*q.shape[:-1], v.shape[-1])
    for m in range(k.shape[-2]):
        score = (q * k[..., m : m + 1, :]).sum(-1) / math.sqrt(q.shape[-1])
        higher = torch.maximum(top, score)
        shrink, power = torch.exp(top - higher), torch.exp(score - higher)
        mixed = mixed * shrink.unsqueeze(-1) + power.unsqueeze(-1) * v[..., m : m + 1, :]
        total, top = total * shrink + power, higher
    return mixed / total.unsqueeze(-1)


def query_by_query(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    answers = []
    for i in range(q.shape[-2]):
        weights = (k @ q[..., i, :].unsqueeze(-1)).squeeze(-1).div(k.shape[-1] ** 0.5).softmax(-1)
        answers.append((weights.unsqueeze(-1) * v).sum(-2))
    return torch.stack(answers, -2)


def everything_scaled_first(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    root = q.shape[-1] ** 0.25
    return F.softmax((q / root) @ (k / root).transpose(-1, -2), dim=-1).matmul(v)


EXERCISE = Exercise(
    solution=scaled_dot_product_attention,
    chapter=CHAPTER,
    title="Scaled dot-product attention",
    points=4,
    minutes=10,
    difficulty=2,
    statement=(
        "Put it together: the weights of every query over the keys, then the weighted average of "
        "the values. Use your own functions from above or torch's softmax; torch's ready-made "
        "attention is not allowed."
    ),
    example=(
        "With the query and keys of the exercise `attention_weights`, the weights are 0.731 and "
        "0.269. If the two values are 10 and 20, the answer is 0.731 x 10 + 0.269 x 20 = 12.69."
    ),
    conventions=(
        "Every query sees every key: no mask, no dropout.",
        "The values may be wider or narrower than the keys: W and K are different sizes.",
        "Only the answers are returned, (..., L, W), in the dtype and on the device of q. "
        "Gradients flow back to q, k and v.",
    ),
    hints=(
        "One row of weights times the matrix of values is a weighted sum of the rows of that "
        "matrix.",
        "Shapes tell the order: (..., L, M) times (..., M, W) is (..., L, W).",
        "If you have `attention_weights`, one line is enough.",
    ),
    cases=CASES,
    mistakes=(
        *(_with_values(mistake) for mistake in OF_THE_WEIGHTS),
        root_of_values,
        on_the_cpu,
        value_transposed,
        elementwise_product,
        scaled_twice,
        hard,
        mean_pooling,
        sum_of_exponentials,
        divided_by_number,
        weights_alone,
        with_weights,
        softmax_of_answers,
        keys_for_values,
        queries_for_keys,
        roles_swapped,
        weights_transposed,
        own_buffer,
        always_float32,
        cut_from_autograd,
        weights_detached,
    ),
    alternatives=(
        by_einsum,
        normalised_last,
        key_by_key,
        query_by_query,
        everything_scaled_first,
    ),
    forbidden=READY_MADE_ATTENTION,
)
