"""Exercise: a fixed table from words to experts, as even as it can be.

Out of scope: looking words up in it, which is indexing.
"""

import heapq
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_09 import CHAPTER
from autograder.inputs import described, integer
from autograder.slips import changed_in_place
from autograder.spec import Case, Exercise, Trial
from autograder.wire import call
from solutions.routing import balanced_hash


def _trial(counts: Tensor, experts: int) -> Trial:
    of = {"V": len(counts)}
    words = f"{described('counts', 'V', of)}, experts = {experts}"
    return Trial(call(counts, experts), words, of, "V")


def _counts(rng: Generator, words: int) -> Tensor:
    """Draw counts of which no two are equal."""
    return torch.randperm(3000, generator=rng)[:words] + 50


def several_experts(rng: Generator) -> Iterator[Trial]:
    yield _trial(_counts(rng, integer(rng, 20, 25)), 3)
    yield _trial(_counts(rng, integer(rng, 20, 25)), 5)


def as_in_text(rng: Generator) -> Iterator[Trial]:
    frequent = 60_000 // torch.arange(1, 31)
    yield _trial(frequent[torch.randperm(30, generator=rng)], 4)


def one_word_outweighs(rng: Generator) -> Iterator[Trial]:
    counts = _counts(rng, 12)
    counts[integer(rng, 3, 9)] = 100_000
    yield _trial(counts, 3)


def large_counts(rng: Generator) -> Iterator[Trial]:
    yield _trial(10**12 + _counts(rng, 9), 2)
    counts = _counts(rng, 9)
    counts[integer(rng, 0, 8)] = 2**32 + 1  # in 32 bits it is 1
    yield _trial(counts, 2)


def ties(rng: Generator) -> Iterator[Trial]:
    for counts in ([24, 3, 22, 11, 16, 18], [10, 5, 4, 1]):
        yield _trial(torch.tensor(counts)[torch.randperm(len(counts), generator=rng)], 2)


def few_words(rng: Generator) -> Iterator[Trial]:
    yield _trial(_counts(rng, 4), 7)
    yield _trial(_counts(rng, 1), 3)


def one_expert(rng: Generator) -> Iterator[Trial]:
    yield _trial(_counts(rng, 6), 1)


def word_never_seen(rng: Generator) -> Iterator[Trial]:
    counts = _counts(rng, 11)
    counts[integer(rng, 0, 5)] = 0
    counts[integer(rng, 6, 10)] = 100_000  # to expert 0, who then has the most
    yield _trial(counts, 3)


def kept(rng: Generator) -> Iterator[Trial]:
    yield from several_experts(rng)


CASES = (
    Case("each word goes to the expert with the least to do", several_experts, values, weight=2),
    Case("frequencies as in a text", as_in_text, values),
    Case("one word is more frequent than all others", one_word_outweighs, values),
    Case("large counts are not rounded", large_counts, values),
    Case("of equals, the expert with the lowest number", ties, values),
    Case("fewer words than experts", few_words, values),
    Case("a single expert gets all words", one_expert, values),
    Case("a word that never occurs has an expert", word_never_seen, values),
    Case("the counts themselves are not changed", kept, inputs_kept),
)


def _greedy(counts: Tensor, experts: int, order: list[int]) -> Tensor:
    """Give the words to experts in some order."""
    load, table = [0] * experts, torch.zeros_like(counts)
    for word in order:
        table[word] = load.index(min(load))
        load[int(table[word])] += int(counts[word])
    return table


def _by_frequency(counts: Tensor) -> list[int]:
    found: list[int] = counts.argsort(descending=True).tolist()
    return found


def in_turn(counts: Tensor, experts: int) -> Tensor:
    """The experts take turns, from the most frequent word down. The first of them always gets the
    most; look at how much each has had so far.
    """
    table = torch.zeros_like(counts)
    table[counts.argsort(descending=True)] = torch.arange(len(counts)) % experts
    return table


def there_and_back(counts: Tensor, experts: int) -> Tensor:
    """The experts take turns, forward and backward. Look at how much each has had so far."""
    turns = torch.arange(len(counts)) % (2 * experts)
    table = torch.zeros_like(counts)
    table[counts.argsort(descending=True)] = torch.minimum(turns, 2 * experts - 1 - turns)
    return table


