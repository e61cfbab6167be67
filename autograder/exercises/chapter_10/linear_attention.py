"""Exercise: attention without a softmax, with a state that goes from chunk to chunk.

Out of scope: other features than elu + 1, decay, numbers so small that f is 0.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_10 import CHAPTER
from autograder.exercises.chapter_10._draws import Sizes, drawn_sizes, layouts, qkv, words
from autograder.inputs import integer
from autograder.slips import (
    always_float32,
    changed_in_place,
    cut_from_autograd,
    float64_narrowed,
    on_the_cpu,
)
from autograder.spec import Case, Exercise, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request, call
from solutions.linear import State, linear_attention
from solutions.masked import masked_attention
from solutions.masks import causal_mask

RETURNS = "answers, state"
Answer = tuple[Tensor, State]


def _sizes(rng: Generator, tokens: int) -> Sizes:
    return drawn_sizes(rng, L=tokens)


def _state(rng: Generator, of: Sizes) -> State:
    """Make the state after some tokens."""
    _, k, v = qkv(rng, {**of, "L": 11})
    return linear_attention(k, k, v)[1]


def _given(of: Sizes, given: list[Any], note: str = "") -> Trial:
    return Trial(call(*given), words(of) + note, of, RETURNS)


def _fresh(rng: Generator, tokens: int) -> Trial:
    of = _sizes(rng, tokens)
    return _given(of, qkv(rng, of), ", no state")


def _later(rng: Generator, tokens: int) -> Trial:
    of = _sizes(rng, tokens)
    return _given(of, [*qkv(rng, of), _state(rng, of)], ", a state of 11 tokens")


def from_nothing(rng: Generator) -> Iterator[Trial]:
    yield _fresh(rng, integer(rng, 10, 12))
    of = _sizes(rng, 10)
    yield _given(of, [*qkv(rng, of), None], ", state None")


def from_a_state(rng: Generator) -> Iterator[Trial]:
    yield _later(rng, integer(rng, 10, 12))


def one_token(rng: Generator) -> Iterator[Trial]:
    yield _later(rng, 1)
    yield _fresh(rng, 1)


def in_chunks(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, 0)
    calls, state = [], None
    for tokens in (3, 1, 1, 4, 2):
        given = qkv(rng, {**of, "L": tokens})
        calls.append(Call((*given, state)))
        _, state = linear_attention(given[0], given[1], given[2], state)
    shown = f"chunks of 3, 1, 1, 4 and 2 tokens, K = {of['K']}, W = {of['W']}"
    yield Trial(Request(tuple(calls)), shown, of, RETURNS)


def two_texts(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, 10)
    calls = tuple(Call(tuple(qkv(rng, of))) for _ in range(3))
    yield Trial(Request(calls), f"{words(of)}, no state, three texts", of, RETURNS)


def forks(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, 10)
    state = _state(rng, of)
    calls = tuple(Call((*qkv(rng, of), state)) for _ in range(2))
    yield Trial(Request(calls), f"{words(of)}, two texts from one state", of, RETURNS)


def small(rng: Generator) -> Iterator[Trial]:
    for letter in "BHKW":
        of = {**_sizes(rng, 10), letter: 1}
        yield _given(of, [*qkv(rng, of), _state(rng, of)], ", a state")


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    of = dict.fromkeys("BHLKW", integer(rng, 3, 4))
    yield _given(of, [*qkv(rng, of), _state(rng, of)], ", a state")


def small_features(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, 10)
    q, k, v = (x.double() for x in qkv(rng, of))
    yield _given(of, [q - 9, k - 9, v], ", float64, queries and keys about -9")


def large_features(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, 10)
    q, k, v = qkv(rng, of)
    yield _given(of, [100 * q.abs(), 100 * k.abs(), v], ", queries and keys of size 100")
    yield _given(of, [q, k, 1e4 * v], ", values of size 10,000")
    yield _given(of, [q, k, 1e-6 * v], ", values of size 0.000001")


def long_text(rng: Generator) -> Iterator[Trial]:
    of = {"B": 1, "H": 2, "L": integer(rng, 290, 300), "K": 3, "W": 4}
    yield _given(of, qkv(rng, of), ", no state")


def not_contiguous(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, 10)
    tensors, state = qkv(rng, of), _state(rng, of)
    for name, same in layouts(tensors):
        yield _given(of, [*same, state], f", {name}")


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_fresh(rng, 10), rng, "B H L W")
    yield backward(_later(rng, 10), rng, "B H L W")


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_later(rng, 10))
    of = _sizes(rng, 10)
    q, k, v = (x.double() for x in qkv(rng, of))
    yield _given(of, [q, k, 1e60 * v], ", float64, values of size 1e60")


def kept(rng: Generator) -> Iterator[Trial]:
    yield _later(rng, 10)
    yield _fresh(rng, 10)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_fresh(rng, 10))  # here an answer makes a state of its own


CASES = (
    Case("a first chunk attends causally to itself", from_nothing, values, weight=2),
    Case("a later chunk goes on from the state", from_a_state, values, weight=2),
    Case("one token at a time", one_token, values),
    Case("chunk after chunk, as in generation", in_chunks, values),
    Case("a second text does not hear of the first", two_texts, values),
    Case("two continuations can share one state", forks, inputs_kept),
    Case("works for one example, head or entry", small, values),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("small features count as much as large ones", small_features, values),
    Case("large features and values, small values", large_features, values),
    Case("some hundred tokens", long_text, values),
    Case("works on tensors that are not contiguous", not_contiguous, values),
    Case("the gradient reaches tokens and state", gradients, values),
    Case("the dtype is kept, and its range", dtypes, values, tolerance=6e-2),
    Case("nothing that comes in is changed", kept, inputs_kept),
    Case("works on whatever device the tensors are on", devices, values),
)


def _features(x: Tensor) -> Tensor:
    return F.elu(x) + 1


Feature = Callable[[Tensor], Tensor]


def _with(  # noqa: PLR0917 - those of the answer come first
    q: Tensor,
    k: Tensor,
    v: Tensor,
    state: State | None,
    of_q: Feature = _features,
    of_k: Feature = _features,
    *,
    eps: float = 0.0,
    offset: int = 0,
) -> Answer:
    """Attend with other features, something added below, or another diagonal."""
    q, k = of_q(q), of_k(k)
    seen = torch.ones(q.shape[2], q.shape[2], device=q.device, dtype=q.dtype).tril(offset)
    weights = (q @ k.mT) * seen
    top, below = weights @ v, weights.sum(-1, keepdim=True)
    table, total = k.mT @ v, k.sum(2)
    if state is not None:
        top, below = top + q @ state[0], below + q @ state[1][..., None]
        table, total = table + state[0], total + state[1]
    return top / (below + eps), (table, total)


def not_causal(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """All tokens of the chunk use the state at its end, and hear later ones. Each token has a state
    of its own: the sum up to itself.
    """
    return _with(q, k, v, state, offset=q.shape[2])


def itself_left_out(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """A token is answered before it is added to the state, and does not hear itself. The first one
    hears nothing at all, 0 / 0.
    """
    return _with(q, k, v, state, offset=-1)


def one_too_many(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """Each token hears the one after it, too."""
    return _with(q, k, v, state, offset=1)


def not_divided(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """The answer is not divided by f(q) . z, so the weights do not sum to 1, and answers grow with
    the text.
    """
    _, grown = linear_attention(q, k, v, state)
    ones = torch.cat([v, torch.ones_like(v[..., :1])], -1)
    past = state and (torch.cat([state[0], state[1][..., None]], -1), state[1])
    divided, _ = linear_attention(q, k, ones, past)
    seen = torch.ones(q.shape[2], q.shape[2], device=q.device, dtype=q.dtype).tril()
    below = ((_features(q) @ _features(k).mT) * seen).sum(-1, keepdim=True)
    if state is not None:
        below = below + _features(q) @ state[1][..., None]
    return divided[..., :-1] * below, grown


def divided_by_count(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """The sum is divided by the number of tokens so far. It is f(q) . z that makes the weights sum
    to 1.
    """
    plain, grown = not_divided(q, k, v, state)
    count = torch.arange(1, q.shape[2] + 1, device=q.device, dtype=q.dtype)
    return plain / count[:, None], grown


def softmaxed(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """This is attention with a softmax, and the state is not used: no state of fixed size can give
    it.
    """
    mask = causal_mask(q.shape[2], q.shape[2], q.device)
    return masked_attention(q, k, v, mask), linear_attention(q, k, v, state)[1]


def no_features(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """Queries and keys are used as they are. Without f weights may be negative, and their sum may
    be 0.
    """
    return _with(q, k, v, state, lambda x: x, lambda x: x)


def relu_features(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """Your f is ReLU. Here it is elu(x) + 1, which is never 0."""
    return _with(q, k, v, state, F.relu, F.relu)


def relu_plus_one(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """Your f is 1 everywhere below 0. There it should fall off like exp(x)."""
    return _with(q, k, v, state, lambda x: F.relu(x) + 1, lambda x: F.relu(x) + 1)


def exp_features(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """Your f is exp(x), also above 0. There it should be x + 1."""
    return _with(q, k, v, state, torch.exp, torch.exp)


def elu_alone(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """Your f is elu(x), which is negative below 0. The 1 lifts it above 0."""
    return _with(q, k, v, state, F.elu, F.elu)


def softmax_features(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """Your f is a softmax over the entries of a vector. Here it is elu(x) + 1, entry by entry."""
    return _with(q, k, v, state, lambda x: x.softmax(-1), lambda x: x.softmax(-1))


def queries_bare(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """The keys go through f and the queries do not."""
    return _with(q, k, v, state, lambda x: x)


def keys_bare(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """The queries go through f and the keys do not."""
    return _with(q, k, v, state, _features, lambda x: x)


def values_too(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """The values go through f as well. They are averaged as they are."""
    return linear_attention(q, k, _features(v), state)


def scaled(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """The queries are divided by the root of K before f. That belongs to the softmax; there is none
    here.
    """
    return linear_attention(q / math.sqrt(q.shape[-1]), k, v, state)


def eps_below(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """Something small (1e-6, say) is added to f(q) . z. Where features are small it is not small
    beside them. f is positive, so the sum is, too.
    """
    return _with(q, k, v, state, eps=1e-6)


def state_ignored(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """The state that comes in is not used: each chunk begins from nothing."""
    return linear_attention(q, k, v)


def state_not_heard(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """The tokens hear their own chunk alone. The state goes on, and nobody reads it."""
    return linear_attention(q, k, v)[0], linear_attention(q, k, v, state)[1]


def state_unchanged(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """The state comes back without the new tokens. These answers are right, and the next ones will
    not be.
    """
    answers, grown = linear_attention(q, k, v, state)
    if state is None:
        return answers, (0 * grown[0], 0 * grown[1])
    return answers, state


def state_of_the_chunk(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """The state that comes back holds the new tokens alone. It sums up all so far."""
    return linear_attention(q, k, v, state)[0], linear_attention(q, k, v)[1]


def total_forgotten(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """S goes on from the state and z does not: the weights no longer sum to 1. Both are sums over
    all tokens.
    """
    return linear_attention(q, k, v, state and (state[0], 0 * state[1]))


def table_forgotten(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """z goes on from the state and S does not. Both are sums over all tokens."""
    return linear_attention(q, k, v, state and (0 * state[0], state[1]))


def states_of_all(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """The state comes back for every token, with an axis more. Asked is the one after the last."""
    answers, _ = linear_attention(q, k, v, state)
    table = (_features(k)[..., None] * v[..., None, :]).cumsum(2)
    total = _features(k).cumsum(2)
    if state is not None:
        table, total = table + state[0][:, :, None], total + state[1][:, :, None]
    return answers, (table, total)


def table_transposed(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """S comes back as (B, H, W, K). The keys' axis comes first: (B, H, K, W)."""
    answers, (table, total) = linear_attention(q, k, v, state)
    return answers, (table.mT, total)


