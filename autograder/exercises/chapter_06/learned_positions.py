"""Exercise: a module that adds a learned vector for each position.

Out of scope: positions beyond the table, and how the table is initialised.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, last_of_several_calls, values
from autograder.exercises.chapter_06 import CHAPTER
from autograder.inputs import described, normal, sizes
from autograder.slips import always_float32, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request
from solutions.positions import LearnedPositions

ROWS = 20  # more than any sizes drawn here add up to


def _asked(rng: Generator, of: dict[str, int], starts: tuple[int, ...], rows: int = ROWS) -> Trial:
    """Ask one object once for each start; 0 is not said, it is the default."""
    calls = tuple(
        Call((normal(rng, "B L D", of),), {"start": start} if start else {}) for start in starts
    )
    table = normal(rng, "M D", {**of, "M": rows})
    build = Call((), {"length": rows, "d_model": of["D"]})
    words = f"{described('x', 'B L D', of)}, {rows} rows, start = {', '.join(map(str, starts))}"
    return Trial(Request(calls, build, {"table.weight": table}), words, of, "B L D")


def _training(trial: Trial) -> Trial:
    """Make the same trial for a module in training."""
    request = replace(trial.request, train=True)
    return replace(trial, request=request, inputs=f"{trial.inputs}, in training")


def from_the_beginning(rng: Generator) -> Iterator[Trial]:
    yield _asked(rng, sizes(rng, "B L D"), (0,))
    yield _asked(rng, sizes(rng, "B L D"), (0,))


def later(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L D")
    yield _asked(rng, of, (of["B"] + 1,))
    yield _asked(rng, sizes(rng, "B L D"), (3,))


def whole_table(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L D")
    yield _asked(rng, of, (0,), rows=of["L"])
    yield _asked(rng, of, (2,), rows=of["L"] + 2)


def one_token(rng: Generator) -> Iterator[Trial]:
    yield _asked(rng, {**sizes(rng, "B D"), "L": 1}, (7,))
    yield _asked(rng, {**sizes(rng, "B D"), "L": 1}, (0,))


def small(rng: Generator) -> Iterator[Trial]:
    yield _asked(rng, {**sizes(rng, "L D"), "B": 1}, (2,))
    yield _asked(rng, {**sizes(rng, "B L"), "D": 1}, (2,))


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    n = sizes(rng, "B")["B"]
    yield _asked(rng, dict.fromkeys("BLD", n), (0,))
    yield _asked(rng, dict.fromkeys("BLD", n), (n,))


def several_calls(rng: Generator) -> Iterator[Trial]:
    yield _asked(rng, sizes(rng, "B L D"), (4, 0, 9, 0))


def in_training(rng: Generator) -> Iterator[Trial]:
    yield _training(_asked(rng, sizes(rng, "B L D"), (0,)))
    yield _training(_asked(rng, sizes(rng, "B L D"), (3,)))


def long_vectors(rng: Generator) -> Iterator[Trial]:
    trial = _asked(rng, sizes(rng, "B L D"), (2,))
    table = 100 * normal(rng, "M D", {"M": ROWS, "D": trial.sizes["D"]})
    request = replace(trial.request, state={"table.weight": table})
    yield replace(trial, request=request, inputs=f"{trial.inputs}, with entries in the hundreds")


def another_table(rng: Generator) -> Iterator[Trial]:
    """The same question before and after other weights have been loaded."""
    trial = _asked(rng, sizes(rng, "B L D"), (2,))
    (one,), state = trial.request.calls, trial.request.state
    assert state is not None
    other = {"table.weight": normal(rng, "M D", {"M": ROWS, "D": trial.sizes["D"]})}
    load = Call((other,), {"strict": False}, "load_state_dict")
    request = replace(trial.request, calls=(one, load, one))
    yield replace(trial, request=request, inputs=f"{trial.inputs}, twice, with a new table between")


def gradients(rng: Generator) -> Iterator[Trial]:
    for start in (2, 0):
        of = sizes(rng, "B L D")
        yield backward(_asked(rng, of, (start,), rows=start + of["L"]), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_asked(rng, sizes(rng, "B L D"), (2,)))


def kept(rng: Generator) -> Iterator[Trial]:
    yield _asked(rng, sizes(rng, "B L D"), (0, 5))


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_asked(rng, sizes(rng, "B L D"), (2,)))


CASES = (
    Case("each token gets the vector of its position", from_the_beginning, values, weight=2),
    Case("tokens may come after others", later, values, weight=2),
    Case("the table is used to its last row", whole_table, values),
    Case("a single new token", one_token, values),
    Case("works for one example and for one entry", small, values),
    Case("works where all sizes are equal", equal_sizes, values),
    Case("the second call does not depend on the first", several_calls, values),
    Case("the same in training", in_training, values),
    Case("vectors of any length are added as they are", long_vectors, values),
    Case("a table that has changed is read anew", another_table, last_of_several_calls),
    Case("the gradient reaches x and the table", gradients, values),
    Case("the dtype of x and of the weights is kept", dtypes, values, tolerance=6e-2),
    Case("x itself is not changed", kept, inputs_kept),
    Case("works on whatever device module and x are on", devices, values),
)


class StartForgotten(LearnedPositions):
    """Every call begins at position 0. After 7 tokens that are in a cache, the next one stands at
    position 7: use `start`.
    """

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return super().forward(x)


class OneTooFar(LearnedPositions):
    """The positions are counted from 1. The first row of the table is for position 0."""

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return super().forward(x, start + 1)


class AlongTheBatch(LearnedPositions):
    """The positions run along the batch axis: all tokens of an example get the same vector. x is
    (B, L, D); which axis holds the tokens?
    """

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return x + self.table.weight[start : start + x.shape[0]].unsqueeze(1)


class OneForAll(LearnedPositions):
    """Every token gets the vector of the first one's position. Each position has a row."""

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return x + self.table.weight[start]