def by_number(counts: Tensor, experts: int) -> Tensor:
    """The expert is the remainder of the word's number. The counts are not used."""
    return torch.arange(len(counts)) % experts


def in_blocks(counts: Tensor, experts: int) -> Tensor:
    """Each expert gets a block of neighbouring words. The counts are not used."""
    return torch.arange(len(counts)) * experts // len(counts)


def frequent_together(counts: Tensor, experts: int) -> Tensor:
    """The most frequent words go to one expert, the next ones to the next. Then the first has most
    to do.
    """
    table = torch.zeros_like(counts)
    table[counts.argsort(descending=True)] = in_blocks(counts, experts)
    return table


def unsorted(counts: Tensor, experts: int) -> Tensor:
    """The words are taken in the order of their numbers. Begin with the most frequent: a large
    piece is hard to place at the end.
    """
    return _greedy(counts, experts, list(range(len(counts))))


def rarest_first(counts: Tensor, experts: int) -> Tensor:
    """The rarest word comes first. Begin with the most frequent one."""
    return _greedy(counts, experts, _by_frequency(counts)[::-1])


def to_the_busiest(counts: Tensor, experts: int) -> Tensor:
    """The word goes to the expert that has had the most."""
    load, table = [0] * experts, torch.zeros_like(counts)
    for word in _by_frequency(counts):
        table[word] = load.index(max(load))
        load[int(table[word])] += int(counts[word])
    return table


def highest_number(counts: Tensor, experts: int) -> Tensor:
    """Of experts with equally little to do you take the last. Here the lowest number goes first."""
    return experts - 1 - balanced_hash(counts, experts)


def longest_at_rest(counts: Tensor, experts: int) -> Tensor:
    """Of experts with equally little to do you take the one that has waited longest. Here the
    lowest number goes first.
    """
    load, table, last = [0] * experts, torch.zeros_like(counts), [*range(-experts, 0)]
    for turn, word in enumerate(_by_frequency(counts)):
        expert = min(range(experts), key=lambda e: (load[e], last[e]))
        table[word], last[expert] = expert, turn
        load[expert] += int(counts[word])
    return table


def words_counted(counts: Tensor, experts: int) -> Tensor:
    """Each word adds 1 to the load besides its count. Only its count is work."""
    load, table = [0] * experts, torch.zeros_like(counts)
    for word in _by_frequency(counts):
        table[word] = load.index(min(load))
        load[int(table[word])] += int(counts[word]) + 1
    return table


def sorted_in_32_bits(counts: Tensor, experts: int) -> Tensor:
    """To sort, the counts are cut to 32 bits (`.int()`), and large ones become small or negative.
    They are int64: leave them so.
    """
    return _greedy(counts, experts, _by_frequency(counts.int()))


def sorted_coarsely(counts: Tensor, experts: int) -> Tensor:
    """To sort, the counts are made floating-point numbers (`.float()`), of which large neighbours
    are equal. Sort the whole numbers.
    """
    order = counts.float().argsort(descending=True, stable=True).tolist()
    return _greedy(counts, experts, order)


def left_out(counts: Tensor, experts: int) -> Tensor:
    """A word that never occurs gets -1. It may occur one day: give it an expert as any other."""
    return balanced_hash(counts, experts).where(counts > 0, -torch.ones_like(counts))


def unseen_to_the_first(counts: Tensor, experts: int) -> Tensor:
    """A word that never occurs always goes to expert 0. It goes to the one with the least to do, as
    any other.
    """
    return balanced_hash(counts, experts).where(counts > 0, torch.zeros_like(counts))


def by_rank(counts: Tensor, experts: int) -> Tensor:
    """Your table is in the order of frequency: entry 0 is for the most frequent word. It should be
    for word 0.
    """
    return balanced_hash(counts, experts)[counts.argsort(descending=True)]


def misplaced(counts: Tensor, experts: int) -> Tensor:
    """Ranks and words are mixed up: to sort, and to undo the sorting, are two different things."""
    order = counts.argsort(descending=True)
    return balanced_hash(counts, experts)[order][order]


