"""Exercise: which parameters decay.

Out of scope: frozen parameters, groups with other learning rates.
"""

from collections.abc import Iterator, Mapping

from torch import Generator, Tensor

from autograder.compare import values
from autograder.exercises.chapter_12 import CHAPTER
from autograder.inputs import described, normal, sizes
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere
from autograder.wire import Request, call
from solutions.optimiser import parameter_groups

Names = tuple[list[str], list[str]]
RETURNS = "decayed, others"


def _trial(rng: Generator, shapes: Mapping[str, str], **fixed: int) -> Trial:
    of = {**sizes(rng, "D F V X"), **fixed}
    parameters = {name: normal(rng, axes, of) for name, axes in shapes.items()}
    words = ", ".join(described(name, axes, of) for name, axes in shapes.items())
    return Trial(call(parameters), words, of, RETURNS)


BLOCK = {
    "embed.weight": "V D",
    "norm_1.weight": "D",
    "w_q.weight": "D D",
    "w_q.bias": "D",
    "norm_2.weight": "D",
    "w_up.weight": "F D",
    "head.weight": "V D",
}


def a_model(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, BLOCK)


def gains(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, {"w.weight": "F D", "scale": "D", "final.gain": "F", "norm.weight": "V"})


def experts(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, {"w_up": "X F D", "router.weight": "X D", "shift": "X", "mix": "X V F D"})


def single_numbers(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, {"temperature": "", "w": "D F", "alpha": ""})


def misleading_names(rng: Generator) -> Iterator[Trial]:
    shapes = {"relative_bias": "D F", "norm_mix.weight": "D D", "weight": "D", "w_matrix": "F"}
    yield _trial(rng, shapes)


def thin_matrices(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, {"up.weight": "F D", "gain": "F", "down.weight": "D F"}, F=1)
    yield _trial(rng, {"long": "V", "small": "D F"}, V=200, D=2, F=3)


def one_kind(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, {"a": "D F", "b": "F D"})
    yield _trial(rng, {"a": "D", "b": "F"})


def several_calls(rng: Generator) -> Iterator[Trial]:
    one, other = _trial(rng, BLOCK), _trial(rng, {"up": "F D", "gain": "D"})
    calls = (*one.request.calls, *other.request.calls, *one.request.calls)
    yield Trial(Request(calls), f"{one.inputs}; then {other.inputs}; then the first")


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, BLOCK))


CASES = (
    Case("matrices decay, vectors do not", a_model, values, weight=2),
    Case("the gain of a norm is a vector, whatever it is called", gains, values),
    Case("stacks of matrices decay, too", experts, values),
    Case("a single number does not decay", single_numbers, values),
    Case("names say nothing", misleading_names, values),
    Case("a matrix with one column is a matrix", thin_matrices, values),
    Case("one of the lists may be empty", one_kind, values),
    Case("the second call does not depend on the first", several_calls, values),
    Case("works on whatever device the parameters are on", devices, values),
)


def _by(parameters: Mapping[str, Tensor], decays: Mapping[str, bool]) -> Names:
    names = list(parameters)
    return [n for n in names if decays[n]], [n for n in names if not decays[n]]


def everything(parameters: Mapping[str, Tensor]) -> Names:
    """All parameters decay. Gains of norms and biases should be left alone: what has one axis."""
    return list(parameters), []


def nothing(parameters: Mapping[str, Tensor]) -> Names:
    """No parameter decays. Matrices should."""
    return [], list(parameters)


def the_wrong_way_round(parameters: Mapping[str, Tensor]) -> Names:
    """The two lists have changed places: first come those that decay."""
    decayed, others = parameter_groups(parameters)
    return others, decayed


def biases_alone(parameters: Mapping[str, Tensor]) -> Names:
    """You look for "bias" in the names. The gains of norms are called weight, and they decay: count
    axes instead.
    """
    return _by(parameters, {name: "bias" not in name for name in parameters})


def norms_and_biases(parameters: Mapping[str, Tensor]) -> Names:
    """You look for "norm" and "bias" in the names. Names differ from model to model; the number of
    axes does not.
    """
    return _by(parameters, {n: "bias" not in n and "norm" not in n for n in parameters})


def called_weight(parameters: Mapping[str, Tensor]) -> Names:
    """What is called weight decays. So are the gains of norms; and a parameter that is made by hand
    may have any name.
    """
    return _by(parameters, {name: "weight" in name for name in parameters})


