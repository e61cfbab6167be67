"""Exercise: a whole language model.

Out of scope: the block (the exercise before), the loss and training (chapter 12).
"""

# what a layer of a module is called or gives, torch leaves open
# mypy: disable-error-code="no-any-return"

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_11 import CHAPTER
from autograder.exercises.chapter_11._draws import (
    Sizes,
    State,
    block,
    block_sizes,
    cache_of,
    gain,
    ids,
    stacked,
    tables,
)
from autograder.inputs import integer
from autograder.slips import cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.torch_attention import READY_MADE_ATTENTION
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request
from solutions.blocks import DecoderBlock
from solutions.cache import KVCache
from solutions.decoder import TransformerLM
from solutions.norms import LayerNorm, RMSNorm
from solutions.positions import position_angles, sinusoidal_encoding

Answer = tuple[Tensor, list[KVCache]]
Caches = Sequence[KVCache] | None
RETURNS = "logits, caches"


def _sizes(rng: Generator, layers: int = 2, **fixed: int) -> Sizes:
    return block_sizes(rng, "B L F V", **fixed) | {"N": layers}


def _weights(rng: Generator, of: Sizes) -> State:
    blocks = stacked("blocks", (block(rng, of) for _ in range(of["N"])))
    return tables(rng, of) | blocks | gain(rng, of, "norm")


def _call(rng: Generator, of: Sizes, before: int = 0, padded: bool = False) -> Call:
    """Draw new tokens, and the caches of those before them."""
    tokens = ids(rng, of, "B L")
    caches = tuple(cache_of(rng, of, before) for _ in range(of["N"])) if before else None
    if not padded:
        return Call((tokens, caches) if before else (tokens,))
    first = torch.randint(1, max(before, of["L"]), (of["B"], 1), generator=rng)
    keep = torch.arange(before + of["L"]) >= first
    return Call((tokens, caches), {"keep": keep})


def _trial(rng: Generator, of: Sizes, *calls: Call, grouped: bool = True) -> Trial:
    words = "; then ".join(map(_words, calls))
    words += f"; {of['N']} layers, heads = {of['H']}, kv_heads = {of['G']}, d_ff = {of['F']}"
    words += f", vocabulary = {of['V']}, d_model = {of['D']}"
    named = {"layers": of["N"], "heads": of["H"], "d_ff": of["F"]}
    build = Call((of["V"], of["D"]), named | ({"kv_heads": of["G"]} if grouped else {}))
    return Trial(Request(calls, build, _weights(rng, of)), words, of, RETURNS)


def _words(one: Call) -> str:
    words = f"tokens (B, L) = {tuple(one.args[0].shape)}"
    if len(one.args) > 1 and one.args[1] is not None:
        words += f", {one.args[1][0][0].shape[2]} tokens in the caches"
    return words + (", padding before" if "keep" in one.kwargs else "")


def _single(rng: Generator, before: int = 0, padded: bool = False, layers: int = 2) -> Trial:
    of = _sizes(rng, layers)
    return _trial(rng, of, _call(rng, of, before, padded))


def prompts(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, K=4)
    yield _trial(rng, of, _call(rng, of))


def later_chunk(rng: Generator) -> Iterator[Trial]:
    yield _single(rng, before=integer(rng, 10, 11))


def one_token(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, L=1)
    yield _trial(rng, of, _call(rng, of, before=integer(rng, 3, 9)))


def padded(rng: Generator) -> Iterator[Trial]:
    yield _single(rng, padded=True, layers=1)
    yield _single(rng, before=integer(rng, 10, 11), padded=True)


def depths(rng: Generator) -> Iterator[Trial]:
    yield _single(rng, layers=1)
    yield _single(rng, before=2, layers=3)


def groups(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, layers=1)
    of["G"] = of["H"]
    yield _trial(rng, of, _call(rng, of, 3), grouped=False)
    of = {**of, "G": 1}
    yield _trial(rng, of, _call(rng, of, 3))


def special_sizes(rng: Generator) -> Iterator[Trial]:
    for letter in "BLF":
        of = {**_sizes(rng, layers=1), letter: 1}
        yield _trial(rng, of, _call(rng, of))
    of = dict.fromkeys("BLFDV", 4) | {"H": 2, "G": 2, "K": 2, "N": 1}
    yield _trial(rng, of, _call(rng, of, before=4))


def several_calls(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, layers=1, B=2, L=3)
    later = _call(rng, of, before=3)
    calls = _call(rng, of), later, _call(rng, {**of, "B": 3, "L": 5}), _call(rng, of, padded=True)
    yield _trial(rng, of, *calls, _call(rng, of), later, _call(rng, {**of, "L": 1}))


