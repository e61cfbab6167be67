"""Exercise: a language model that counts pairs.

Out of scope: interpolation with single tokens, documents.
"""

from collections.abc import Iterator
from itertools import pairwise

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_12 import CHAPTER
from autograder.inputs import described, integer, uniform
from autograder.slips import on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere
from autograder.wire import Request, call
from solutions.corpus import bigram_table


def _trial(tokens: Tensor, vocabulary: int, extra: float | None = None) -> Trial:
    of = {"N": len(tokens), "V": vocabulary}
    words = f"{described('tokens', 'N', of)}, V = {vocabulary}"
    words += "" if extra is None else f", extra = {extra}"
    rest = (vocabulary,) if extra is None else (vocabulary, extra)
    return Trial(call(tokens, *rest), words, of, "V V")


def _uneven(rng: Generator, length: int, kinds: int) -> Tensor:
    """Draw a text in which small numbers are frequent."""
    return (torch.rand(length, generator=rng) ** 2 * kinds).long()


def texts(rng: Generator) -> Iterator[Trial]:
    yield _trial(_uneven(rng, 60, 5), 5, uniform(rng, 0.3, 0.8))
    yield _trial(_uneven(rng, 90, 7), 7, uniform(rng, 1.3, 2.8))


def usual_extra(rng: Generator) -> Iterator[Trial]:
    yield _trial(_uneven(rng, 60, 6), 6)


def little_extra(rng: Generator) -> Iterator[Trial]:
    yield _trial(_uneven(rng, 60, 6), 6, 1e-3)
    yield _trial(_uneven(rng, 60, 6), 6, 1e-7)


def unseen(rng: Generator) -> Iterator[Trial]:
    kinds = integer(rng, 3, 5)
    yield _trial(_uneven(rng, 40, kinds) + 1, kinds + 4, 0.5)


def both_ends(rng: Generator) -> Iterator[Trial]:
    middle = _uneven(rng, 20, 3)
    yield _trial(torch.cat([torch.tensor([4]), middle, torch.tensor([5])]), 6, 0.25)


def short(rng: Generator) -> Iterator[Trial]:
    yield _trial(torch.tensor([integer(rng, 1, 2), 0]), 3, 0.5)
    yield _trial(torch.full((integer(rng, 3, 6),), 2), 4, 0.5)


def one_follows(rng: Generator) -> Iterator[Trial]:
    turns = integer(rng, 5, 9)
    yield _trial(torch.tensor([0, 2, 1] * turns), 3, 0.5)


def not_contiguous(rng: Generator) -> Iterator[Trial]:
    yield _trial(_uneven(rng, 120, 5)[::2], 5, 0.5)


def several_calls(rng: Generator) -> Iterator[Trial]:
    one, other = (_uneven(rng, length, 5) for length in (40, 50))
    calls = [call(text, 5, 0.5).calls[0] for text in (one, other, one)]
    yield Trial(Request(tuple(calls)), "tokens (N,) = (40,), then (50,), then the first, V = 5")


def devices(rng: Generator) -> Iterator[Trial]:
    (trial, *_) = texts(rng)
    yield elsewhere(trial)


CASES = (
    Case("pairs are counted, and each row is a distribution", texts, values, weight=2),
    Case("where extra is not given, it is 1", usual_extra, values),
    Case("a small extra makes unseen pairs very unlikely", little_extra, values),
    Case("tokens that never came before have even rows", unseen, values),
    Case("the text does not go round from its end", both_ends, values),
    Case("works for very short texts, and of one token", short, values),
    Case("a first token is not its second", one_follows, values),
    Case("works for tokens that are not contiguous", not_contiguous, values),
    Case("the second call does not depend on the first", several_calls, values),
    Case("the text is not changed", texts, inputs_kept),
    Case("works on whatever device the text is on", devices, values),
)


def _counts(tokens: Tensor, vocabulary: int) -> Tensor:
    before, after = (F.one_hot(t, vocabulary).float() for t in (tokens[:-1], tokens[1:]))
    return before.T @ after


def _logs(table: Tensor) -> Tensor:
    return (table / table.sum(1, keepdim=True)).log()


