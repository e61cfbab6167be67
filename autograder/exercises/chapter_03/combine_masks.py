"""Exercise: a query sees what every mask lets it see."""

import functools
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_03 import CHAPTER
from autograder.exercises.chapter_03._draws import some
from autograder.inputs import sizes
from autograder.slips import as_numbers
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere
from autograder.wire import call
from solutions.masks import combine_masks

Mask = Tensor | None


def _shape(mask: Mask) -> str:
    return "None" if mask is None else str(tuple(mask.shape))


def _listed(masks: tuple[Mask, ...]) -> str:
    return f", {' and '.join(map(_shape, masks))}" if masks else ""


def _trial(*masks: Mask) -> Trial:
    return Trial(call(*masks), f"masks given: {len(masks)}{_listed(masks)}")


def _drawn(rng: Generator, *axes: str) -> Trial:
    of = {**sizes(rng, "B H L M"), "1": 1}
    return _trial(*(some(rng, letters, of) for letters in axes))


def same_shapes(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, "L M", "L M")
    yield _drawn(rng, "B L M", "B L M")


def broadcast(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, "B 1 1 M", "L M")
    yield _drawn(rng, "L M", "B 1 1 M")
    yield _drawn(rng, "M", "L 1")
    yield _drawn(rng, "1 1", "B H L M")


def many(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, "L M", "L M", "L M")
    yield _drawn(rng, "B 1 1 M", "L M", "H L 1", "M")


