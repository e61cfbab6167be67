"""Exercise: multi-head attention as a module with weights of its own.

Out of scope: grouped heads and caches (chapter 05), dropout (chapter 12).
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_04 import CHAPTER
from autograder.exercises.chapter_04 import multi_head_attention as function
from autograder.inputs import described, normal
from autograder.slips import always_float32, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Implementation, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request
from solutions.heads import MultiHeadAttention, merge_heads, multi_head_attention, split_heads
from solutions.masked import masked_attention
from solutions.masks import causal_mask

NAMES = ("w_q.weight", "w_k.weight", "w_v.weight", "w_o.weight")
Mask = Tensor | None


def _on_module(trial: Trial) -> Trial:
    """Ask the same of a module, whose weights are copied in."""
    x, memory, weights, heads, *mask = trial.request.calls[0].args
    calls = (Call((x, memory, *mask)),)
    return Trial(_request(calls, weights, heads), trial.inputs, trial.sizes, trial.returns)


def _request(calls: tuple[Call, ...], weights: tuple[Tensor, ...], heads: int) -> Request:
    build = Call((weights[0].shape[0], heads))
    return Request(calls, build, dict(zip(NAMES, weights, strict=True)))


def _alone(rng: Generator, mask: Callable[[int], Tensor] | None = None, **fixed: int) -> Trial:
    of = function.drawn_sizes(rng, **fixed)
    x, weights = normal(rng, "B L D", of), function.drawn_weights(rng, of)
    words = f"{described('x', 'B L D', of)}, heads = {of['H']}, no memory"
    options = {} if mask is None else {"mask": mask(of["L"])}
    words += "" if mask is None else f", mask {tuple(options['mask'].shape)}"
    return Trial(_request((Call((x,), options),), weights, of["H"]), words, of, "B L D")


def another_sequence(rng: Generator) -> Iterator[Trial]:
    yield from map(_on_module, function.another_sequence(rng))


def itself(rng: Generator) -> Iterator[Trial]:
    yield _alone(rng)
    yield _alone(rng)


def masked(rng: Generator) -> Iterator[Trial]:
    yield from map(_on_module, function.by_example(rng))


def masked_alone(rng: Generator) -> Iterator[Trial]:
    yield _alone(rng, lambda length: causal_mask(length, length))


def by_head(rng: Generator) -> Iterator[Trial]:
    yield from map(_on_module, function.by_head(rng))


def sees_nothing(rng: Generator) -> Iterator[Trial]:
    yield from map(_on_module, function.sees_nothing(rng))


def small(rng: Generator) -> Iterator[Trial]:
    yield from map(_on_module, function.small(rng))


def several_calls(rng: Generator) -> Iterator[Trial]:
    of = function.drawn_sizes(rng)
    x, other = normal(rng, "B L D", of), normal(rng, "B L D", of)
    memory, next_memory = normal(rng, "B M D", of), normal(rng, "B M D", of)
    calls = (
        Call((x,), {"memory": memory}),
        Call((other,), {"memory": next_memory}),
        Call((x,)),
        Call((x,), {"memory": memory}),
    )
    words = f"{described('x', 'B L D', of)}, {described('memory', 'B M D', of)}, 4 calls"
    weights = function.drawn_weights(rng, of)
    yield Trial(_request(calls, weights, of["H"]), words, of, "B L D")


def gradients(rng: Generator) -> Iterator[Trial]:
    (trial, *_) = another_sequence(rng)
    yield backward(trial, rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_alone(rng))


def kept(rng: Generator) -> Iterator[Trial]:
    yield from map(_on_module, function.kept(rng))


def training(rng: Generator) -> Iterator[Trial]:
    for trial in (*another_sequence(rng), *masked_alone(rng)):
        request = replace(trial.request, train=True)
        yield Trial(request, f"{trial.inputs}, in training", trial.sizes, trial.returns)


def devices(rng: Generator) -> Iterator[Trial]:
    yield from map(elsewhere, (*masked(rng), *masked_alone(rng), *another_sequence(rng)))


CASES = (
    Case("several heads read another sequence", another_sequence, values, weight=2),
    Case("without a memory, a sequence reads itself", itself, values),
    Case("a mask hides parts of the memory", masked, values),
    Case("a mask holds where a sequence reads itself", masked_alone, values),
    Case("heads may have different masks", by_head, values),
    Case("a token that sees nothing gets zeros", sees_nothing, values),
    Case("works with one head, entry, token, key or example", small, values),
    Case("the second call does not depend on the first", several_calls, values),
    Case("the gradient reaches x, memory and all weights", gradients, values, weight=3),
    Case("the dtype of the weights is kept", dtypes, values, tolerance=6e-2),
    Case("nothing that was given is changed", kept, inputs_kept),
    Case("training or not, the numbers are the same", training, values),
    Case("works on whatever device module and x are on", devices, values),
)

OF_THE_FUNCTION = (
    function.one_head,
    function.split_at_once,
    function.merged_at_once,
    function.entry_by_entry,
    function.merged_by_entry,
    function.no_output_matrix,
    function.values_by_key_matrix,
    function.keys_by_query_matrix,
    function.keys_and_values_swapped,
    function.queries_and_keys_swapped,
    function.memory_ignored,
    function.values_from_x,
    function.keys_from_x,
    function.roles_swapped,
    function.scaled_by_model,
    function.scaled_by_heads,
    function.not_scaled,
    function.scaled_twice,
    function.scores_times_mask,
    function.mask_inverted,
    function.mask_ignored,
    function.mask_after_softmax,
    function.nan_where_hidden,
    function.mean_where_hidden,
    function.over_heads,
    function.over_queries,
    function.always_causal,
    function.masks_in_wrong_order,
    function.mask_made_on_the_cpu,
    function.mask_changed,
    function.with_input_added,
    function.with_weights,
)


def _as_module(mistake: Implementation) -> Implementation:
    """Make a module that does what a wrong function does."""

    def forward(self: Any, x: Tensor, memory: Mask = None, mask: Mask = None) -> Any:
        weights = tuple(getattr(self, name.split(".")[0]).weight for name in NAMES)
        return mistake(x, x if memory is None else memory, weights, self.heads, mask)

    members = {"forward": forward, "__doc__": mistake.__doc__}
    made: Implementation = type(mistake.__name__, (MultiHeadAttention,), members)
    return made


class MaskOnlyWithMemory(MultiHeadAttention):
    """The mask is forgotten where no memory is given. A causal mask is needed exactly there."""

    def forward(self, x: Tensor, memory: Mask = None, mask: Mask = None) -> Tensor:
        return super().forward(x, memory, None if memory is None else mask)


class MaskOnlyAlone(MultiHeadAttention):
    """The mask is forgotten where a memory is given. It may have padding."""

    def forward(self, x: Tensor, memory: Mask = None, mask: Mask = None) -> Tensor:
        return super().forward(x, memory, mask if memory is None else None)


class FirstMemoryKept(MultiHeadAttention):
    """The memory of the first call is used again in later ones. Keep nothing between calls (a cache
    comes in chapter 5).
    """

    seen: Mask = None

    def forward(self, x: Tensor, memory: Mask = None, mask: Mask = None) -> Tensor:
        if self.seen is None:
            self.seen = memory
        return super().forward(x, memory if self.seen is None else self.seen, mask)


class LastMemoryKept(MultiHeadAttention):
    """A memory that was given once is used again in a later call that gives none. Without a memory,
    x reads itself: keep nothing between calls.
    """

    seen: Mask = None

    def forward(self, x: Tensor, memory: Mask = None, mask: Mask = None) -> Tensor:
        self.seen = self.seen if memory is None else memory
        return super().forward(x, self.seen, mask)


class HeadsForWidth(MultiHeadAttention):
    """`heads` is taken for the width of a head. It says how many there are."""

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__(d_model, d_model // heads)


class WithBiases(MultiHeadAttention):
    """The layers have biases: `nn.Linear` makes one unless it is told not to."""

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__(d_model, heads)
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, nn.Linear(d_model, d_model))


class OutputBias(MultiHeadAttention):
    """The output layer has a bias. `nn.Linear` makes one unless it is told not to."""

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__(d_model, heads)
        self.w_o = nn.Linear(d_model, d_model)


class DropoutAtTheEnd(MultiHeadAttention):
    """Entries of the output are dropped while training. This layer has no dropout; a block puts
    some around it (chapter 12).
    """

    rate = 0.1

    def forward(self, x: Tensor, memory: Mask = None, mask: Mask = None) -> Tensor:
        return F.dropout(super().forward(x, memory, mask), self.rate, self.training)


class HalfDropped(DropoutAtTheEnd):
    """Half of the output is dropped while training. This layer has no dropout; a block puts some
    around it (chapter 12).
    """

    rate = 0.5


class DropoutOfWeights(MultiHeadAttention):
    """Attention weights are dropped while training, as `nn.MultiheadAttention` does if it is told
    to. This layer has no dropout.
    """

    def forward(self, x: Tensor, memory: Mask = None, mask: Mask = None) -> Tensor:
        memory = x if memory is None else memory
        q, k, v = (
            split_heads(layer(y), self.heads)
            for layer, y in ((self.w_q, x), (self.w_k, memory), (self.w_v, memory))
        )
        one_hot = torch.eye(k.shape[-2], dtype=k.dtype, device=k.device).expand(
            *k.shape[:2], -1, -1
        )
        attention = F.dropout(masked_attention(q, k, one_hot, mask), 0.1, self.training)
        mixed: Tensor = self.w_o(merge_heads(attention @ v))
        return mixed


class WeightsNeverTrain(MultiHeadAttention):
    """The numbers are right, but the module's weights get no gradient, so they never learn: use the
    layers, or their `weight` itself, not `weight.data` or a detached copy.
    """

    def forward(self, x: Tensor, memory: Mask = None, mask: Mask = None) -> Tensor:
        frozen = tuple(getattr(self, name.split(".")[0]).weight.detach() for name in NAMES)
        return multi_head_attention(x, x if memory is None else memory, frozen, self.heads, mask)


class QueriesNeverTrain(MultiHeadAttention):
    """The numbers are right, but w_q gets no gradient, so it never learns: `weight.data`, `detach`
    or `no_grad` cuts it off.
    """

    def forward(self, x: Tensor, memory: Mask = None, mask: Mask = None) -> Tensor:
        w_q, w_k, w_v, w_o = (getattr(self, name.split(".")[0]).weight for name in NAMES)
        weights = (w_q.detach(), w_k, w_v, w_o)
        return multi_head_attention(x, x if memory is None else memory, weights, self.heads, mask)


class ByEinsum(nn.Module):
    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.h, self.d_k = heads, d_model // heads
        self.w_q, self.w_k, self.w_v, self.w_o = (self.layer(d_model) for _ in range(4))

    @staticmethod
    def layer(width: int) -> nn.Linear:
        return nn.Linear(width, width, bias=False)

    def forward(
        self, x: Tensor, memory: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        source = x if memory is None else memory
        w_q, w_k, w_v = (
            layer.weight.view(self.h, self.d_k, -1) for layer in (self.w_q, self.w_k, self.w_v)
        )
        q = torch.einsum("bld,hkd->bhlk", x, w_q)
        k, v = (torch.einsum("bmd,hkd->bhmk", source, w) for w in (w_k, w_v))
        scores = torch.einsum("bhlk,bhmk->bhlm", q, k) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        attention = F.softmax(scores, dim=-1)
        if mask is not None:
            attention = attention * mask
        found: Tensor = self.w_o(torch.einsum("bhlm,bhmk->blhk", attention, v).flatten(2))
        return found


class WithLinearLayer(nn.Module):
    """Layers made by a helper class with parameters of its own."""

    class Matrix(nn.Module):
        def __init__(self, size: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.empty(size, size))
            nn.init.xavier_uniform_(self.weight)

        def forward(self, x: Tensor) -> Tensor:
            return x @ self.weight.T

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        assert d_model % heads == 0
        self.width = d_model // heads
        self.w_o, self.w_v, self.w_k, self.w_q = (self.Matrix(d_model) for _ in range(4))

    def forward(
        self, x: Tensor, memory: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        if memory is None:
            memory = x
        q, k, v = self.w_q(x), self.w_k(memory), self.w_v(memory)
        if mask is not None:
            mask = mask.expand(len(x), x.size(2) // self.width, x.size(1), memory.size(1))
        pieces = []
        for head, first in enumerate(range(0, x.size(2), self.width)):
            own = slice(first, first + self.width)
            hidden = None if mask is None else mask[:, head]
            pieces.append(masked_attention(q[..., own], k[..., own], v[..., own], hidden))
        result: Tensor = self.w_o(torch.cat(pieces, -1))
        return result


class WithFunction(nn.Module):
    """The function of the exercise before, given the module's weights."""

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.n_heads = heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )

    def forward(
        self, x: Tensor, memory: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        weights = (self.w_q.weight, self.w_k.weight, self.w_v.weight, self.w_o.weight)
        return multi_head_attention(
            x, memory if memory is not None else x, weights, self.n_heads, mask
        )


EXERCISE = Exercise(
    solution=MultiHeadAttention,
    chapter=CHAPTER,
    title="Multi-head attention as a module",
    points=4,
    minutes=12,
    difficulty=3,
    statement=(
        "The same function as a module that owns its four matrices. With a memory it reads another "
        "sequence; without one, x reads itself. This is the layer that later chapters stack. The "
        "checks copy weights into your module by their names and compare numbers."
    ),
    example=(
        "`MultiHeadAttention(d_model=6, heads=2)` has two heads of width 3 and 4 x 6 x 6 = 144 "
        "weights. Given x of shape (1, 4, 6) alone, it returns the shape (1, 4, 6): each of the "
        "four tokens has read all four."
    ),
    conventions=(
        "The four layers are called `w_q`, `w_k`, `w_v` and `w_o`, so that `state_dict` holds "
        "`w_q.weight` and so on, each (d_model, d_model), and nothing else that is learned. "
        "`nn.Linear` does that, if it has no bias.",
        "In the mask True means: may attend. It broadcasts to (B, H, L, M); None hides nothing. "
        "With a memory or without, only the mask hides: without one, later tokens are seen.",
        "A token that may see nothing gets zeros, as in chapter 3.",
        "d_model is a multiple of heads. Nothing is kept between calls; no dropout.",
    ),
    hints=(
        "Make the four layers in the constructor, and keep the number of heads.",
        "What stands for the memory when there is none? Decide it first; the rest need not know.",
        "The body of the exercise before is what you need, with layers in the place of matrices.",
    ),
    cases=CASES,
    mistakes=(
        *map(_as_module, OF_THE_FUNCTION),
        MaskOnlyWithMemory,
        MaskOnlyAlone,
        FirstMemoryKept,
        LastMemoryKept,
        HeadsForWidth,
        WithBiases,
        OutputBias,
        DropoutAtTheEnd,
        HalfDropped,
        DropoutOfWeights,
        WeightsNeverTrain,
        QueriesNeverTrain,
        on_the_cpu(MultiHeadAttention),
        always_float32(MultiHeadAttention),
        cut_from_autograd(MultiHeadAttention),
    ),
    alternatives=(ByEinsum, WithLinearLayer, WithFunction),
    forbidden=READY_MADE_ATTENTION,
)