def transposed(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """Rows and columns have changed places: row a should say what comes *after* a."""
    return _logs(_counts(tokens, vocabulary).T + extra)


def columns_sum_to_one(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """The columns are distributions: you divide by the wrong sums. Given the token before, the
    chances of all that may follow sum to 1.
    """
    table = _counts(tokens, vocabulary) + extra
    return (table / table.sum(0, keepdim=True)).log()


def pairs_of_all(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """The whole table sums to 1: these are chances of pairs. Given the first token, each row is a
    distribution.
    """
    table = _counts(tokens, vocabulary) + extra
    return (table / table.sum()).log()


def single_tokens(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """All rows are equal: single tokens are counted, and the one before is forgotten."""
    counts = tokens.bincount(minlength=vocabulary) + extra
    return (counts / counts.sum()).log().expand(vocabulary, -1).clone()


def nothing_added(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """Nothing is added, and the logarithm of 0 is infinite: one unseen pair in a new text, and its
    loss is, too.
    """
    return _logs(_counts(tokens, vocabulary))


def always_one(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """You add 1 whatever `extra` is."""
    return _logs(_counts(tokens, vocabulary) + 1)


def added_afterwards(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """`extra` is added to the probabilities, which then sum to more than 1. It belongs to the
    counts.
    """
    counts = _counts(tokens, vocabulary)
    return (counts / counts.sum(1, keepdim=True).clamp(min=1) + extra).log()


def not_in_the_sum(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """You divide by the sum of the counts before `extra` was added. Each row should sum to 1."""
    counts = _counts(tokens, vocabulary)
    return ((counts + extra) / counts.sum(1, keepdim=True).clamp(min=1)).log()


def added_once_to_the_sum(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """`extra` is added once to each sum, but once to every count: how often in a row?"""
    counts = _counts(tokens, vocabulary)
    return ((counts + extra) / (counts.sum(1, keepdim=True) + extra)).log()


def only_where_nothing(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """`extra` takes the place of zeros only. It is added to every count."""
    counts = _counts(tokens, vocabulary)
    return _logs(counts.where(counts > 0, torch.full_like(counts, extra)))


def seen_or_not(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """Each pair counts once, however often it came: an assignment does not add up."""
    return _logs((_counts(tokens, vocabulary) > 0) + extra)


def probabilities(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """These are probabilities. Asked are their logarithms, which serve as logits."""
    return _logs(_counts(tokens, vocabulary) + extra).exp()


def in_bits(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """The logarithm has base 2. Logits are natural logarithms."""
    return _logs(_counts(tokens, vocabulary) + extra) / 0.6931471805599453


def logarithms_of_counts(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """These are logarithms of counts. A softmax would give the right probabilities of them, but
    asked are logarithms of probabilities.
    """
    return (_counts(tokens, vocabulary) + extra).log()


def softmax_of_counts(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """The counts are taken for logits, and go through a softmax. A pair that comes twice as often
    should be twice as likely.
    """
    return (_counts(tokens, vocabulary) + extra).log_softmax(1)


def round_the_end(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """The last token is counted as if the first came after it."""
    return _logs(_counts(torch.cat([tokens, tokens[:1]]), vocabulary) + extra)


def every_second_pair(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """Every second pair is left out. Each token but the last is the first of a pair."""
    before, after = (F.one_hot(t, vocabulary).float() for t in (tokens[:-1:2], tokens[1::2]))
    return _logs(before.T @ after + extra)


def in_both_directions(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """Each pair is counted in both directions. Text has one."""
    counts = _counts(tokens, vocabulary)
    return _logs(counts + counts.T + extra)


def two_ahead(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """You count which token comes two places later."""
    return _logs(_counts(tokens[::2], vocabulary) + _counts(tokens[1::2], vocabulary) + extra)


def seen_tokens_only(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """The table ends at the largest token of the text. It has V rows and columns, whatever came."""
    return bigram_table(tokens, int(tokens.max()) + 1, extra)


def in_double(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    """The table is float64. Asked is float32, as logits are."""
    return bigram_table(tokens, vocabulary, extra).double()


def by_one_hot(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    rows = F.one_hot(tokens, vocabulary).float()
    table = torch.einsum("na,nb->ab", rows[:-1], rows[1:]) + extra
    return torch.log(table) - table.sum(-1, keepdim=True).log()


def by_a_sparse_table(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    pairs = torch.stack([tokens[:-1], tokens[1:]])
    ones = torch.ones(len(tokens) - 1, dtype=torch.float64, device=tokens.device)
    shape = (vocabulary, vocabulary)
    counts = torch.sparse_coo_tensor(pairs, ones, shape, check_invariants=True).to_dense() + extra
    return F.normalize(counts, p=1, dim=1).log().float()


def by_index_put(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    table = torch.full((vocabulary, vocabulary), extra, dtype=torch.float64, device=tokens.device)
    ones = torch.ones(len(tokens) - 1, dtype=torch.float64, device=tokens.device)
    table.index_put_((tokens[:-1], tokens[1:]), ones, accumulate=True)
    return F.normalize(table, p=1, dim=1).log().float()


def pair_by_pair(tokens: Tensor, vocabulary: int, extra: float = 1.0) -> Tensor:
    ids = tokens.tolist()
    counts = [[extra] * vocabulary for _ in range(vocabulary)]
    for a, b in pairwise(ids):
        counts[a][b] += 1
    return torch.tensor(counts, device=tokens.device).log().log_softmax(-1)


EXERCISE = Exercise(
    solution=bigram_table,
    chapter=CHAPTER,
    title="A model that counts",
    points=2,
    minutes=8,
    difficulty=2,
    statement=(
        "The simplest language model that looks at anything: count in a text how often b follows "
        "a, and return the logarithm of the probability of b after a. No model of a later chapter "
        "should be worse."
    ),
    example=(
        "The text is (0, 1, 0, 1), two tokens, extra is 1. After 0 came 1 twice and 0 never: the "
        "counts are 0 + 1 and 2 + 1, the probabilities 1/4 and 3/4. After 1 came 0 once: 2/3 and "
        "1/3."
    ),
    conventions=(
        "Rows are the token before, columns the one after. The exponentials of a row sum to 1.",
        "`extra` is added to every count, also of tokens that never came. It is more than 0, so "
        "that a row that was never seen is even.",
        "Natural logarithms, float32, on the device of the text.",
    ),
    hints=(
        "A pair (a, b) can be made one number, from 0 to V V - 1, and back.",
        "Torch counts whole numbers with `bincount`; what does `minlength` do?",
    ),
    cases=CASES,
    mistakes=(
        transposed,
        columns_sum_to_one,
        pairs_of_all,
        single_tokens,
        nothing_added,
        always_one,
        added_afterwards,
        not_in_the_sum,
        added_once_to_the_sum,
        only_where_nothing,
        seen_or_not,
        probabilities,
        in_bits,
        logarithms_of_counts,
        softmax_of_counts,
        round_the_end,
        every_second_pair,
        in_both_directions,
        two_ahead,
        seen_tokens_only,
        in_double,
        on_the_cpu(bigram_table),
    ),
    alternatives=(by_one_hot, by_a_sparse_table, by_index_put, pair_by_pair),
)
