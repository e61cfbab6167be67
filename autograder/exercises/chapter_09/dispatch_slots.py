"""Exercise: a place at its expert for each choice, as long as there are any.

Out of scope: moving the tokens there (MixtureOfExperts).
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_09 import CHAPTER
from autograder.exercises.chapter_09._draws import choices
from autograder.inputs import described, integer
from autograder.slips import changed_in_place, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere
from autograder.wire import call
from solutions.routing import dispatch_slots


def _trial(experts: Tensor, count: int, capacity: int) -> Trial:
    of = {"L": len(experts), "k": experts.shape[-1]}
    words = f"{described('experts', 'L k', of)}, count = {count}, capacity = {capacity}"
    return Trial(call(experts, count, capacity), words, of, "L k")


def _drawn(rng: Generator, k: int, capacity: int) -> Trial:
    tokens, count = integer(rng, 11, 15), 4
    return _trial(choices(rng, tokens, count, k), count, capacity)


def room_for_all(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 1, 20)


def some_dropped(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 1, 2)
    yield _drawn(rng, 1, 3)


def exactly_full(rng: Generator) -> Iterator[Trial]:
    order = torch.randperm(12, generator=rng) % 4
    yield _trial(order[:, None], 4, 3)
    yield _trial(order[:, None], 4, 2)


def two_choices(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 2, 30)
    yield _drawn(rng, 2, 4)


def three_choices(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 3, 5)


def one_favourite(rng: Generator) -> Iterator[Trial]:
    tokens, favourite = integer(rng, 7, 9), integer(rng, 0, 3)
    yield _trial(torch.full((tokens, 1), favourite), 5, 4)


def long_queue(rng: Generator) -> Iterator[Trial]:
    tokens = integer(rng, 290, 300)  # beyond what int8 and bfloat16 can count
    yield _trial(torch.full((tokens, 1), 1), 2, tokens - 3)


def nobody_comes(rng: Generator) -> Iterator[Trial]:
    yield _trial(choices(rng, 9, 3, 2) + 2, 8, 3)


def one_place(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, 2, 1)


def small(rng: Generator) -> Iterator[Trial]:
    yield _trial(choices(rng, 1, 6, 3), 6, 2)
    yield _trial(choices(rng, 4, 4, 4), 4, 2)
    yield _trial(torch.zeros(5, 1, dtype=torch.int64), 1, 3)


def not_contiguous(rng: Generator) -> Iterator[Trial]:
    yield _trial(choices(rng, 10, 5, 3).T.contiguous().T, 5, 3)
    yield _trial(choices(rng, 9, 5, 2).T.contiguous().T, 5, 2)


def kept(rng: Generator) -> Iterator[Trial]:
    yield from two_choices(rng)
    yield from some_dropped(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng, 2, 4))


CASES = (
    Case("with room for all, each expert counts its tokens", room_for_all, values),
    Case("who finds no place is dropped", some_dropped, values, weight=2),
    Case("an expert may be filled to the last place", exactly_full, values),
    Case("first choices come before second ones", two_choices, values, weight=2),
    Case("three choices for each token", three_choices, values),
    Case("all tokens want the same expert", one_favourite, values),
    Case("a queue of some hundred", long_queue, values),
    Case("experts to which nobody comes", nobody_comes, values),
    Case("a single place at each expert", one_place, values),
    Case("a single token, a single expert, equal sizes", small, values),
    Case("choices that do not lie in one piece of memory", not_contiguous, values),
    Case("the choices themselves are not changed", kept, inputs_kept),
    Case("works on whatever device the choices are on", devices, values),
)


def _places(queue: Tensor) -> Tensor:
    """Count how many in a queue asked for the same expert before."""
    same = queue[:, None] == queue
    return same.tril(-1).sum(-1)


def _limited(place: Tensor, capacity: int) -> Tensor:
    return place.where(place < capacity, torch.full_like(place, -1))


def _unlimited(experts: Tensor) -> Tensor:
    return _places(experts.T.flatten()).view(experts.T.shape).T


def counted_from_one(experts: Tensor, count: int, capacity: int) -> Tensor:
    """You count places from 1. The first is 0, the last capacity - 1."""
    slots = dispatch_slots(experts, count, capacity)
    return slots + (slots >= 0)


def counted_with_itself(experts: Tensor, count: int, capacity: int) -> Tensor:
    """A running sum counts the token itself, too: your places begin with 1, and an expert keeps one
    token too few.
    """
    return _limited(_unlimited(experts) + 1, capacity)


def last_place_empty(experts: Tensor, count: int, capacity: int) -> Tensor:
    """The last place of an expert stays empty: your count includes the token itself, or the limit
    is one too low.
    """
    return _limited(_unlimited(experts), capacity - 1)


def one_too_many(experts: Tensor, count: int, capacity: int) -> Tensor:
    """An expert takes one token more than it has places. The last place has the number
    capacity - 1.
    """
    return _limited(_unlimited(experts), capacity + 1)


def nobody_dropped(experts: Tensor, count: int, capacity: int) -> Tensor:
    """Nobody is dropped: places go on beyond the capacity."""
    return _unlimited(experts)


def dropped_if_single(experts: Tensor, count: int, capacity: int) -> Tensor:
    """Tokens are dropped only where there is one choice each. The limit holds always."""
    return _limited(_unlimited(experts), capacity) if experts.shape[1] == 1 else _unlimited(experts)


def limit_for_each_choice(experts: Tensor, count: int, capacity: int) -> Tensor:
    """An expert takes as many as capacity times the choices of a token. It has that many places for
    first and second choices together.
    """
    return _limited(_unlimited(experts), capacity * experts.shape[1])


def begun_again(experts: Tensor, count: int, capacity: int) -> Tensor:
    """Who finds an expert full gets a place from 0 on, which somebody has already. They get -1."""
    return _unlimited(experts) % capacity


def last_place_shared(experts: Tensor, count: int, capacity: int) -> Tensor:
    """All that come too late get the last place, on top of the one who has it. They get -1."""
    return _unlimited(experts).clamp(max=capacity - 1)


def marked_by_capacity(experts: Tensor, count: int, capacity: int) -> Tensor:
    """Dropped choices are marked by the number of places. Here the mark is -1."""
    return _unlimited(experts).clamp(max=capacity)


def marked_by_zero(experts: Tensor, count: int, capacity: int) -> Tensor:
    """Dropped choices are marked by 0, which is a place. The mark is -1."""
    return dispatch_slots(experts, count, capacity).clamp(min=0)


def token_by_token(experts: Tensor, count: int, capacity: int) -> Tensor:
    """You serve all choices of one token before the next token. That is another order that is in
    use; here the first choices of all tokens come before any second choice.
    """
    return _limited(_places(experts.flatten()).view(experts.shape), capacity)


def second_first(experts: Tensor, count: int, capacity: int) -> Tensor:
    """The last choices of all tokens are served first. Begin with the first ones."""
    return dispatch_slots(experts.flip(-1), count, capacity).flip(-1)


def last_token_first(experts: Tensor, count: int, capacity: int) -> Tensor:
    """The last tokens are served first. Go in the order of the tokens."""
    return dispatch_slots(experts.flip(0), count, capacity).flip(0)


def counted_again(experts: Tensor, count: int, capacity: int) -> Tensor:
    """Second choices are counted from 0 again, and get places that first choices have. An expert
    has one queue for all choices.
    """
    columns = [_places(column) for column in experts.T]
    return _limited(torch.stack(columns, -1), capacity)


def counted_after_places(experts: Tensor, count: int, capacity: int) -> Tensor:
    """Second choices begin behind all places of the first ones, also behind empty ones. They follow
    directly upon the last token that came.
    """
    ahead = capacity * torch.arange(experts.shape[1], device=experts.device)
    columns = torch.stack([_places(column) for column in experts.T], -1)
    return _limited(columns + ahead, capacity)


def one_queue(experts: Tensor, count: int, capacity: int) -> Tensor:
    """All experts share one queue. Each counts its own tokens."""
    order = torch.arange(experts.numel(), device=experts.device)
    return _limited(order, capacity).view(experts.T.shape).T


def out_after_one_refusal(experts: Tensor, count: int, capacity: int) -> Tensor:
    """A token that finds one expert full does not ask its next ones, and others move up there. Each
    choice stands alone.
    """
    places, refused = [], torch.zeros_like(experts[:, 0], dtype=torch.bool)
    taken = experts.new_zeros(count)
    for column in experts.T:
        hit = F.one_hot(column, count) * ~refused[:, None]
        place = _limited(((hit.cumsum(0) - 1 + taken) * hit).sum(-1), capacity)
        places.append(place.where(~refused, torch.full_like(place, -1)))
        taken, refused = taken + hit.sum(0), places[-1] < 0
    return torch.stack(places, -1)


def order_lost(experts: Tensor, count: int, capacity: int) -> Tensor:
    """Sorting mixes up those who want the same expert, once there are more than a few: `argsort`
    keeps their order only if it is asked to. Look for the word "stable".
    """
    queue = experts.T.flatten()
    order = queue.argsort()
    sizes = queue.bincount(minlength=count)
    place = torch.empty_like(queue)
    ahead = (sizes.cumsum(0) - sizes)[queue[order]]
    place[order] = torch.arange(len(queue), device=queue.device) - ahead
    return _limited(place, capacity).view(experts.T.shape).T


def counted_in_bytes(experts: Tensor, count: int, capacity: int) -> Tensor:
    """Places are counted in int8, which ends at 127. Count in int64."""
    return _limited(_unlimited(experts).to(torch.int8).long(), capacity)


def counted_coarsely(experts: Tensor, count: int, capacity: int) -> Tensor:
    """Places are counted in bfloat16, which has no whole number between 256 and 258. Count in
    int64.
    """
    queue = F.one_hot(experts.T.flatten(), count).bfloat16()
    place = ((queue.cumsum(0) - 1) * queue).sum(-1).long()
    return _limited(place, capacity).view(experts.T.shape).T


def all_or_nothing(experts: Tensor, count: int, capacity: int) -> Tensor:
    """A token that misses one of its experts loses the others, too. Each choice stands alone."""
    slots = dispatch_slots(experts, count, capacity)
    return slots.where((slots >= 0).all(-1, keepdim=True), torch.full_like(slots, -1))


def misread(experts: Tensor, count: int, capacity: int) -> Tensor:
    """The places are right, but they come back at other tokens: the queue has the order of the
    transposed table, and must be turned back.
    """
    found = dispatch_slots(experts, count, capacity).T
    return found.reshape(experts.shape)


def mixed_order(experts: Tensor, count: int, capacity: int) -> Tensor:
    """The queue is written token by token, but read as if all first choices came first: the table
    has to be transposed both before and after.
    """
    return _limited(_places(experts.flatten()), capacity).view(experts.T.shape).T


def transposed(experts: Tensor, count: int, capacity: int) -> Tensor:
    """The result is transposed: (k, L) instead of (L, k)."""
    return dispatch_slots(experts, count, capacity).T


def which_are_kept(experts: Tensor, count: int, capacity: int) -> Tensor:
    """You return which choices are kept. Asked is the place of each."""
    return dispatch_slots(experts, count, capacity) >= 0


def as_numbers(experts: Tensor, count: int, capacity: int) -> Tensor:
    """The places are floating-point numbers. They are to be used as an index: int64."""
    return dispatch_slots(experts, count, capacity).float()


def in_a_loop(experts: Tensor, count: int, capacity: int) -> Tensor:
    taken = [0] * count
    slots = torch.full_like(experts, -1)
    for choice in range(experts.shape[1]):
        for token in range(experts.shape[0]):
            expert = int(experts[token, choice])
            if taken[expert] < capacity:
                slots[token, choice] = taken[expert]
                taken[expert] += 1
    return slots


def column_by_column(experts: Tensor, count: int, capacity: int) -> Tensor:
    ahead = experts.new_zeros(count)
    columns = []
    for column in experts.unbind(-1):
        hits = F.one_hot(column, count)
        place = (hits.cumsum(0) - 1 + ahead).gather(-1, column[:, None]).squeeze(-1)
        columns.append(torch.where(place >= capacity, -1, place))
        ahead = ahead + hits.sum(0)
    return torch.stack(columns, -1)


def by_sorting(experts: Tensor, count: int, capacity: int) -> Tensor:
    queue = experts.t().flatten()
    order = torch.argsort(queue, stable=True)
    sizes = torch.bincount(queue, minlength=count)
    starts = sizes.cumsum(0) - sizes
    place = torch.empty_like(queue)
    place[order] = torch.arange(len(queue), device=queue.device) - starts[queue[order]]
    place[place >= capacity] = -1
    return place.view(experts.shape[1], -1).t()


def by_comparing(experts: Tensor, count: int, capacity: int) -> Tensor:
    queue = torch.cat(experts.unbind(1))
    earlier = torch.ones(len(queue), len(queue), device=queue.device).tril(-1).bool()
    place = ((queue.unsqueeze(1) == queue.unsqueeze(0)) & earlier).sum(1)
    place = place.masked_fill(place >= capacity, -1)
    return torch.stack(place.chunk(experts.shape[1]), dim=1)


EXERCISE = Exercise(
    solution=dispatch_slots,
    chapter=CHAPTER,
    title="Places in a queue",
    points=4,
    minutes=14,
    difficulty=4,
    statement=(
        "Each expert has places 0 to capacity - 1. Give each choice the next free place at its "
        "expert, in a fixed order: first the first choices of all tokens, then all second choices, "
        "and so on. A choice that finds its expert full gets -1."
    ),
    example=(
        "Two experts with two places. Three tokens choose (0, 1), (0, 1), (1, 0). First choices: "
        "expert 0 gives tokens 0 and 1 its places 0 and 1, expert 1 gives token 2 its place 0. "
        "Second choices: token 0 gets place 1 at expert 1; then both are full, and the others get "
        "-1."
    ),
    conventions=(
        "The order is that of Lepikhin et al. 2021: choice by choice, and within a choice token by "
        "token. (Other code goes token by token.)",
        "Places count from 0, and a dropped choice is -1, whatever became of the token's others.",
        "int64, of the shape of `experts`. The experts of a token are all different.",
    ),
    hints=(
        "Write all choices as one queue, in the order in which they are served.",
        "The place of a choice is the number of choices *before* it that want the same expert.",
        "With a table of zeros and ones, a row for each in the queue and a column for each expert, "
        "a running sum down the columns counts all experts at once. It counts the row itself, too.",
        "At the end the queue has to become a table of tokens again.",
    ),
    cases=CASES,
    mistakes=(
        counted_from_one,
        counted_with_itself,
        last_place_empty,
        one_too_many,
        nobody_dropped,
        dropped_if_single,
        limit_for_each_choice,
        begun_again,
        last_place_shared,
        marked_by_capacity,
        marked_by_zero,
        token_by_token,
        second_first,
        last_token_first,
        counted_again,
        counted_after_places,
        one_queue,
        all_or_nothing,
        out_after_one_refusal,
        order_lost,
        counted_in_bytes,
        counted_coarsely,
        misread,
        mixed_order,
        transposed,
        which_are_kept,
        as_numbers,
        on_the_cpu(dispatch_slots),
        changed_in_place(dispatch_slots),
    ),
    alternatives=(in_a_loop, column_by_column, by_sorting, by_comparing),
)
