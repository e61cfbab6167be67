"""Exercise: weights of a layer of experts, and those that one token uses.

Out of scope: biases, attention and embeddings (chapter 12).
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Generator

from autograder.compare import values
from autograder.exercises.chapter_09 import CHAPTER
from autograder.inputs import integer
from autograder.spec import Case, Exercise, Trial
from autograder.wire import call
from solutions.experts import expert_parameters

NAMES = ("d_model", "d_ff", "experts", "k")
Counts = tuple[int, int]


def _trial(*numbers: int, **options: int) -> Trial:
    pairs = [*zip(NAMES, numbers, strict=True), *options.items()]
    words = ", ".join(f"{name} = {value}" for name, value in pairs)
    return Trial(call(*numbers, **options), words, returns="total, active")


def _sizes(rng: Generator) -> list[int]:
    """Draw d_model, d_ff, experts and k, with k between 1 and the experts."""
    wide, wider, experts = (torch.randperm(20, generator=rng)[:3] + 6).tolist()
    return [wide, wider, experts, integer(rng, 2, experts - 2)]


def four_sizes(rng: Generator) -> Iterator[Trial]:
    yield _trial(*_sizes(rng))
    yield _trial(*_sizes(rng))


def with_shared(rng: Generator) -> Iterator[Trial]:
    yield _trial(*_sizes(rng), shared=integer(rng, 2, 4))
    yield _trial(*_sizes(rng), shared=1)
    wide, wider, experts, _ = _sizes(rng)
    yield _trial(wide, wider, experts, 1, shared=2)
    yield _trial(wide, wider, experts, experts, shared=2)


def all_chosen(rng: Generator) -> Iterator[Trial]:
    wide, wider, experts, _ = _sizes(rng)
    yield _trial(wide, wider, experts, experts)


def one_chosen(rng: Generator) -> Iterator[Trial]:
    wide, wider, experts, _ = _sizes(rng)
    yield _trial(wide, wider, experts, 1)
    yield _trial(wide, wider, 1, 1)
    yield _trial(1, wider, experts, 1)


def large_model(rng: Generator) -> Iterator[Trial]:
    yield _trial(
        7169, 2 * integer(rng, 1024, 1100) + 1, 255, 8, shared=1
    )  # odd: float32 is too coarse


CASES = (
    Case("four sizes and no shared experts", four_sizes, values, weight=2),
    Case("shared experts are there and used", with_shared, values),
    Case("if all experts are chosen, all weights are active", all_chosen, values),
    Case("one expert is chosen, or only one exists", one_chosen, values),
    Case("a large model, to the last weight", large_model, values),
)


def two_matrices(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Counts:
    """Your experts have two matrices. A gated one has three: for the gate, up and down."""
    router, expert = experts * d_model, 2 * d_model * d_ff
    return router + (experts + shared) * expert, router + (k + shared) * expert


def one_matrix(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Counts:
    """Your experts have one matrix. How many does a gated feed-forward network have?"""
    router, expert = experts * d_model, d_model * d_ff
    return router + (experts + shared) * expert, router + (k + shared) * expert


def router_forgotten(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Counts:
    """The router is missing. It has one vector of d_model numbers for each expert."""
    expert = 3 * d_model * d_ff
    return (experts + shared) * expert, (k + shared) * expert


def router_of_the_chosen(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Counts:
    """Among the active weights you count the router's rows of the chosen experts alone. To choose,
    it has to score all experts.
    """
    total, active = expert_parameters(d_model, d_ff, experts, k, shared)
    return total, active - (experts - k) * d_model


def router_not_active(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Counts:
    """The router is in the total, but not among the active weights. Every token needs it."""
    total, active = expert_parameters(d_model, d_ff, experts, k, shared)
    return total, active - experts * d_model


def router_with_bias(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Counts:
    """You count a bias for each expert in the router. Here it has none."""
    total, active = expert_parameters(d_model, d_ff, experts, k, shared)
    return total + experts, active + experts


def biases(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Counts:
    """You count biases in the experts. Here they have none."""
    total, active = expert_parameters(d_model, d_ff, experts, k, shared)
    bias = 2 * d_ff + d_model
    return total + (experts + shared) * bias, active + (k + shared) * bias


def router_for_shared(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Counts:
    """Your router has rows for the shared experts, too. Nobody chooses these: every token gets
    them.
    """
    total, active = expert_parameters(d_model, d_ff, experts, k, shared)
    return total + shared * d_model, active + shared * d_model


def shared_forgotten(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Counts:
    """The shared experts are missing in both numbers."""
    return expert_parameters(d_model, d_ff, experts, k)


def shared_at_rest(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Counts:
    """The shared experts are in the total alone, or counted as some of the k. Each token uses them,
    besides the k that are chosen for it.
    """
    active = expert_parameters(d_model, d_ff, experts, k)[1]
    return expert_parameters(d_model, d_ff, experts, k, shared)[0], active


def shared_among_experts(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Counts:
    """You count the shared experts as some of `experts`. They come besides these."""
    total = expert_parameters(d_model, d_ff, experts, k)[0]
    return total, expert_parameters(d_model, d_ff, experts, k, shared)[1]


def everything_active(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Counts:
    """Your active weights are all weights. Which experts does one token use?"""
    total, _ = expert_parameters(d_model, d_ff, experts, k, shared)
    return total, total


def always_one_chosen(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Counts:
    """Your token uses one chosen expert. It gets k of them."""
    total, _ = expert_parameters(d_model, d_ff, experts, k, shared)
    return total, expert_parameters(d_model, d_ff, experts, 1, shared)[1]


def the_other_way_round(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Counts:
    """The two numbers are right but in the other order: first all, then the active ones."""
    total, active = expert_parameters(d_model, d_ff, experts, k, shared)
    return active, total


def in_flops(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Counts:
    """Your second number is twice the active weights: the FLOPs of one token. Asked are weights."""
    total, active = expert_parameters(d_model, d_ff, experts, k, shared)
    return total, 2 * active


def counted_on_meta(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Counts:
    def weights(how_many: int) -> int:
        shapes = [(how_many + shared, d_ff, d_model)] * 3 + [(experts, d_model)]
        return sum(torch.empty(shape, device="meta").numel() for shape in shapes)

    return weights(experts), weights(k)


def factored_out(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> tuple[int, int]:
    total = d_model * (3 * d_ff * (experts + shared) + experts)
    return total, total - 3 * d_model * d_ff * (experts - k)


def matrix_by_matrix(d_model: int, d_ff: int, experts: int, k: int, shared: int = 0) -> Any:
    matrices = (d_ff * d_model, d_ff * d_model, d_model * d_ff)
    numbers = (experts + shared, k + shared)
    return [sum(n * matrix for matrix in matrices) + experts * d_model for n in numbers]


EXERCISE = Exercise(
    solution=expert_parameters,
    chapter=CHAPTER,
    title="Weights that exist, weights that are used",
    points=2,
    minutes=6,
    difficulty=1,
    statement=(
        "Count the weights of one layer of experts, and how many of them are active for one token. "
        "Each expert is a gated feed-forward network of three matrices without biases. Shared "
        "experts, of the same size, are given to every token besides those that are chosen."
    ),
    example=(
        "With d_model 4 and d_ff 6 an expert has 3 x 4 x 6 = 72 weights. Eight and a router of "
        "8 x 4 = 32 make 8 x 72 + 32 = 608 in total. A token with k = 2 uses 2 x 72 + 32 = 176."
    ),
    conventions=(
        "Two numbers are returned: total, active.",
        "The router has one vector of d_model numbers for each expert that can be chosen, no bias, "
        "and is active as a whole: to choose, all scores are needed.",
        "Shared experts come besides `experts` and besides `k`. With one shared expert, the "
        "example has 680 weights, of which 248 are active.",
    ),
    hints=(
        "Name the weights of one expert first. Then it is a matter of how many there are.",
        "How many experts exist? How many does one token meet? Shared ones are in both answers.",
        "The router's part is the same in both numbers.",
    ),
    cases=CASES,
    mistakes=(
        two_matrices,
        one_matrix,
        router_forgotten,
        router_of_the_chosen,
        router_not_active,
        router_with_bias,
        biases,
        router_for_shared,
        shared_forgotten,
        shared_at_rest,
        shared_among_experts,
        everything_active,
        always_one_chosen,
        the_other_way_round,
        in_flops,
    ),
    alternatives=(counted_on_meta, factored_out, matrix_by_matrix),
)