class Backwards(LearnedPositions):
    """The positions run from the last token to the first."""

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return x + self.table.weight[start : start + x.shape[1]].flip(0)


class LastRows(LearnedPositions):
    """You take rows from the end of the table. Counting starts at the first row."""

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        rows = self.table.weight[-x.shape[1] - start :]
        return x + rows[: x.shape[1]]


class StartForEnd(LearnedPositions):
    """`start` is taken for the position after the last token. It is that of the first one."""

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return super().forward(x, max(0, start - x.shape[1]))


class CountsOn(LearnedPositions):
    """Each call goes on where the one before stopped. Nothing is remembered between calls: `start`
    says where this one begins.
    """

    seen = 0

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        place = (self.seen + start) % (self.table.num_embeddings - x.shape[1] + 1)
        self.seen += x.shape[1]
        return super().forward(x, place)


class TableAlone(LearnedPositions):
    """You return the vectors of the positions. They are to be added to x."""

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return super().forward(torch.zeros_like(x), start)


class Multiplied(LearnedPositions):
    """x is multiplied by the vectors of the positions. They are added."""

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return x * self.table.weight[start : start + x.shape[1]]


class SideBySide(LearnedPositions):
    """The vectors stand beside x, which gets twice as wide. They are added."""

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        rows = self.table.weight[start : start + x.shape[1]]
        return torch.cat([x, rows.expand_as(x)], dim=-1)


class Scaled(LearnedPositions):
    """x is multiplied by the root of its width first. Some models do that to embeddings before they
    add sinusoids; here nothing is scaled.
    """

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return super().forward(x * math.sqrt(x.shape[-1]), start)


class InPlace(LearnedPositions):
    """The sum is written into x (`+=`). The caller may still need it: make a new tensor."""

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        x += super().forward(torch.zeros_like(x), start).detach()
        return x


class WidthForLength(LearnedPositions):
    """The two sizes of the table are exchanged: one row for each position, d_model columns."""

    def __init__(self, length: int, d_model: int) -> None:
        super().__init__(d_model, length)


class PaddingRow(LearnedPositions):
    """The first row never learns: the table has a padding index. That is for tokens; position 0 is
    a position like any other.
    """

    def __init__(self, length: int, d_model: int) -> None:
        super().__init__(length, d_model)
        self.table = nn.Embedding(length, d_model, padding_idx=0)


class LastRowPadding(LearnedPositions):
    """The last row never learns: the table has a padding index there. The last position is a
    position like any other.
    """

    def __init__(self, length: int, d_model: int) -> None:
        super().__init__(length, d_model)
        self.table = nn.Embedding(length, d_model, padding_idx=-1)


class Shortened(LearnedPositions):
    """Long vectors are shortened: the table has a `max_norm`, which even changes its weights. Add
    the rows as they are.
    """

    def __init__(self, length: int, d_model: int) -> None:
        super().__init__(length, d_model)
        self.table = nn.Embedding(length, d_model, max_norm=1.0)


class WithDropout(LearnedPositions):
    """In training, entries are set to 0 at random: a dropout. Many models have one here, but
    nothing of the kind is asked.
    """

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return F.dropout(super().forward(x, start), 0.1, self.training)


class StartForgottenInTraining(LearnedPositions):
    """In training, every call begins at position 0. `start` counts in both modes."""

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return super().forward(x, 0 if self.training else start)


