"""Exercise: random pieces of a text, and the tokens that follow.

Out of scope: documents, padding, texts shorter than the context.
"""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor

from autograder.exercises.chapter_12 import CHAPTER
from autograder.inputs import described, integer
from autograder.lent import Chance
from autograder.passages import (
    passages,
    passages_and_text_kept,
    passages_drawn_alike,
    passages_drawn_anew,
    passages_drawn_independently,
    passages_from_everywhere,
)
from autograder.slips import on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere
from autograder.wire import call
from solutions.corpus import make_batches


def _text(rng: Generator, length: int) -> Tensor:
    """Draw a text in which no token occurs twice, so that a piece tells where it is from."""
    return torch.randperm(length, generator=rng) + 10


def _trial(rng: Generator, length: int, context: int, batch: int) -> Trial:
    of = {"N": length, "L": context, "B": batch}
    words = f"{described('tokens', 'N', of)}, context = {context}, batch = {batch}"
    request = call(_text(rng, length), context, batch, Chance(integer(rng, 0, 10**6)))
    return Trial(request, words, of, "inputs, targets")


def pieces(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, integer(rng, 60, 90), 7, 5)
    yield _trial(rng, integer(rng, 60, 90), 4, 9)


def every_place(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 9, 4, 3000)
    yield _trial(rng, 12, 3, 800)


def long_pieces(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 8, 7, 5)
    yield _trial(rng, 9, 7, 40)


def smallest(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 2, 1, 3)
    yield _trial(rng, 30, 1, 4)
    yield _trial(rng, 30, 6, 1)


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 40, 6, 6)


def small_token_ids(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng, 60, 5, 7)
    tokens, *rest = trial.request.calls[0].args
    yield replace(trial, request=call(tokens - 10, *rest))


def the_same_chance(rng: Generator) -> Iterator[Trial]:
    for _ in range(2):
        trial = _trial(rng, 500, 6, 8)
        (one,) = trial.request.calls
        request = replace(trial.request, calls=(one, one))
        yield replace(trial, request=request, inputs=f"{trial.inputs}, twice with one seed")


def other_chance(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng, 900, 6, 8)
    (one,) = trial.request.calls
    *rest, chance = one.args
    other = replace(one, args=(*rest, Chance(chance.seed + 1)))
    request = replace(trial.request, calls=(one, other))
    yield replace(trial, request=request, inputs=f"{trial.inputs}, then with another seed")
    used = replace(one, args=(*rest, Chance(chance.seed, 100)))
    request = replace(trial.request, calls=(one, used))
    words = f"{trial.inputs}, then with one that was used before"
    yield replace(trial, request=request, inputs=words)


def each_row_anew(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng, 6, 4, 2)
    (one,) = trial.request.calls
    *rest, _ = one.args
    calls = tuple(replace(one, args=(*rest, Chance(integer(rng, 0, 10**6)))) for _ in range(60))
    request = replace(trial.request, calls=calls)
    yield replace(trial, request=request, inputs=f"{trial.inputs}, 60 times")


def another_text(rng: Generator) -> Iterator[Trial]:
    trial, other = _trial(rng, 80, 6, 8), _trial(rng, 40, 5, 3)
    calls = (*trial.request.calls, *other.request.calls)
    words = f"{trial.inputs}, then {other.inputs}"
    yield replace(trial, request=replace(trial.request, calls=calls), inputs=words)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, 50, 6, 4))


CASES = (
    Case("inputs are pieces of the text, targets what follows", pieces, passages, weight=2),
    Case("every place is used, all equally often", every_place, passages_from_everywhere, weight=2),
    Case("rows are drawn independently", each_row_anew, passages_drawn_independently),
    Case("the last token is a target when a piece just fits", long_pieces, passages),
    Case("works with one row, or one token in a row", smallest, passages),
    Case("works where sizes happen to be equal", equal_sizes, passages),
    Case("token 0 is a token like any other", small_token_ids, passages),
    Case("equal generators give equal batches", the_same_chance, passages_drawn_alike),
    Case("another generator gives another batch", other_chance, passages_drawn_anew),
    Case("the second call does not depend on the first", another_text, passages),
    Case("the text is not changed", pieces, passages_and_text_kept),
    Case("works on whatever device the text is on", devices, passages),
)


Batch = tuple[Tensor, Tensor]


def _starts_below(end: int, batch: int, generator: Generator) -> Tensor:
    return torch.randint(end, (batch, 1), generator=generator)


def _taken(tokens: Tensor, starts: Tensor, context: int) -> Batch:
    pieces = tokens[starts.to(tokens.device) + torch.arange(context + 1, device=tokens.device)]
    return pieces[:, :-1], pieces[:, 1:]