def two_axes_exactly(parameters: Mapping[str, Tensor]) -> Names:
    """Only what has exactly two axes decays. The experts of a mixture are matrices in a stack, with
    three.
    """
    return _by(parameters, {name: one.ndim == 2 for name, one in parameters.items()})


def single_numbers_decay(parameters: Mapping[str, Tensor]) -> Names:
    """A parameter that is a single number decays: it has no axis at all, and so less than two."""
    return _by(parameters, {name: one.ndim != 1 for name, one in parameters.items()})


def three_axes(parameters: Mapping[str, Tensor]) -> Names:
    """Matrices do not decay: you ask for more than two axes. Two are enough."""
    return _by(parameters, {name: one.ndim > 2 for name, one in parameters.items()})


def by_count(parameters: Mapping[str, Tensor]) -> Names:
    """You go by how many numbers a parameter has. A long vector is no matrix."""
    most = max(one.numel() for one in parameters.values())
    return _by(parameters, {name: 3 * one.numel() > most for name, one in parameters.items()})


def not_thin(parameters: Mapping[str, Tensor]) -> Names:
    """A matrix with one row or one column is taken for a vector. It has two axes."""
    return _by(parameters, {n: one.squeeze().ndim >= 2 for n, one in parameters.items()})


def embeddings_left_alone(parameters: Mapping[str, Tensor]) -> Names:
    """Embeddings do not decay. Some models do that; here what has two axes decays, as in
    GPT-2-like code.
    """
    decays = {n: one.ndim >= 2 and "embed" not in n for n, one in parameters.items()}
    return _by(parameters, decays)


def head_left_alone(parameters: Mapping[str, Tensor]) -> Names:
    """The last layer does not decay. It is a matrix."""
    decays = {n: one.ndim >= 2 and "head" not in n for n, one in parameters.items()}
    return _by(parameters, decays)


def sorted_by_name(parameters: Mapping[str, Tensor]) -> Names:
    """The names are sorted. Keep the order in which they came: saved states of an optimiser rely on
    it.
    """
    decayed, others = parameter_groups(parameters)
    return sorted(decayed), sorted(others)


def in_both(parameters: Mapping[str, Tensor]) -> Names:
    """What decays is in both lists, and would be learned twice. Each parameter is in one."""
    return parameter_groups(parameters)[0], list(parameters)


def the_tensors(parameters: Mapping[str, Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """The tensors come back. Asked are their names."""
    decayed, others = parameter_groups(parameters)
    return [parameters[n] for n in decayed], [parameters[n] for n in others]


def in_one_pass(parameters: Mapping[str, Tensor]) -> Names:
    groups: Names = ([], [])
    for name in parameters:
        groups[parameters[name].dim() < 2].append(name)
    return groups


def by_filter(parameters: Mapping[str, Tensor]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    few = {name for name, one in parameters.items() if len(one.shape) <= 1}
    others = tuple(filter(few.__contains__, parameters))
    return tuple(name for name in parameters if name not in few), others


def by_size(parameters: Mapping[str, Tensor]) -> list[list[str]]:
    axes = [(name, len(one.size())) for name, one in parameters.items()]
    return [[n for n, count in axes if count > 1], [n for n, count in axes if count < 2]]


EXERCISE = Exercise(
    solution=parameter_groups,
    chapter=CHAPTER,
    title="What decays",
    points=1,
    minutes=5,
    difficulty=1,
    statement=(
        "Tell the parameters that decay from those that do not: matrices from vectors, by the "
        "number of their axes."
    ),
    example=(
        'Of {"w": a matrix of 2 x 3, "gain": a vector of 3} the names come back as (["w"], '
        '["gain"]).'
    ),
    conventions=(
        "Two axes or more decay: linear layers, embeddings, stacks of experts. Vectors and single "
        "numbers do not: gains and biases.",
        "Each name is in exactly one list, in the order in which it came.",
    ),
    hints=("A tensor knows the number of its axes.",),
    cases=CASES,
    mistakes=(
        everything,
        nothing,
        the_wrong_way_round,
        biases_alone,
        norms_and_biases,
        called_weight,
        two_axes_exactly,
        single_numbers_decay,
        three_axes,
        by_count,
        not_thin,
        embeddings_left_alone,
        head_left_alone,
        sorted_by_name,
        in_both,
        the_tensors,
    ),
    alternatives=(in_one_pass, by_filter, by_size),
)