def training(rng: Generator) -> Iterator[Trial]:
    trial = _single(rng, before=4, layers=1)
    request = replace(trial.request, train=True)
    yield replace(trial, request=request, inputs=f"{trial.inputs}, in training")


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_single(rng, layers=1), rng, "B L V")
    yield backward(_single(rng, before=6), rng, "B L V")


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_single(rng, before=3, layers=1))


def kept(rng: Generator) -> Iterator[Trial]:
    yield _single(rng, before=6, padded=True, layers=1)
    trial = _single(rng, before=4)
    (one,) = trial.request.calls
    tokens, caches = one.args
    request = replace(trial.request, calls=(Call((tokens, [*caches])),))
    yield replace(trial, request=request, inputs=f"{trial.inputs}, the caches in a list")


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_single(rng, before=6, padded=True, layers=1))


CASES = (
    Case("every position scores its next token", prompts, values, weight=2),
    Case("later tokens hear from the caches", later_chunk, values, weight=2),
    Case("a single new token hears from everything so far", one_token, values),
    Case("nobody hears from padding", padded, values),
    Case("one block or three", depths, values),
    Case("one key head, or one for each query", groups, values),
    Case("works where sizes are equal, or 1", special_sizes, values),
    Case("nothing is left from earlier calls", several_calls, values),
    Case("training or not, the numbers are the same", training, values),
    Case("the gradient reaches caches and all weights", gradients, values),
    Case("the dtype of the weights is kept", dtypes, values, tolerance=8e-2),
    Case("tokens, caches and padding are not changed", kept, inputs_kept),
    Case("works on whatever device everything is on", devices, values),
)


class _InSteps(TransformerLM):
    """The model in steps, of which a mistake changes one."""

    def forward(self, tokens: Tensor, caches: Caches = None, keep: Tensor | None = None) -> Answer:
        x, after = self.through(self.entered(tokens), caches, keep)
        return self.scored(x), after

    def entered(self, tokens: Tensor) -> Tensor:
        return self.embed(tokens)

    def through(self, x: Tensor, caches: Caches, keep: Tensor | None) -> Answer:
        after = []
        for i, one in enumerate(self.order()):
            x, cache = one(x, None if caches is None else self.chosen(caches, i), keep)
            after.append(cache)
        return x, after

    def order(self) -> list[nn.Module]:
        return [*self.blocks]

    def chosen(self, caches: Sequence[KVCache], i: int) -> KVCache:
        return caches[i]

    def scored(self, x: Tensor) -> Tensor:
        return self.head(self.norm(x))


class NoLastNorm(_InSteps):
    """The last norm is missing. In a pre-norm model the stream grows from block to block: it is
    normalised once, before the output.
    """

    def scored(self, x: Tensor) -> Tensor:
        return self.head(x)


class NormAfterEachBlock(_InSteps):
    """The last norm is used after every block. The stream is normalised once, after the last."""

    def through(self, x: Tensor, caches: Caches, keep: Tensor | None) -> Answer:
        after = []
        for i, one in enumerate(self.blocks):
            x, cache = one(x, caches[i] if caches else None, keep)
            x = self.norm(x) if i + 1 < len(self.blocks) else x
            after.append(cache)
        return x, after


