"""Exercise: a mask as numbers that are added to the scores."""

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_03 import CHAPTER
from autograder.exercises.chapter_03._draws import some
from autograder.inputs import described, normal, sizes
from autograder.slips import changed_in_place, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere, in_dtypes
from autograder.wire import call
from solutions.masks import additive_mask


def _drawn(rng: Generator, axes: str = "L M") -> Trial:
    of = {**sizes(rng, "B H L M"), "1": 1}
    mask = some(rng, axes, of)
    mask[..., 0], mask[..., -1] = True, False
    scores = normal(rng, "B H L M", of)
    words = f"{described('mask', axes, of)}, {described('scores', 'B H L M', of)}"
    return Trial(call(mask, scores), words, of, axes)


def one_table(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def other_ranks(rng: Generator) -> Iterator[Trial]:
    for axes in ("M", "B 1 1 M", "B H L M"):
        yield _drawn(rng, axes)


def _uniform(rng: Generator, of: dict[str, int], value: bool) -> Trial:
    mask = torch.full((of["L"], of["M"]), value)
    words = f"{described('mask', 'L M', of)}, all {value}"
    return Trial(call(mask, normal(rng, "L M", of)), words, of, "L M")


def all_visible(rng: Generator) -> Iterator[Trial]:
    yield _uniform(rng, sizes(rng, "L M"), True)


def all_hidden(rng: Generator) -> Iterator[Trial]:
    yield _uniform(rng, sizes(rng, "L M"), False)
    yield _uniform(rng, {"L": 1, "M": 1}, False)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng))


def devices(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    yield trial
    yield elsewhere(trial)


CASES = (
    Case("0 where allowed, minus infinity where hidden", one_table, values, weight=2),
    Case("the result has the shape of the mask", other_ranks, values),
    Case("where nothing is hidden, nothing is added", all_visible, values),
    Case("everything may be hidden", all_hidden, values),
    Case("the dtype is that of the scores", dtypes, values),
    Case("mask and scores are not changed", one_table, inputs_kept),
    Case("works on whatever device mask and scores are on", devices, values),
)


def inverted(mask: Tensor, scores: Tensor) -> Tensor:
    """You hide where the mask says True. Here True means "may attend", and False is hidden."""
    return additive_mask(~mask, scores)


def numbers_of_the_mask(mask: Tensor, scores: Tensor) -> Tensor:
    """You return the mask as 0 and 1. Added to scores, that hides nothing. What must be added to a
    score so that its exponential is 0?
    """
    return mask.to(scores.dtype)


def ones_left(mask: Tensor, scores: Tensor) -> Tensor:
    """Where the mask allows, you return 1, which raises a score. What is added must leave it as it
    is.
    """
    return mask.to(scores.dtype).masked_fill(~mask, -math.inf)


def times_infinity(mask: Tensor, scores: Tensor) -> Tensor:
    """You multiply by infinity. Where the other factor is 0, that is NaN: choose between two values
    instead.
    """
    return (1 - mask.to(scores.dtype)) * -math.inf


def plus_infinity(mask: Tensor, scores: Tensor) -> Tensor:
    """Hidden keys get plus infinity. How many minus signs are there?"""
    return -additive_mask(mask, scores)


def minus_1e9(mask: Tensor, scores: Tensor) -> Tensor:
    """You hide with a large negative number (-1e9). It fails where scores are as low, and does not
    fit into float16. -inf is a number of every float dtype: `float("-inf")`, `-math.inf`.
    """
    return scores.new_zeros(mask.shape).masked_fill(~mask, -1e9)


def minus_1e4(mask: Tensor, scores: Tensor) -> Tensor:
    """You hide with -10,000. A trained model can have scores below that; then the hidden keys get
    all the weight. -inf is below all of them.
    """
    return scores.new_zeros(mask.shape).masked_fill(~mask, -1e4)


def tiny(mask: Tensor, scores: Tensor) -> Tensor:
    """1e-9 is a small number, nearly 0, and hides nothing. A *negative exponent* does not make a
    number negative.
    """
    return scores.new_zeros(mask.shape).masked_fill(~mask, 1e-9)


def lowest(mask: Tensor, scores: Tensor) -> Tensor:
    """You hide with the lowest number of the dtype, as transformers does. Here -inf is asked: where
    all keys are hidden, the lowest number gives them equal weights.
    """
    return scores.new_zeros(mask.shape).masked_fill(~mask, torch.finfo(scores.dtype).min)


def added_already(mask: Tensor, scores: Tensor) -> Tensor:
    """You return masked scores. Asked is only what is to be added to them."""
    return scores + additive_mask(mask, scores)


def shape_of_scores(mask: Tensor, scores: Tensor) -> Tensor:
    """The result has the shape of the scores. Keep that of the mask: when it is added, broadcasting
    repeats it.
    """
    return additive_mask(mask, scores).expand_as(scores)


def default_dtype(mask: Tensor, scores: Tensor) -> Tensor:
    """The result is float32 whatever the scores are. Added to half precision it would turn the sum
    into float32.
    """
    return additive_mask(mask, scores.float())


def own_buffer(mask: Tensor, scores: Tensor) -> Tensor:
    """You begin with a tensor made on the CPU: `torch.zeros` needs `device=`; see `new_zeros`,
    `zeros_like`.
    """
    return torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -math.inf)


def by_choice(mask: Tensor, scores: Tensor) -> Tensor:
    return torch.where(mask, 0.0, float("-inf")).to(scores.dtype)


def by_logarithm(mask: Tensor, scores: Tensor) -> Tensor:
    """The logarithm of 1 is 0, and that of 0 is -inf."""
    return torch.log(mask.to(scores.dtype))


def by_filling(mask: Tensor, scores: Tensor) -> Tensor:
    numbers = torch.full_like(mask, -math.inf, dtype=scores.dtype)
    return numbers.masked_fill_(mask, 0)


def by_indexing(mask: Tensor, scores: Tensor) -> Tensor:
    numbers = torch.zeros_like(mask, dtype=scores.dtype)
    numbers[mask.logical_not()] = float("-inf")
    return numbers


EXERCISE = Exercise(
    solution=additive_mask,
    chapter=CHAPTER,
    title="A mask to add",
    points=2,
    minutes=5,
    difficulty=1,
    statement=(
        "Write `additive_mask(mask, scores)`: translate a boolean mask into numbers that hide when "
        "they are added to the scores. The scores themselves are only there to say which dtype the "
        "numbers must have."
    ),
    example=(
        "The mask [True, False] becomes [0, -inf]. Added to the scores 3 and 5 this gives 3 and "
        "-inf, and a softmax gives the weights 1 and 0."
    ),
    conventions=(
        'In the mask, True means "may attend".',
        "Hidden means exactly minus infinity, not a large negative number.",
        "The result has the shape of the mask, and the dtype of the scores: float16 for float16. "
        "Both come on the same device.",
    ),
    hints=(
        "What can you add to a number without changing it? And what makes any number -inf?",
        "Infinity times 0 is NaN, so do not multiply: choose one of two values for each entry.",
        "`torch.where`, or `masked_fill` on zeros.",
    ),
    cases=CASES,
    mistakes=(
        inverted,
        numbers_of_the_mask,
        ones_left,
        times_infinity,
        plus_infinity,
        minus_1e9,
        minus_1e4,
        tiny,
        lowest,
        added_already,
        shape_of_scores,
        default_dtype,
        own_buffer,
        on_the_cpu(additive_mask),
        changed_in_place(additive_mask, 2),
    ),
    alternatives=(by_choice, by_logarithm, by_filling, by_indexing),
)