def total_first(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """The state comes back as (z, S). S comes first."""
    answers, (table, total) = linear_attention(q, k, v, state)
    return answers, (total, table)


def answers_alone(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Tensor:
    """Only the answers come back. The caller needs the state for the next chunk."""
    return linear_attention(q, k, v, state)[0]


def three_results(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Any:
    """You return three things. S and z together are the second of two."""
    answers, (table, total) = linear_attention(q, k, v, state)
    return answers, table, total


def state_first(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Any:
    """You return (state, answers). The answers come first."""
    answers, grown = linear_attention(q, k, v, state)
    return grown, answers


def state_written_over(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """The new tokens are added to the state that came in (`+=`). Whoever else continues from it
    finds tokens that it never saw: make a new one.
    """
    answers, grown = linear_attention(q, k, v, state)
    if state is not None:
        with torch.no_grad():
            state[0].copy_(grown[0])
            state[1].copy_(grown[1])
    return answers, grown


def first_example_for_all(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """All examples get the answers of the first. Each has its own text."""
    answers, grown = linear_attention(q, k, v, state)
    return answers[:1].expand_as(answers), grown


def over_all_tokens(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """z is the sum over the whole chunk for every token, while S runs along. Both run along."""
    answers, grown = linear_attention(q, k, v, state)
    seen = torch.ones(q.shape[2], q.shape[2], device=q.device, dtype=q.dtype).tril()
    right = (_features(q) @ _features(k).mT * seen).sum(-1, keepdim=True)
    if state is not None:
        right = right + _features(q) @ state[1][..., None]
    return answers * right / (_features(q) @ grown[1][..., None]), grown


def state_cut_off(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """No gradient reaches the state that came in: it is detached before it is used."""
    return linear_attention(q, k, v, state and (state[0].detach(), state[1].detach()))


def token_by_token(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    q, k = torch.nn.functional.elu(q) + 1, torch.nn.functional.elu(k) + 1
    if state is None:
        b, h, _, width = k.shape
        state = q.new_zeros(b, h, width, v.shape[3]), q.new_zeros(b, h, width)
    table, total = state
    answers = []
    for i in range(q.shape[2]):
        table = table + k[:, :, i, :, None] * v[:, :, i, None, :]
        total = total + k[:, :, i]
        top = torch.einsum("bhk,bhkw->bhw", q[:, :, i], table)
        answers.append(top / (q[:, :, i] * total).sum(-1, keepdim=True))
    return torch.stack(answers, dim=2), (table, total)


def as_a_table_of_weights(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Any:
    """All scores at once, quadratic; the past is one more key with several values."""
    q = torch.where(q > 0, q + 1, q.clamp(max=0).exp())
    k = torch.where(k > 0, k + 1, k.clamp(max=0).exp())
    weights = torch.tril(torch.matmul(q, k.transpose(2, 3)))
    top, below = torch.matmul(weights, v), weights.sum(dim=3)
    table, total = torch.matmul(k.transpose(2, 3), v), k.sum(dim=2)
    if state is not None:
        top = top + torch.matmul(q, state[0])
        below = below + torch.matmul(q, state[1].unsqueeze(-1)).squeeze(-1)
        table, total = table + state[0], total + state[1]
    return top / below.unsqueeze(-1), [table, total]


def with_a_column_of_ones(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """z is what S would be for values of 1."""
    q, k = (x.relu() + x.clamp(max=0).exp() for x in (q, k))
    v = torch.cat([v, torch.ones_like(v[..., :1])], dim=-1)
    sums = torch.cumsum(torch.einsum("bhlk,bhlw->bhlkw", k, v), dim=2)
    if state is not None:
        sums = sums + torch.cat([state[0], state[1].unsqueeze(-1)], -1).unsqueeze(2)
    both = torch.einsum("bhlk,bhlkw->bhlw", q, sums)
    last = sums[:, :, -1]
    return both[..., :-1] / both[..., -1:], (last[..., :-1], last[..., -1])


def in_pieces(q: Tensor, k: Tensor, v: Tensor, state: State | None = None) -> Answer:
    """Four tokens at a time: the state for what was before, a small triangle for the rest."""
    answers = []
    q, k = 1 + F.elu(q), 1 + F.elu(k)
    table = torch.zeros_like(k[:, :, :1].mT @ v[:, :, :1]) if state is None else state[0]
    total = torch.zeros_like(k[:, :, 0]) if state is None else state[1]
    for a, b, c in zip(*(torch.split(x, 4, 2) for x in (q, k, v)), strict=True):
        near = (a @ b.mT).tril()
        below = near.sum(-1) + (a @ total[..., None])[..., 0]
        answers.append((near @ c + a @ table) / below[..., None])
        table, total = table + b.mT @ c, total + b.sum(2)
    return torch.cat(answers, 2), (table, total)


EXERCISE = Exercise(
    solution=linear_attention,
    chapter=CHAPTER,
    title="Attention as a running sum",
    points=4,
    minutes=16,
    difficulty=4,
    statement=(
        "With f(q) . f(k) in the place of exp(q . k), everything that a token needs to know of "
        "those before it fits into two sums: S of f(k) v^T, and z of f(k). Write causal attention "
        "with f = elu + 1 for a chunk of tokens that goes on from such a state, and return the "
        "state after it. Loops are fine."
    ),
    example=(
        "Queries and keys 0, so f gives 1 in each of K = 2 entries, and all weights are equal. "
        "With values 0, 3, 6 the answers are the means so far: 0, 1.5 and 3. Then S holds 9 twice "
        "and z holds 3 twice."
    ),
    conventions=(
        "f(x) = x + 1 above 0 and exp(x) below, for queries and keys alike. There is no division "
        "by the root of K.",
        "`elu(x) + 1` and the two cases by themselves are both fine. (They part below x = -15 or "
        "so, where float32 beside a 1 has no digits left; no query or key is there.)",
        "A token hears itself: it is in S and z before it is answered.",
        "The answer is f(q)^T S divided by f(q) . z, and nothing is added to that.",
        "Two results: answers (B, H, L, W), and the state (S, z), S of shape (B, H, K, W) and z "
        "(B, H, K). A state that comes in is not changed; None is the state before any token.",
        "Gradients flow from the answers to everything that comes in.",
    ),
    hints=(
        "The weight of key j for query i is f(q_i) . f(k_j), divided by the sum over j. Pull f(q) "
        "out of both sums.",
        "For one token: add f(k) v^T to S and f(k) to z, then answer. A loop over tokens is fine.",
        "Without a loop: a running sum along the tokens gives the S of every token at once, if "
        "each token first has a small table of its own, (K, W).",
    ),
    cases=CASES,
    mistakes=(
        not_causal,
        itself_left_out,
        one_too_many,
        not_divided,
        divided_by_count,
        softmaxed,
        no_features,
        relu_features,
        relu_plus_one,
        exp_features,
        elu_alone,
        softmax_features,
        queries_bare,
        keys_bare,
        values_too,
        scaled,
        eps_below,
        state_ignored,
        state_not_heard,
        state_unchanged,
        state_of_the_chunk,
        total_forgotten,
        table_forgotten,
        states_of_all,
        table_transposed,
        total_first,
        answers_alone,
        three_results,
        state_first,
        state_written_over,
        first_example_for_all,
        over_all_tokens,
        state_cut_off,
        on_the_cpu(linear_attention),
        always_float32(linear_attention),
        float64_narrowed(linear_attention),
        cut_from_autograd(linear_attention),
        changed_in_place(linear_attention),
    ),
    alternatives=(token_by_token, as_a_table_of_weights, with_a_column_of_ones, in_pieces),
    forbidden=READY_MADE_ATTENTION,
)
