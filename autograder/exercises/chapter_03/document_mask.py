"""Exercise: several documents in one row, each of which sees only itself."""

from collections.abc import Iterator
from itertools import pairwise

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_03 import CHAPTER
from autograder.inputs import integer, sizes
from autograder.slips import as_numbers, changed_in_place
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere
from autograder.wire import call
from solutions.documents import document_mask
from solutions.masks import causal_mask

BEFORE_END = 6  # words are numbers below it, and the end token is another number


def _trial(tokens: Tensor, end: int) -> Trial:
    of = {"B": tokens.shape[0], "1": 1, "L": tokens.shape[1]}
    return Trial(call(tokens, end), f"tokens {tokens.tolist()}, end {end}", of, "B 1 L L")


def _words(rng: Generator, batch: int, length: int) -> Tensor:
    return torch.randint(1, BEFORE_END, (batch, length), generator=rng)


def _with_ends(rng: Generator, batch: int, length: int, end: int) -> Tensor:
    """Draw rows in which about one token of four ends a document, some but not all."""
    tokens = _words(rng, batch, length)
    tokens[torch.rand(batch, length, generator=rng) < 0.25] = end
    rows = torch.arange(batch)
    tokens[rows, 1 + rows % (length - 2)] = end
    tokens[:, -1] = BEFORE_END - 1
    return tokens


def packed(rng: Generator) -> Iterator[Trial]:
    batch, end = integer(rng, 2, 3), integer(rng, 50, 99)
    yield _trial(_with_ends(rng, batch, integer(rng, 7, 9), end), end)
    batch, end = integer(rng, 4, 5), integer(rng, 50, 99)
    yield _trial(_with_ends(rng, batch, integer(rng, 6, 8), end), end)


def any_end(rng: Generator) -> Iterator[Trial]:
    for end in (0, -1, 1, 50256):
        yield _trial(_with_ends(rng, 2, integer(rng, 5, 8), end), end)


def ends_in_odd_places(rng: Generator) -> Iterator[Trial]:
    for places in ([0], [0, 1, 2], [3, 4], [-1]):
        tokens = _words(rng, 2, 6)
        tokens[0, places] = 77
        yield _trial(tokens, 77)