class Scaled(_InSteps):
    """The embedding is multiplied by the root of d_model, as in the first paper. This model does
    not do that.
    """

    def entered(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        return x * math.sqrt(x.shape[-1])


class PositionsAdded(_InSteps):
    """Positions are added to the embedding. Here the attention knows them already: it turns queries
    and keys.
    """

    def entered(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        angles = position_angles(torch.arange(x.shape[1], device=x.device), x.shape[-1])
        return x + sinusoidal_encoding(angles).to(x.dtype)


class Normalised(_InSteps):
    """The embedding is normalised before the first block. Each block does that for itself."""

    def entered(self, tokens: Tensor) -> Tensor:
        return self.norm(self.embed(tokens))


class Probabilities(_InSteps):
    """You return probabilities. The scores themselves are asked: loss and sampling do the softmax,
    and a second one would flatten everything.
    """

    def scored(self, x: Tensor) -> Tensor:
        return super().scored(x).softmax(-1)


class LogProbabilities(_InSteps):
    """You return logarithms of probabilities. The scores themselves are asked."""

    def scored(self, x: Tensor) -> Tensor:
        return super().scored(x).log_softmax(-1)


class HeadIsEmbedding(_InSteps):
    """The scores are made with the embedding's matrix. Only after `tie_weights` are the two one:
    use the head.
    """

    def scored(self, x: Tensor) -> Tensor:
        return F.linear(self.norm(x), self.embed.weight)


class LastPositionAlone(_InSteps):
    """Only the last position is scored. That is enough to write one token; in training every
    position predicts its next one.
    """

    def scored(self, x: Tensor) -> Tensor:
        return super().scored(x)[:, -1:]


class LastPositionFlat(_InSteps):
    """Only the last position is scored, and its axis is gone. Every position predicts its next
    token: (B, L, V).
    """

    def scored(self, x: Tensor) -> Tensor:
        return super().scored(x)[:, -1]


class WithoutTheLast(_InSteps):
    """The last position is missing: scores and targets are shifted against each other in the loss,
    not in the model.
    """

    def scored(self, x: Tensor) -> Tensor:
        return super().scored(x)[:, :-1]


class OneBlock(_InSteps):
    """Only the first block is used. All are, one after the other."""

    def order(self) -> list[nn.Module]:
        return [self.blocks[0]] * len(self.blocks)


class Reversed(_InSteps):
    """The blocks are used from the last to the first."""

    def order(self) -> list[nn.Module]:
        return [*self.blocks][::-1]


class AllReadTheEmbedding(_InSteps):
    """Every block reads the embedding. Each reads what the one before it has left."""

    def through(self, x: Tensor, caches: Caches, keep: Tensor | None) -> Answer:
        said = [one(x, caches[i] if caches else None, keep) for i, one in enumerate(self.blocks)]
        return said[-1][0], [cache for _, cache in said]


class SharedBlocks(TransformerLM):
    """All blocks are the same object (`[block] * layers`): they share their weights. Make a new one
    for each.
    """

    def __init__(
        self,
        vocabulary: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        d_ff: int,
        kv_heads: int | None = None,
    ) -> None:
        super().__init__(
            vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff, kv_heads=kv_heads
        )
        self.blocks = nn.ModuleList([self.blocks[0]] * layers)


class PlainList(TransformerLM):
    """The blocks are in a plain list, which torch does not look into: nobody sees their weights,
    neither the optimiser nor `state_dict`. There is an `nn.ModuleList`.
    """

    def __init__(
        self,
        vocabulary: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        d_ff: int,
        kv_heads: int | None = None,
    ) -> None:
        super().__init__(
            vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff, kv_heads=kv_heads
        )
        blocks = [*self.blocks]
        del self.blocks
        self.blocks = blocks  # type: ignore[assignment]


class CachesIgnored(_InSteps):
    """The caches are not handed on: new tokens hear from each other alone."""

    def forward(self, tokens: Tensor, caches: Caches = None, keep: Tensor | None = None) -> Answer:
        return super().forward(tokens, None, None if keep is None else keep[:, -tokens.shape[1] :])


class FirstCacheForAll(_InSteps):
    """Every block is given the first block's cache. Each has its own."""

    def chosen(self, caches: Sequence[KVCache], i: int) -> KVCache:
        return caches[0]


class CachePassedOn(_InSteps):
    """The cache that a block returns goes to the next block, whose keys are others. Each has its
    own.
    """

    def through(self, x: Tensor, caches: Caches, keep: Tensor | None) -> Answer:
        after: list[KVCache] = []
        for i, one in enumerate(self.blocks):
            given = caches[0] if caches and not i else after[-1] if after else None
            fits = given is not None and (keep is None or not i)
            before = given[0].shape[2] if given is not None else 0
            wide = None if keep is None else F.pad(keep, (before * (i > 0), 0), value=True)
            x, cache = one(x, given if fits else None, wide if fits else keep)
            after.append(cache)
        return x, after


class OldCachesReturned(_InSteps):
    """The caches come back as they were. Those that the blocks return have the new tokens in
    them.
    """

    def forward(self, tokens: Tensor, caches: Caches = None, keep: Tensor | None = None) -> Answer:
        logits, after = super().forward(tokens, caches, keep)
        return logits, after if caches is None else [*caches]


class LastCacheAlone(_InSteps):
    """Only the last block's cache comes back. Each block needs its own in the next step."""

    def forward(self, tokens: Tensor, caches: Caches = None, keep: Tensor | None = None) -> Answer:
        logits, after = super().forward(tokens, caches, keep)
        return logits, after[-1:]


class LastCacheForAll(_InSteps):
    """The last block's cache comes back for all of them. Each has its own."""

    def forward(self, tokens: Tensor, caches: Caches = None, keep: Tensor | None = None) -> Answer:
        logits, after = super().forward(tokens, caches, keep)
        return logits, after[-1:] * len(after)


class LogitsAlone(_InSteps):
    """Only the logits come back. The caller needs the caches for the next step."""

    def forward(self, tokens: Tensor, caches: Caches = None, keep: Tensor | None = None) -> Any:
        return super().forward(tokens, caches, keep)[0]


class CachesFirst(_InSteps):
    """You return (caches, logits). The logits come first."""

    def forward(self, tokens: Tensor, caches: Caches = None, keep: Tensor | None = None) -> Any:
        logits, after = super().forward(tokens, caches, keep)
        return after, logits


class PaddingForgotten(_InSteps):
    """`keep` is not handed on to the blocks: everybody hears from padding."""

    def forward(self, tokens: Tensor, caches: Caches = None, keep: Tensor | None = None) -> Answer:
        return super().forward(tokens, caches)


class LeftFromBefore(_InSteps):
    """The model keeps the caches in itself and goes on from them where none are passed: a second
    prompt hears of the first.
    """

    left: list[KVCache] | None = None

    def forward(self, tokens: Tensor, caches: Caches = None, keep: Tensor | None = None) -> Answer:
        held = self.left if caches is None and keep is None else None
        fits = held is not None and held[0][0].shape[0] == len(tokens)
        logits, self.left = super().forward(tokens, held if fits else caches, keep)
        return logits, self.left


class LeftForOneToken(_InSteps):
    """The model keeps the caches in itself, and a single token that comes without caches hears from
    them. It is a text of one token, which hears from nobody.
    """

    left: list[KVCache] | None = None

    def forward(self, tokens: Tensor, caches: Caches = None, keep: Tensor | None = None) -> Answer:
        alone = caches is None and tokens.shape[1] == 1
        fits = self.left is not None and self.left[0][0].shape[0] == len(tokens)
        logits, self.left = super().forward(tokens, self.left if alone and fits else caches, keep)
        return logits, self.left


class CallersListFilled(_InSteps):
    """The new caches are written into the list that came in. The caller may go on from the old ones
    once more: make a list of your own.
    """

    def forward(self, tokens: Tensor, caches: Caches = None, keep: Tensor | None = None) -> Answer:
        logits, after = super().forward(tokens, caches, keep)
        if isinstance(caches, list):
            caches[:] = after
        return logits, after


class DropoutInTraining(_InSteps):
    """In training some entries are dropped at random. This model has no dropout."""

    def entered(self, tokens: Tensor) -> Tensor:
        return F.dropout(self.embed(tokens), 0.1, self.training)


class HeadWithBias(TransformerLM):
    """The head has a bias, which is the default of nn.Linear. Here it has none."""

    def __init__(
        self,
        vocabulary: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        d_ff: int,
        kv_heads: int | None = None,
    ) -> None:
        super().__init__(
            vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff, kv_heads=kv_heads
        )
        self.head = nn.Linear(d_model, vocabulary)


class TiedFromTheStart(TransformerLM):
    """Head and embedding are one matrix already. In this model they are two, until `tie_weights` is
    called.
    """

    def __init__(
        self,
        vocabulary: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        d_ff: int,
        kv_heads: int | None = None,
    ) -> None:
        super().__init__(
            vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff, kv_heads=kv_heads
        )
        self.head.weight = self.embed.weight


class HeadsNotShared(TransformerLM):
    """`kv_heads` is not handed on to the blocks: w_k and w_v have d_model rows."""

    def __init__(
        self,
        vocabulary: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        d_ff: int,
        kv_heads: int | None = None,
    ) -> None:
        super().__init__(vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff)


class LastNormWithShift(TransformerLM):
    """The last norm is a layer norm, with weight and bias. Here it is an `RMSNorm`."""

    def __init__(
        self,
        vocabulary: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        d_ff: int,
        kv_heads: int | None = None,
    ) -> None:
        super().__init__(
            vocabulary, d_model, layers=layers, heads=heads, d_ff=d_ff, kv_heads=kv_heads
        )
        self.norm = LayerNorm(d_model)  # type: ignore[assignment]


class Zipped(nn.Module):
    """Blocks and caches side by side; torch's norm; blocks made one by one."""

    def __init__(
        self,
        vocabulary: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        d_ff: int,
        kv_heads: int | None = None,
    ) -> None:
        super().__init__()
        self.head = nn.Linear(d_model, vocabulary, bias=False)
        self.norm = nn.RMSNorm(d_model, eps=1e-6)
        self.blocks = nn.ModuleList()
        for _ in range(layers):
            self.blocks.append(DecoderBlock(d_model, heads, d_ff=d_ff, kv_heads=kv_heads))
        self.embed = nn.Embedding(vocabulary, d_model)

    def forward(self, tokens: Tensor, caches: Caches = None, keep: Tensor | None = None) -> Answer:
        hidden = self.embed(tokens)
        if caches is None:
            caches = [None] * len(self.blocks)  # type: ignore[list-item]
        new_caches = ()
        for one, cache in zip(self.blocks, caches, strict=True):
            hidden, new = one(hidden, cache, keep)
            new_caches += (new,)  # type: ignore[assignment]
        return self.head(self.norm(hidden)), new_caches  # type: ignore[return-value]


class InASequential(nn.Module):
    """Rows of a parameter looked up by hand; the blocks in an nn.Sequential, which has names, too;
    the caches that are returned are for inference alone.
    """

    class Table(nn.Module):
        """A weight and nothing else."""

        def __init__(self, rows: int, columns: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.empty(rows, columns).normal_(std=0.02))

    def __init__(
        self,
        vocabulary: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        d_ff: int,
        kv_heads: int | None = None,
    ) -> None:
        super().__init__()
        self.embed = self.Table(vocabulary, d_model)
        self.blocks = nn.Sequential(
            *[DecoderBlock(d_model, heads, d_ff, kv_heads) for _ in range(layers)]
        )
        self.norm = RMSNorm(d_model)
        self.head = self.Table(vocabulary, d_model)

    def forward(self, tokens: Tensor, caches: Caches = None, keep: Tensor | None = None) -> Any:
        x, kept = self.embed.weight[tokens], []
        for i in range(len(self.blocks)):
            x, (keys, held) = self.blocks[i](x, caches and caches[i], keep=keep)
            kept.append([keys.detach(), held.detach()])
        return torch.einsum("bld,vd->blv", self.norm(x), self.head.weight), kept


EXERCISE = Exercise(
    solution=TransformerLM,
    chapter=CHAPTER,
    title="A language model",
    points=3,
    minutes=10,
    difficulty=3,
    statement=(
        "Ids in, scores out: look up the vectors of the tokens, send them through the blocks, one "
        "after the other, normalise once at the end, and score the vocabulary. Each block has its "
        "own weights and its own cache. Your `DecoderBlock` is there: correct it first, if its "
        "check is not green. `RMSNorm` is imported at the top."
    ),
    example=(
        "TransformerLM(11, 6, layers=2, heads=3, d_ff=10) scores 4 tokens of one example with "
        "logits of shape (1, 4, 11) and returns a list of 2 caches. Position 2 has seen tokens 0, "
        "1 and 2, and scores token 3."
    ),
    conventions=(
        "The parts are called embed, blocks, norm and head, so that `state_dict` holds "
        "`blocks.0.attend.w_q.weight` and so on. embed and head are two matrices: tying them is "
        "an exercise of its own.",
        "Embeddings are used as they are: not scaled, not normalised, no position is added. The "
        "blocks know positions. `keep` goes to every block as it is.",
        "Logits are returned, not probabilities, for every position; then a list with a cache for "
        "each block, in their order. `caches` is such a list, or a tuple, or None.",
        "The model remembers nothing between calls, and a list of caches that comes in is not "
        "changed. Gradients flow to all weights and to the "
        "caches that come in; those that are returned may be cut off.",
    ),
    hints=(
        "The constructor makes an embedding, a list of blocks that torch knows of, a norm and a "
        "linear layer.",
        "Go through the blocks with their numbers: block i gets cache i, if there are caches, and "
        "returns a stream and a new cache.",
        "After the last block: normalise, then score. Collect the caches on the way.",
    ),
    cases=CASES,
    mistakes=(
        NoLastNorm,
        NormAfterEachBlock,
        Scaled,
        PositionsAdded,
        Normalised,
        Probabilities,
        LogProbabilities,
        HeadIsEmbedding,
        LastPositionAlone,
        LastPositionFlat,
        WithoutTheLast,
        OneBlock,
        Reversed,
        AllReadTheEmbedding,
        SharedBlocks,
        PlainList,
        CachesIgnored,
        FirstCacheForAll,
        CachePassedOn,
        OldCachesReturned,
        LastCacheAlone,
        LastCacheForAll,
        LogitsAlone,
        CachesFirst,
        PaddingForgotten,
        LeftFromBefore,
        LeftForOneToken,
        CallersListFilled,
        DropoutInTraining,
        HeadWithBias,
        TiedFromTheStart,
        HeadsNotShared,
        LastNormWithShift,
        on_the_cpu(TransformerLM),
        cut_from_autograd(TransformerLM),
    ),
    alternatives=(Zipped, InASequential),
    forbidden=READY_MADE_ATTENTION,
)