def with_none(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B L M")
    one, two = some(rng, "L M", of), some(rng, "B L M", of)
    for masks in ((one, None), (None, one), (None, one, None, two), (one, None, None, two)):
        yield _trial(*masks)


def alone(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, "L M")
    yield _drawn(rng, "B 1 1 M")


def nothing_hidden(rng: Generator) -> Iterator[Trial]:
    yield _trial()
    yield _trial(None)
    yield _trial(None, None)
    yield _drawn(rng, "L M", "L M")


def all_kinds(rng: Generator) -> Iterator[Trial]:
    yield from same_shapes(rng)
    yield from many(rng)
    yield from alone(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    for trial in same_shapes(rng):
        yield trial
        yield elsewhere(trial)


CASES = (
    Case("a pair is visible only if both masks allow it", same_shapes, values, weight=2),
    Case("the shapes of masks broadcast", broadcast, values, weight=2),
    Case("works for any number of masks", many, values),
    Case("None hides nothing", with_none, values),
    Case("one mask alone stays as it is", alone, values),
    Case("None comes back just if there is no mask at all", nothing_hidden, values),
    Case("the masks themselves are not changed", all_kinds, inputs_kept),
    Case("works on whatever device the masks are on", devices, values),
)


def _given(masks: tuple[Mask, ...]) -> list[Tensor]:
    return [mask for mask in masks if mask is not None]


def either(*masks: Mask) -> Mask:
    """A pair is visible if *one* mask allows it. That is how masks are combined in which True
    hides. Here every mask must allow it.
    """
    found = _given(masks)
    return functools.reduce(torch.logical_or, found) if found else None


def exactly_one(*masks: Mask) -> Mask:
    """A pair that two masks allow is hidden. `^` is "one or the other, not both"."""
    found = _given(masks)
    return functools.reduce(torch.logical_xor, found) if found else None


def hidden_by_all(*masks: Mask) -> Mask:
    """The result says where all masks hide. It should say where all of them allow."""
    found = [~mask for mask in _given(masks)]
    return functools.reduce(torch.logical_and, found) if found else None


def inverted(*masks: Mask) -> Mask:
    """The result is True where something is hidden. True should mean "may attend"."""
    combined = combine_masks(*masks)
    return None if combined is None else ~combined


def the_last_alone(*masks: Mask) -> Mask:
    """Only the last mask counts: each replaces the ones before."""
    found = _given(masks)
    return found[-1] if found else None


def the_first_alone(*masks: Mask) -> Mask:
    """Only the first mask counts. Does something return too early?"""
    found = _given(masks)
    return found[0] if found else None


def the_first_two(*masks: Mask) -> Mask:
    """Only two masks are combined. There may be more."""
    return combine_masks(*_given(masks)[:2])


def up_to_the_first_none(*masks: Mask) -> Mask:
    """What comes after a None is left out. Skip the None, and go on."""
    return combine_masks(*masks[: masks.index(None)]) if _has_none(masks) else combine_masks(*masks)


def none_if_any_is_none(*masks: Mask) -> Mask:
    """One None makes the whole answer None. It only says that *this* mask hides nothing."""
    return None if _has_none(masks) else combine_masks(*masks)


def _has_none(masks: tuple[Mask, ...]) -> bool:
    return any(mask is None for mask in masks)


def none_not_expected(*masks: Mask) -> Mask:
    """A mask may be None, and then it has nothing to say. Skip it."""
    return functools.reduce(lambda a, b: a & b, masks)  # type: ignore[operator]


def truth_of_a_tensor(*masks: Mask) -> Mask:
    """`if mask:` asks whether a whole tensor is true, which has no answer, and `a and b` asks the
    same. Ask whether a mask `is None`.
    """
    return combine_masks(*(mask for mask in masks if mask))


def true_for_none(*masks: Mask) -> Mask:
    """Where no mask is given, a tensor comes back. Return None, so that attention knows that it
    need not mask at all.
    """
    combined = combine_masks(*masks)
    return torch.ones((), dtype=torch.bool) if combined is None else combined


def same_shapes_only(*masks: Mask) -> Mask:
    """The masks are stacked, which needs equal shapes. `&` broadcasts."""
    found = _given(masks)
    return torch.stack(found).all(0) if found else None


def in_place(*masks: Mask) -> Mask:
    """The first mask is changed: `&=` writes into the caller's tensor. Make a new one."""
    found = _given(masks)
    for mask in found[1:]:
        found[0] &= mask
    return found[0] if found else None


def own_buffer(*masks: Mask) -> Mask:
    """You begin with a tensor of True made on the CPU. Begin with the first mask, or give `device`
    that of the masks.
    """
    found = _given(masks)
    return combine_masks(torch.ones(1, dtype=torch.bool), *found) if found else None


def by_reduce(*masks: Mask) -> Mask:
    found = [mask for mask in masks if mask is not None]
    return functools.reduce(lambda a, b: a * b, found) if found else None


def by_all(*masks: Mask) -> Mask:
    found = list(filter(lambda mask: mask is not None, masks))
    if not found:
        return None
    together = torch.broadcast_tensors(*found)  # type: ignore[no-untyped-call]
    return torch.stack(together).all(dim=0)


def by_hiding(*masks: Mask) -> Mask:
    hidden: Mask = None
    for mask in masks:
        if mask is None:
            continue
        hidden = torch.logical_or(~mask, torch.zeros_like(mask) if hidden is None else hidden)
    return hidden if hidden is None else torch.logical_not(hidden)


def recursively(*masks: Mask) -> Mask:
    if not masks:
        return None
    first, rest = masks[0], recursively(*masks[1:])
    if first is None or rest is None:
        return rest if first is None else first.clone()
    return torch.where(first, rest, False)


def by_numbers(*masks: Mask) -> Mask:
    product: Tensor | float = 1.0
    for mask in masks:
        product = product * (1.0 if mask is None else mask.float())
    return product == 1 if isinstance(product, Tensor) else None


EXERCISE = Exercise(
    solution=combine_masks,
    chapter=CHAPTER,
    title="Masks together",
    points=2,
    minutes=6,
    difficulty=2,
    statement=(
        "Write `combine_masks(*masks)`: the mask that lets a query see what every given mask lets "
        "it see. A caller who has nothing to hide passes None; if nobody hides anything, None is "
        "also the answer."
    ),
    example=(
        "The row [True, True, False], a None, and the column [True], [False]: query 0 sees what "
        "the row allows, query 1 sees nothing. The answer is [[True, True, False], "
        "[False, False, False]]."
    ),
    conventions=(
        'True means "may attend", in what comes in and in what comes out.',
        "Shapes broadcast: (B, 1, 1, M) and (L, M) give (B, 1, L, M). One mask alone keeps its "
        "shape.",
        "With no mask, or with None only, the answer is None.",
        "One mask alone may be returned itself; none of them is changed.",
    ),
    hints=(
        "When two masks disagree about a pair, which of them decides?",
        "`*masks` makes a tuple of all arguments. Go through it and skip what is None.",
        "`&` combines two tensors of booleans entry by entry, and broadcasts.",
    ),
    cases=CASES,
    mistakes=(
        either,
        exactly_one,
        hidden_by_all,
        inverted,
        the_last_alone,
        the_first_alone,
        the_first_two,
        up_to_the_first_none,
        none_if_any_is_none,
        none_not_expected,
        truth_of_a_tensor,
        true_for_none,
        same_shapes_only,
        in_place,
        *as_numbers(combine_masks),
        own_buffer,
    ),
    alternatives=(by_reduce, by_all, by_hiding, recursively, by_numbers),
)