def one_document(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L")
    yield _trial(_words(rng, of["B"], of["L"]), 77)


def special_sizes(rng: Generator) -> Iterator[Trial]:
    n = integer(rng, 5, 7)
    yield _trial(_with_ends(rng, n, n, 77), 77)
    yield _trial(_with_ends(rng, 1, n, 77), 77)
    yield _trial(_words(rng, 3, 1), 77)


def devices(rng: Generator) -> Iterator[Trial]:
    (trial, *_) = packed(rng)
    yield trial
    yield elsewhere(trial)


CASES = (
    Case("a token sees the earlier ones of its document", packed, values, weight=3),
    Case("any token may be the one that ends documents", any_end, values),
    Case("documents may begin or end anywhere", ends_in_odd_places, values, weight=2),
    Case("without an end all is one document", one_document, values),
    Case("works where sizes are equal, or 1", special_sizes, values),
    Case("the tokens are not changed", packed, inputs_kept),
    Case("works on whatever device the tokens are on", devices, values),
)


def _causal(tokens: Tensor) -> Tensor:
    return causal_mask(tokens.shape[1], tokens.shape[1], tokens.device)


def _same(number: Tensor) -> Tensor:
    return number[:, None, :, None] == number[:, None, None, :]


def end_begins_the_next(tokens: Tensor, end: int) -> Tensor:
    """The end token is counted to the document that *follows*. It belongs to the one that it ends:
    count the ends before a token, without the token itself.
    """
    return _same((tokens == end).cumsum(-1)) & _causal(tokens)


def future_visible(tokens: Tensor, end: int) -> Tensor:
    """A token sees later tokens of its document. The mask should be causal as well."""
    return document_mask(tokens, end) | document_mask(tokens, end).mT


def causal_alone(tokens: Tensor, end: int) -> Tensor:
    """Tokens see the documents before theirs: the ends have no effect."""
    return _causal(tokens).expand(tokens.shape[0], 1, -1, -1)


def strict(tokens: Tensor, end: int) -> Tensor:
    """No token sees itself. It may."""
    return document_mask(tokens, end).tril(-1)


def inverted(tokens: Tensor, end: int) -> Tensor:
    """True and False are exchanged: here True means "may attend"."""
    return ~document_mask(tokens, end)


def transposed(tokens: Tensor, end: int) -> Tensor:
    """Each token sees itself and what comes later in its document. Rows are queries, columns are
    keys: who may look at whom?
    """
    return document_mask(tokens, end).mT


def no_axis_for_heads(tokens: Tensor, end: int) -> Tensor:
    """The shape is (B, L, L). Next to scores (B, H, L, M), B would fall on the heads: keep an axis
    of size 1 for them.
    """
    return document_mask(tokens, end)[:, 0]


def ends_counted_down_the_batch(tokens: Tensor, end: int) -> Tensor:
    """The ends are counted along the batch. Documents follow each other along a row: the last
    axis.
    """
    ends = (tokens == end).long()
    return _same(ends.cumsum(0) - ends) & _causal(tokens)


def same_for_all_rows(tokens: Tensor, end: int) -> Tensor:
    """All rows get the documents of the first. Each row has ends of its own."""
    return document_mask(tokens[:1].expand_as(tokens), end)


def equal_tokens(tokens: Tensor, end: int) -> Tensor:
    """You compare the tokens themselves: a token sees earlier ones that are the same word. Compare
    the numbers of the documents that they are in.
    """
    return _same(tokens) & _causal(tokens)


def split_in_two(tokens: Tensor, end: int) -> Tensor:
    """Tokens are told apart only by whether they end a document. Number the documents: how many
    ended before this token?
    """
    return _same(tokens == end) & _causal(tokens)


def first_end_alone(tokens: Tensor, end: int) -> Tensor:
    """Only the first end of a row counts. There may be more than two documents."""
    ends = (tokens == end).long()
    return _same((ends.cumsum(-1) - ends).clamp(max=1)) & _causal(tokens)


def ends_in_a_row_as_one(tokens: Tensor, end: int) -> Tensor:
    """Ends that follow each other are counted as one. Every end closes a document: behind another
    end, it is a document of one token.
    """
    ends = (tokens == end).long()
    last_of_a_run = ends * (1 - ends.roll(-1, dims=-1))
    return _same(last_of_a_run.cumsum(-1) - last_of_a_run) & _causal(tokens)


def first_of_a_run(tokens: Tensor, end: int) -> Tensor:
    """Only the first of ends that follow each other closes a document, and the others are counted
    to the next. Every end closes one: behind another end, it is a document of one token.
    """
    ends = (tokens == end).long()
    before = torch.nn.functional.pad(ends, (1, 0))[:, :-1]
    first = ends * (1 - before)
    return _same(first.cumsum(-1) - first) & _causal(tokens)


def ends_hidden(tokens: Tensor, end: int) -> Tensor:
    """Nobody sees the end tokens. They are tokens like others, and belong to the document that they
    end.
    """
    return document_mask(tokens, end) & (tokens != end)[:, None, None, :]


def ends_on_their_own(tokens: Tensor, end: int) -> Tensor:
    """Each end token is a document of its own. It belongs to the one that it ends, and sees it."""
    ends = (tokens == end).long()
    return _same(2 * ends.cumsum(-1) - ends) & _causal(tokens)


def end_is_zero(tokens: Tensor, end: int) -> Tensor:
    """You look for the token 0, whatever `end` is."""
    return document_mask(tokens, 0)


def triangle_on_the_cpu(tokens: Tensor, end: int) -> Tensor:
    """The triangle is made on the CPU. Make it where the tokens are: `device=tokens.device`."""
    ends = (tokens == end).long()
    triangle = torch.ones(tokens.shape[1], tokens.shape[1]).tril().bool()
    return _same(ends.cumsum(-1) - ends) & triangle


def no_end_between(tokens: Tensor, end: int) -> Tensor:
    """From key to query, the key included and the query not, no document ends."""
    up_to = torch.nn.functional.pad((tokens == end).cumsum(-1), (1, 0))[:, :-1]
    between = up_to[:, :, None] - up_to[:, None, :]
    steps = torch.arange(tokens.shape[1], device=tokens.device)
    return ((between == 0) & (steps[:, None] >= steps)).unsqueeze(1)


def from_the_start(tokens: Tensor, end: int) -> Tensor:
    """Each token sees everything from the beginning of its document to itself."""
    steps = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
    begins = torch.zeros_like(tokens)
    begins[:, 1:] = torch.where(tokens[:, :-1] == end, steps[:, 1:], 0)
    first = begins.cummax(-1).values
    keys = steps[:, None, None, :]
    return (keys >= first[:, None, :, None]) & (keys <= steps[:, None, :, None])


def row_by_row(tokens: Tensor, end: int) -> Tensor:
    mask = torch.zeros(len(tokens), 1, *[tokens.shape[1]] * 2, device=tokens.device).bool()
    for b, row in enumerate(tokens.tolist()):
        start = 0
        for i, token in enumerate(row):
            mask[b, 0, i, start : i + 1] = True
            start = i + 1 if token == end else start
    return mask


def as_blocks(tokens: Tensor, end: int) -> Tensor:
    rows = []
    for row in tokens.tolist():
        cuts = [-1, *(i for i, token in enumerate(row) if token == end), len(row) - 1]
        blocks = [torch.ones(b - a, b - a).tril() for a, b in pairwise(cuts)]
        whole = [block for block in blocks if len(block)]
        rows.append(torch.block_diag(*whole))  # type: ignore[no-untyped-call]
    return torch.stack(rows).bool().unsqueeze(1).to(tokens.device)


EXERCISE = Exercise(
    solution=document_mask,
    chapter=CHAPTER,
    title="Several documents in one row",
    points=3,
    minutes=10,
    difficulty=3,
    statement=(
        "Write `document_mask(tokens, end)` for rows that hold several documents one after the "
        "other. The token `end` closes a document. Each token may see itself and the earlier "
        "tokens of its own document, and nothing else."
    ),
    example=(
        "The row [5, 0, 7] with end 0 holds the document [5, 0] and the beginning of another, [7]. "
        "Token 0 sees 5 and itself; token 7 sees only itself: [[True, False, False], "
        "[True, True, False], [False, False, True]]."
    ),
    conventions=(
        'True means "may attend".',
        "The end token belongs to the document that it ends: it sees that document, and is not "
        "seen by the next.",
        "The last document of a row need not be closed. Two ends in a row make a document of one "
        "token, the second end.",
        "The shape is (B, 1, L, L); the axis of size 1 is for heads.",
    ),
    hints=(
        "Give every token the number of its document. Then a comparison of all pairs says who is "
        "in the same one.",
        "How many documents have ended before a token? `cumsum` counts along a row; does its count "
        "include the token itself?",
        "Compare a column of numbers with a row of them, for each row of the batch, and combine "
        "the result with a causal mask.",
    ),
    cases=CASES,
    mistakes=(
        end_begins_the_next,
        future_visible,
        causal_alone,
        strict,
        inverted,
        transposed,
        no_axis_for_heads,
        ends_counted_down_the_batch,
        same_for_all_rows,
        equal_tokens,
        split_in_two,
        first_end_alone,
        ends_in_a_row_as_one,
        first_of_a_run,
        ends_hidden,
        ends_on_their_own,
        end_is_zero,
        *as_numbers(document_mask),
        triangle_on_the_cpu,
        changed_in_place(document_mask),
    ),
    alternatives=(no_end_between, from_the_start, row_by_row, as_blocks),
)