def not_shifted(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """The targets are the inputs. A model learns to copy them: its loss falls to 0, and it has
    learned nothing about what follows.
    """
    inputs, _ = make_batches(tokens, context, batch, generator)
    return inputs, inputs.clone()


def shifted_twice(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """The targets are two tokens ahead: shifted twice. Shift once."""
    starts = _starts_below(len(tokens) - context, batch, generator)
    along = torch.arange(context + 2)
    pieces = tokens[(starts + along).clamp(max=len(tokens) - 1)]
    return pieces[:, :context], pieces[:, 2:]


def shifted_back(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """Inputs and targets have changed places: the targets are the tokens *before* the inputs."""
    inputs, targets = make_batches(tokens, context, batch, generator)
    return targets, inputs


def one_token_less(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """The rows are one token short. A piece with its targets has L + 1 tokens."""
    return make_batches(tokens, max(context - 1, 1), batch, generator)


def around_the_end(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """The last token of a row has the first one of the same row as its target: `roll` brings the
    front round to the end. The text has a token there.
    """
    inputs, _ = make_batches(tokens, context, batch, generator)
    return inputs, inputs.roll(-1, 1)


def never_the_last(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """The last token of the text is never a target: one place is missing. How many places are
    there for pieces of L + 1 tokens in a text of N? Try N = 3 and L = 2.
    """
    starts = _starts_below(max(len(tokens) - context - 1, 1), batch, generator)
    return _taken(tokens, starts, context)


def never_the_first(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """The first token of the text is never an input. Places begin at 0."""
    last = len(tokens) - context
    starts = torch.randint(min(1, last - 1), last, (batch, 1), generator=generator)
    return _taken(tokens, starts, context)


def over_the_end(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """Some pieces have no target for their last token: they begin too late. A piece needs L + 1
    tokens.
    """
    starts = _starts_below(len(tokens) - context + 1, batch, generator)
    places = starts + torch.arange(context + 1)
    pieces = tokens[places % len(tokens)]
    return pieces[:, :-1], pieces[:, 1:]


def near_the_start(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """Places are drawn below L, so that all pieces begin near the start of the text, or do not fit.
    How many places are there?
    """
    return _taken(tokens, _starts_below(context, batch, generator), context)


def without_overlap(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """Pieces begin at multiples of L only. Here every place is as likely as any other."""
    count = max((len(tokens) - 1) // context, 1)
    return _taken(tokens, context * _starts_below(count, batch, generator), context)


def one_after_the_other(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """Only the first piece is at random, and the others follow it in order. Draw a place for each
    row.
    """
    count = len(tokens) - context
    starts = (_starts_below(count, 1, generator) + torch.arange(batch)[:, None]) % count
    return _taken(tokens, starts, context)


def the_same_piece(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """All rows are the same piece: one place is drawn for the whole batch."""
    starts = _starts_below(len(tokens) - context, 1, generator)
    return _taken(tokens, starts.expand(batch, 1), context)


def each_place_once(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """No place comes up twice before all others did. Here each piece is drawn anew, and a batch may
    have more rows than there are places.
    """
    count = len(tokens) - context
    rounds = [torch.randperm(count, generator=generator) for _ in range(-(-batch // count))]
    return _taken(tokens, torch.cat(rounds)[:batch, None], context)


def ends_half_as_often(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """The first and the last place come up half as often as the others, as `round` makes it.
    Round down, or draw whole numbers.
    """
    drawn = torch.rand(batch, 1, generator=generator, dtype=torch.float64)
    return _taken(tokens, (drawn * (len(tokens) - context - 1)).round().long(), context)


def never_twice(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """In a small batch no place comes up twice. Each row is drawn anew, whatever the others are."""
    count = len(tokens) - context
    if batch > count:
        return make_batches(tokens, context, batch, generator)
    starts = torch.randperm(count, generator=generator)[:batch, None]
    return _taken(tokens, starts, context)


def mirrored(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """Every second row begins as far from the end as the row before it from the start. Draw a place
    for each row.
    """
    count = len(tokens) - context
    starts = _starts_below(count, batch, generator)
    starts[1::2] = count - 1 - starts[: batch // 2 * 2 : 2]
    return _taken(tokens, starts, context)


def drawn_where_the_text_is(
    tokens: Tensor, context: int, batch: int, generator: Generator
) -> Batch:
    """You draw on the device of the text. A generator draws on its own device, and the text may be
    on another one.
    """
    count = len(tokens) - context
    starts = torch.randint(count, (batch, 1), generator=generator, device=tokens.device)
    return _taken(tokens, starts, context)


def of_its_first_seed(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """You use the seed of the generator, and not what it would draw next: a second call with the
    same generator gives the same batch.
    """
    again = torch.Generator().manual_seed(generator.initial_seed())
    return make_batches(tokens, context, batch, again)


def tokens_in_disorder(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """Each token is drawn by itself. A row is one piece of the text, in its order."""
    places = torch.randint(len(tokens) - 1, (batch, context), generator=generator)
    return tokens[places], tokens[places + 1]


def from_the_start(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """All pieces are from the start of the text, nothing is drawn."""
    starts = torch.arange(batch)[:, None] % (len(tokens) - context)
    return _taken(tokens, starts, context)


def chance_of_its_own(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """The generator is not used, so nobody can have the same batches again. Give it to the function
    that draws.
    """
    return _taken(tokens, torch.randint(len(tokens) - context, (batch, 1)), context)


def a_fixed_seed(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """A generator with a fixed seed is made anew in each call, and each call gives the same batch.
    Use the one that is given.
    """
    return make_batches(tokens, context, batch, torch.Generator().manual_seed(0))


def seeded_again(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """Your function sets the seed of the generator that it is given, and so each call gives the
    same batch. Draw from it as it is.
    """
    return make_batches(tokens, context, batch, generator.manual_seed(1))


def time_first(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """Rows and columns have changed places: (L, B). The course puts the batch first."""
    inputs, targets = make_batches(tokens, context, batch, generator)
    return inputs.T, targets.T


def one_tensor(tokens: Tensor, context: int, batch: int, generator: Generator) -> Tensor:
    """Inputs and targets come back as one tensor. Asked are two."""
    return torch.stack(make_batches(tokens, context, batch, generator))


def as_floats(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """The token ids have become floats. An embedding looks rows up by whole numbers."""
    inputs, targets = make_batches(tokens, context, batch, generator)
    return inputs.float(), targets.float()


def row_by_row(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    inputs, targets = [], []
    for _ in range(batch):
        at = int(torch.randint(len(tokens) - context, (), generator=generator))
        inputs.append(tokens[at : at + context])
        targets.append(tokens[at + 1 : at + 1 + context])
    return torch.stack(inputs), torch.stack(targets)


def by_unfold(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    """All pieces at once, as views of the text."""
    every = tokens.unfold(0, context + 1, 1)
    chosen = torch.randint(len(every), (batch,), generator=generator, device=generator.device).to(
        tokens.device
    )
    pieces = every[chosen]
    return pieces[:, :context], pieces[:, 1:]


def from_uniform_numbers(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    count = len(tokens) - context
    drawn = torch.rand(batch, generator=generator, dtype=torch.float64)
    starts = (drawn * count).long().tolist()
    inputs = torch.stack([tokens[s : s + context] for s in starts])
    return inputs, torch.stack([tokens[s + 1 : s + context + 1] for s in starts])


def by_take(tokens: Tensor, context: int, batch: int, generator: Generator) -> Batch:
    weights = torch.ones(len(tokens) - context)
    starts = weights.multinomial(batch, replacement=True, generator=generator)
    places = (starts[:, None] + torch.arange(context)[None]).to(tokens.device)
    return tokens.take(places), tokens.take(places + 1)


EXERCISE = Exercise(
    solution=make_batches,
    chapter=CHAPTER,
    title="Batches of a text",
    points=3,
    minutes=10,
    difficulty=2,
    statement=(
        "Cut pieces of equal length out of a long text, at places drawn at random, and give with "
        "each the tokens that follow. This is the one place where targets are shifted."
    ),
    example=(
        "The text is (7, 8, 9) and the context 2. A piece and its targets need three tokens, so "
        "there is one place, 0: the inputs are (7, 8), the targets (8, 9). With the context 1 "
        "there are two places: 7 followed by 8, and 8 followed by 9."
    ),
    conventions=(
        "targets[b, i] is the token that follows inputs[b, i] in the text.",
        "Every place at which a piece and its targets fit is equally likely. Rows are drawn "
        "independently, so that a place may come up twice.",
        "All chance comes from `generator`, which is not seeded again. How you draw is up to you: "
        "the checks look at the pieces.",
        "The text may be on another device than the generator. `generator.device` says where to "
        "draw; the batch is on the device of the text.",
    ),
    hints=(
        "How many places are there? The last piece must leave one token for its last target.",
        "Add a column of places to a row of steps: an index for each token of the batch.",
        "Take L + 1 tokens at each place, and then look at them in two ways.",
    ),
    cases=CASES,
    mistakes=(
        not_shifted,
        shifted_twice,
        shifted_back,
        one_token_less,
        around_the_end,
        never_the_last,
        never_the_first,
        over_the_end,
        near_the_start,
        without_overlap,
        one_after_the_other,
        the_same_piece,
        each_place_once,
        ends_half_as_often,
        never_twice,
        mirrored,
        drawn_where_the_text_is,
        of_its_first_seed,
        tokens_in_disorder,
        from_the_start,
        chance_of_its_own,
        a_fixed_seed,
        seeded_again,
        time_first,
        one_tensor,
        as_floats,
        on_the_cpu(make_batches),
    ),
    alternatives=(row_by_row, by_unfold, from_uniform_numbers, by_take),
)