class RowsKept(LearnedPositions):
    """Rows that were read once are kept and used again. But the table learns from step to step:
    read it at every call.
    """

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        kept = self.__dict__.setdefault("kept", {})
        key = start, x.shape[1]
        if key not in kept:
            kept[key] = super().forward(torch.zeros_like(x[:1]), start)
        placed: Tensor = x + kept[key]
        return placed


class NeverLearned(LearnedPositions):
    """The table gets no gradient, so it stays what it was in the beginning: `detach` or `.data`
    cuts it off, or `requires_grad` is off, as after `from_pretrained`.
    """

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return x + self.table.weight[start : start + x.shape[1]].detach()


class WithSlice(nn.Module):
    def __init__(self, length: int, d_model: int) -> None:
        super().__init__()
        self.table = nn.Embedding(length, d_model)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return x + self.table.weight[start : start + x.size(1)]


class WithBatch(nn.Module):
    """A position for every token of every example."""

    def __init__(self, length: int, d_model: int) -> None:
        super().__init__()
        self.table = nn.Embedding(num_embeddings=length, embedding_dim=d_model)
        nn.init.normal_(self.table.weight, std=0.02)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        batch, length, _ = x.shape
        places = torch.arange(length, device=x.device).repeat(batch, 1) + start
        return F.embedding(places, self.table.weight) + x


class WithParameter(nn.Module):
    """A table of its own making, rows picked one by one."""

    class Rows(nn.Module):
        def __init__(self, length: int, d_model: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(length, d_model))

    def __init__(self, length: int, d_model: int) -> None:
        super().__init__()
        self.table = self.Rows(length, d_model)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        rows = [x[:, i] + self.table.weight[start + i] for i in range(x.shape[1])]
        return torch.stack(rows, dim=1)


class WithBuffer(nn.Module):
    """All positions are in a buffer, as in BERT's code."""

    positions: Tensor

    def __init__(self, length: int, d_model: int) -> None:
        super().__init__()
        self.table = nn.Embedding(length, d_model)
        self.register_buffer("positions", torch.arange(length))

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        placed: Tensor = x + self.table(self.positions.narrow(0, start, x.shape[1]))
        return placed


class OneHot(nn.Module):
    """A one-hot code and a linear layer."""

    def __init__(self, length: int, d_model: int) -> None:
        super().__init__()
        self.length = length
        self.table = nn.Embedding(length, d_model)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        places = torch.arange(start, start + x.shape[1], device=x.device)
        code = (places[:, None] == torch.arange(self.length, device=x.device)).to(x.dtype)
        return x + code @ self.table.weight


EXERCISE = Exercise(
    solution=LearnedPositions,
    chapter=CHAPTER,
    title="Learned positions",
    points=2,
    minutes=8,
    difficulty=2,
    statement=(
        "A table with one learned vector for each position. The module adds to every token of x "
        "the vector of the place where it stands, the same for all examples of the batch. The "
        "checks copy weights into your module by their names and compare numbers."
    ),
    example=(
        "A table of 3 rows holds (1, 2), (3, 4) and (5, 6). Two tokens (0, 0) that begin at "
        "position 1 become (3, 4) and (5, 6)."
    ),
    conventions=(
        "The table is called `table`, an `nn.Embedding`, so that `state_dict` holds "
        "`table.weight`, (length, d_model), and nothing else that is learned.",
        "Positions are counted from 0. `start` is the position of the first token: after 7 tokens "
        "in a cache, a new one has start 7.",
        "No position is asked beyond the table. Nothing is scaled or shortened, there is no "
        "dropout, also in training, and nothing is kept between calls: the table may have changed.",
        "Every row learns. x and the table have the same dtype, and the result has it, too.",
    ),
    hints=(
        "In the constructor, make the table. Which of its two sizes is the number of rows?",
        "The positions of L tokens are L integers in a row, beginning at `start`, on the device "
        "of x.",
        "The table gives (L, D) for them. Added to (B, L, D), it is repeated over the batch.",
    ),
    cases=CASES,
    mistakes=(
        StartForgotten,
        OneTooFar,
        AlongTheBatch,
        OneForAll,
        Backwards,
        LastRows,
        StartForEnd,
        CountsOn,
        TableAlone,
        Multiplied,
        SideBySide,
        Scaled,
        InPlace,
        WidthForLength,
        PaddingRow,
        LastRowPadding,
        Shortened,
        WithDropout,
        StartForgottenInTraining,
        RowsKept,
        NeverLearned,
        on_the_cpu(LearnedPositions),
        always_float32(LearnedPositions),
        cut_from_autograd(LearnedPositions),
    ),
    alternatives=(WithSlice, WithBatch, WithParameter, WithBuffer, OneHot),
)