def rounded_loads(counts: Tensor, experts: int) -> Tensor:
    """The loads are rounded: float32 has 24 bits, and counts may need more. Add whole numbers."""
    load, table = torch.zeros(experts), torch.zeros_like(counts)
    for word in _by_frequency(counts):
        table[word] = load.argmin()
        load[table[word]] += counts[word].float()
    return table


def loads(counts: Tensor, experts: int) -> Tensor:
    """You return how much each expert has to do. Asked is the expert of each word."""
    table = balanced_hash(counts, experts)
    return counts.new_zeros(experts).index_add(0, table, counts)


def from_one(counts: Tensor, experts: int) -> Tensor:
    """You number the experts from 1. They begin with 0."""
    return balanced_hash(counts, experts) + 1


def with_a_heap(counts: Tensor, experts: int) -> Tensor:
    heap = [(0, i) for i in range(experts)]
    table = [0] * len(counts)
    for count, word in sorted(zip(counts.tolist(), range(len(counts)), strict=True), reverse=True):
        load, expert = heapq.heappop(heap)
        table[word] = expert
        heapq.heappush(heap, (load + count, expert))
    return torch.tensor(table)


def with_lists(counts: Tensor, experts: int) -> Tensor:
    load = dict.fromkeys(range(experts), 0)
    numbers = counts.tolist()
    found = {}
    for word in sorted(range(len(numbers)), key=lambda w: -numbers[w]):
        found[word] = min(load, key=lambda e: (load[e], e))
        load[found[word]] += numbers[word]
    return torch.tensor([found[w] for w in range(len(numbers))], dtype=torch.int64)


def with_a_table_of_loads(counts: Tensor, experts: int) -> Tensor:
    order = torch.sort(counts, descending=True).indices
    given = torch.zeros(experts, len(counts), dtype=torch.int64)
    owner = torch.zeros(experts, len(counts), dtype=torch.bool)
    for word in order.tolist():
        expert = int(given.sum(dim=1).argmin())
        given[expert, word], owner[expert, word] = counts[word], True
    return owner.int().argmax(0)


EXERCISE = Exercise(
    solution=balanced_hash,
    chapter=CHAPTER,
    title="A table instead of a router",
    points=3,
    minutes=10,
    difficulty=3,
    statement=(
        "Make a fixed table from words to experts so that all experts get about as many tokens: go "
        "through the words from the most frequent to the rarest, and give each to the expert that "
        "has had the fewest tokens so far."
    ),
    example=(
        "Words 0 to 3 occur 3, 10, 4 and 6 times; there are two experts. Word 1 (10 times) goes to "
        "expert 0. Word 3 (6) goes to expert 1, and so does word 2 (4), since 6 is less than 10. "
        "Now both have 10, and word 0 goes to expert 0, the lower number. The table: 0, 0, 1, 1."
    ),
    conventions=(
        "The table is in the order of the words: entry i is the expert of word i, int64.",
        "Of experts with equally little to do, the one with the lowest number gets the word. At "
        "the start all have 0, so the most frequent word goes to expert 0.",
        "No two words are equally frequent. A word that never occurs is treated like any other.",
        "Counts are whole numbers and may be large: add them up without rounding.",
    ),
    hints=(
        "Keep a list of how much each expert has had. A loop over the words is fine.",
        "Which order gives you the words by frequency? `argsort` can go down.",
        "`argmin` tells who has the least, and the first of them if there are several.",
    ),
    cases=CASES,
    mistakes=(
        in_turn,
        there_and_back,
        by_number,
        in_blocks,
        frequent_together,
        unsorted,
        rarest_first,
        to_the_busiest,
        highest_number,
        longest_at_rest,
        words_counted,
        sorted_in_32_bits,
        sorted_coarsely,
        left_out,
        unseen_to_the_first,
        by_rank,
        misplaced,
        rounded_loads,
        loads,
        from_one,
        changed_in_place(balanced_hash),
    ),
    alternatives=(with_a_heap, with_lists, with_a_table_of_loads),
)
