"""Exercise: several sequences as one, step by step.

Out of scope: what the tokens are made from.
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_14 import CHAPTER
from autograder.exercises.chapter_14._draws import beyond_float32
from autograder.exercises.chapter_14._draws import not_contiguous as turned
from autograder.inputs import normal, sizes
from autograder.slips import (
    always_float32,
    changed_in_place,
    cut_from_autograd,
    float64_narrowed,
    on_the_cpu,
)
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.decisions import interleave_tokens


def _trial(rng: Generator, count: int, **fixed: int) -> Trial:
    of = {**sizes(rng, "B L D"), **fixed}
    kinds = [normal(rng, "B L D", of) for _ in range(count)]
    of["N"] = count * of["L"]
    words = f"{count} tensors (B, L, D) = ({of['B']}, {of['L']}, {of['D']})"
    return Trial(call(*kinds), words, of, "B N D")


def _three(rng: Generator, **fixed: int) -> Trial:
    return _trial(rng, 3, **fixed)


def three_kinds(rng: Generator) -> Iterator[Trial]:
    yield _three(rng)
    yield _three(rng)


def other_numbers_of_kinds(rng: Generator) -> Iterator[Trial]:
    for count in (2, 4, 5):
        yield _trial(rng, count)


def one_kind(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 1)


def small(rng: Generator) -> Iterator[Trial]:
    yield _three(rng, B=1)
    yield _three(rng, L=1)
    yield _three(rng, D=1)


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    yield _three(rng, B=3, L=3, D=3)
    yield _trial(rng, 2, B=2, L=2, D=2)


def contiguous_or_not(rng: Generator) -> Iterator[Trial]:
    yield turned(_three(rng))


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_three(rng))
    yield beyond_float32(_three(rng))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_three(rng), rng)


def kept(rng: Generator) -> Iterator[Trial]:
    yield _three(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_three(rng))


CASES = (
    Case("returns, states and actions take turns", three_kinds, values, weight=2),
    Case("two, four or five kinds", other_numbers_of_kinds, values),
    Case("one kind comes back as it is", one_kind, values),
    Case("a single example, step or feature", small, values),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("works for tensors that are not contiguous", contiguous_or_not, values),
    Case("the dtype is kept", dtypes, values),
    Case("the gradient reaches every kind", gradients, values),
    Case("the tokens themselves are not changed", kept, inputs_kept),
    Case("works on whatever device they are on", devices, values),
)


def one_after_the_other(*kinds: Tensor) -> Tensor:
    """All tokens of the first kind come first, then all of the second. They take turns, step by
    step.
    """
    return torch.cat(kinds, dim=1)


def side_by_side(*kinds: Tensor) -> Tensor:
    """The tokens of a step became one wide token. They stay apart, one after the other."""
    return torch.cat(kinds, dim=2)


def added_up(*kinds: Tensor) -> Tensor:
    """The tokens of a step are added up. They stay apart."""
    return torch.stack(kinds).sum(0)


def last_kind_first(*kinds: Tensor) -> Tensor:
    """Within a step the kinds come in reversed order. The first one that is given comes first."""
    return interleave_tokens(*kinds[::-1])


def features_mixed(*kinds: Tensor) -> Tensor:
    """The shape is right, but the numbers of different kinds are mixed up: they were stacked behind
    the features. Stack them behind the steps.
    """
    batch, _, width = kinds[0].shape
    return torch.stack(kinds, dim=-1).reshape(batch, -1, width)


def examples_mixed(*kinds: Tensor) -> Tensor:
    """The shape is right, but rows of the batch hold tokens of other examples: they were stacked in
    front of the batch, and a reshape moves no number.
    """
    batch, _, width = kinds[0].shape
    return torch.stack(kinds).reshape(batch, -1, width)


def batch_in_turn(*kinds: Tensor) -> Tensor:
    """The kinds take turns along the batch. They take turns along the steps."""
    return torch.stack(kinds, dim=1).flatten(0, 1)


def not_flat(*kinds: Tensor) -> Tensor:
    """Steps and kinds are still two axes. Make one of them."""
    return torch.stack(kinds, dim=2)


def three_alone(*kinds: Tensor) -> Tensor:
    """Only the first three kinds are used. There may be fewer or more."""
    return interleave_tokens(*kinds[:3])


def first_two(*kinds: Tensor) -> Tensor:
    """Only the first two kinds are used."""
    return interleave_tokens(*kinds[:2])


def each_repeated(*kinds: Tensor) -> Tensor:
    """The first kind is repeated in the place of the others."""
    return kinds[0].repeat_interleave(len(kinds), dim=1)


def steps_backwards(*kinds: Tensor) -> Tensor:
    """The steps come in reversed order. Step 0 comes first."""
    return interleave_tokens(*(kind.flip(1) for kind in kinds))


def from_zeros(*kinds: Tensor) -> Tensor:
    batch, steps, width = kinds[0].shape
    tokens = kinds[0].new_zeros(batch, steps * len(kinds), width)
    for i, kind in enumerate(kinds):
        tokens[:, i :: len(kinds)] = kind
    return tokens


def in_a_loop(*kinds: Tensor) -> Tensor:
    steps = zip(*(kind.unbind(1) for kind in kinds), strict=True)
    return torch.stack([token for step in steps for token in step], dim=1)


def by_cutting_wide_tokens(*kinds: Tensor) -> Tensor:
    batch, _, width = kinds[0].shape
    return torch.cat(kinds, dim=-1).reshape(batch, -1, width)


def by_order(*kinds: Tensor) -> Tensor:
    steps = kinds[0].shape[1]
    place = torch.arange(steps * len(kinds), device=kinds[0].device)
    order = place // len(kinds) + steps * (place % len(kinds))
    return torch.cat(kinds, dim=1)[:, order]


def by_turning(*kinds: Tensor) -> Tensor:
    return torch.stack(kinds).permute(1, 2, 0, 3).flatten(1, 2)


EXERCISE = Exercise(
    solution=interleave_tokens,
    chapter=CHAPTER,
    title="Taking turns",
    points=2,
    minutes=6,
    difficulty=2,
    statement=(
        "Make one sequence of several: the tokens of step 0, one of each kind, then those of "
        "step 1, and so on. A decision transformer calls it with returns, states and actions."
    ),
    example=("Returns 1, 2 and states 10, 20, one feature each: the sequence is 1, 10, 2, 20."),
    conventions=(
        "Any number of kinds, all of the same shape, in the order in which they are given.",
    ),
    hints=(
        "Which new axis do you need, and where must it lie, so that a reshape reads the tokens in "
        "the right order?",
        "A reshape merges neighbouring axes, and the one further right runs faster.",
    ),
    cases=CASES,
    mistakes=(
        one_after_the_other,
        side_by_side,
        added_up,
        last_kind_first,
        features_mixed,
        examples_mixed,
        batch_in_turn,
        not_flat,
        three_alone,
        first_two,
        each_repeated,
        steps_backwards,
        on_the_cpu(interleave_tokens),
        always_float32(interleave_tokens),
        float64_narrowed(interleave_tokens),
        cut_from_autograd(interleave_tokens),
        changed_in_place(interleave_tokens),
    ),
    alternatives=(from_zeros, in_a_loop, by_cutting_wide_tokens, by_order, by_turning),
)
