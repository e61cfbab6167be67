"""Exercise: one matrix for the embedding and the output.

Out of scope: the numbers in it (the next exercise).
"""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor, nn

from autograder.compare import worked_on
from autograder.exercises.chapter_11 import CHAPTER
from autograder.exercises.chapter_11._draws import Sizes, block, block_sizes, gain, stacked, tables
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere, in_dtypes
from autograder.wire import Request, call
from autograder.workpiece import Workpiece
from solutions.decoder import TransformerLM, tie_weights

TOLD = {
    "layers": "layers of their kind",
    "same": "parameters that are still the ones they were",
    "distinct": "parameters",
    "learning": "parameters that learn",
    "weights": "weights",
    "scores": "what the head makes of the embedding",
}


def _trial(rng: Generator, of: Sizes, *told: str, layers: int = 1) -> Trial:
    blocks = stacked("blocks", (block(rng, of) for _ in range(layers)))
    state = tables(rng, of) | blocks | gain(rng, of, "norm")
    words = f"vocabulary = {of['V']}, d_model = {of['D']}, {layers} layers"
    names = ", ".join(("changed", *(TOLD[one] for one in told)))
    return Trial(call(Workpiece(state, ("changed", *told))), words, of, names)


def _sizes(rng: Generator, **fixed: int) -> Sizes:
    return block_sizes(rng, "F V", **fixed)


def one_parameter(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, _sizes(rng), "distinct", "learning")
    yield _trial(rng, _sizes(rng), "distinct", "learning", layers=3)


def numbers(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, _sizes(rng), "weights", layers=2)
    of = _sizes(rng)
    yield _trial(rng, {**of, "V": of["D"]}, "weights")


def scores(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, _sizes(rng), "scores")


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng, _sizes(rng), "distinct", "weights"))


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, _sizes(rng), "distinct", "weights"))


def two_models(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng)
    first, second = (_trial(rng, of, "distinct", "weights") for _ in range(2))
    calls = (*first.request.calls, *second.request.calls)
    yield replace(first, request=Request(calls), inputs=f"{first.inputs}, then another model")


def whose(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, _sizes(rng), "same", layers=2)


def kinds(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, _sizes(rng), "layers", "scores")


CASES = (
    Case("embedding and head are one parameter", one_parameter, worked_on, weight=2),
    Case("it holds the numbers of the embedding", numbers, worked_on),
    Case("it is the embedding's own parameter", whose, worked_on),
    Case("the head still scores vectors", scores, worked_on),
    Case("both layers are still what they were", kinds, worked_on),
    Case("a second model gets its own embedding", two_models, worked_on),
    Case("works in every dtype", dtypes, worked_on),
    Case("works on whatever device the model is on", devices, worked_on),
)


def copied(model: TransformerLM) -> None:
    """The head got a copy of the embedding's numbers, or a new parameter that holds them. They are
    equal until the first step of training, and then drift apart: give it the parameter itself.
    """
    with torch.no_grad():
        model.head.weight.copy_(model.embed.weight)


def head_into_embedding(model: TransformerLM) -> None:
    """The embedding got the head's matrix. One is as good as the other for a new model; asked is
    that the head gets the embedding's.
    """
    model.embed.weight = model.head.weight


def head_is_the_embedding(model: TransformerLM) -> None:
    """The head is the embedding itself now. An embedding looks rows up and does not multiply: the
    head stays a linear layer, and gets the weight alone.
    """
    model.head = model.embed  # type: ignore[assignment]


def frozen(model: TransformerLM) -> None:
    """The shared matrix does not learn any more."""
    tie_weights(model)
    model.embed.weight.requires_grad_(False)


def head_frozen(model: TransformerLM) -> None:
    """The head got the numbers and does not learn. It is to be the same parameter, which learns
    from both of its uses.
    """
    with torch.no_grad():
        model.head.weight.copy_(model.embed.weight)
    model.head.weight.requires_grad_(False)


def a_third_one(model: TransformerLM) -> None:
    """Both layers hold a new parameter. An optimiser that knows the embedding's would go on with
    that, and nobody would learn: the head gets the one that is there.
    """
    model.head.weight = model.embed.weight = nn.Parameter(model.embed.weight.detach().clone())


def no_linear_layer(model: TransformerLM) -> None:
    """The head is a module of your own now, no nn.Linear: what goes by torch's classes, as the next
    exercise may, does not find it. Give the layer that is there another weight.
    """

    class Head(nn.Module):
        def __init__(self, weight: nn.Parameter) -> None:
            super().__init__()
            self.weight = weight

        def forward(self, x: Tensor) -> Tensor:
            return x @ self.weight.mT

    model.head = Head(model.get_parameter("embed.weight"))  # type: ignore[assignment]


def redrawn(model: TransformerLM) -> None:
    """The matrix is shared, but its numbers were drawn again. Those of the embedding stay."""
    tie_weights(model)
    nn.init.normal_(model.embed.weight, std=0.02)


def scaled(model: TransformerLM) -> None:
    """The matrix is shared, but its numbers were scaled. Those of the embedding stay."""
    tie_weights(model)
    with torch.no_grad():
        model.embed.weight.div_(model.embed.weight.shape[1] ** 0.5)


def everything_tied(model: TransformerLM) -> None:
    """The head lost its weight: it was moved into the embedding, or deleted. Both layers hold the
    same parameter.
    """
    tie_weights(model)
    del model.head.weight


def nothing_done(model: TransformerLM) -> None:
    """The model is as it was: perhaps a name of the function's own got the parameter. Assign to the
    layer's attribute.
    """
    _ = model.embed.weight


def registered(model: TransformerLM) -> None:
    """Under its name, as torch does."""
    model.head.register_parameter("weight", model.get_parameter("embed.weight"))


def by_setattr(model: TransformerLM) -> TransformerLM:
    """By the name of the attribute; returns the model, which nobody forbids."""
    setattr(model.get_submodule("head"), "weight", model.get_parameter("embed.weight"))  # noqa: B010
    return model


def new_head(model: TransformerLM) -> None:
    """A new linear layer around the matrix."""
    vocabulary, width = model.embed.weight.shape
    head = nn.Linear(width, vocabulary, bias=False)
    head.weight = model.embed.weight
    model.head = head


EXERCISE = Exercise(
    solution=tie_weights,
    chapter=CHAPTER,
    title="One matrix, two uses",
    points=1,
    minutes=3,
    difficulty=1,
    statement=(
        "The embedding has a row of d_model numbers for each token, and so has the head. Let them "
        "be one matrix, that of the embedding. This changes the model that is given and returns "
        "nothing. Equal numbers are not enough: after a step of training they must still be equal."
    ),
    example=(
        "A vocabulary of 11, d_model 6: before, embed.weight and head.weight are two parameters of "
        "66 numbers each; afterwards `list(model.parameters())` is one shorter."
    ),
    conventions=(
        "Both layers stay what they are. The head gets the embedding's parameter, not the other "
        "way round, and the numbers in it stay.",
        "You are given a model with the names of `TransformerLM`, in which `embed` is an "
        "nn.Embedding and `head` an nn.Linear without bias. It need not be an object of your "
        "class.",
    ),
    hints=(
        "Which shapes have the weights of nn.Embedding(11, 6) and of nn.Linear(6, 11)?",
        "One parameter can be an attribute of two modules.",
        "An assignment does it, without copying anything.",
    ),
    cases=CASES,
    mistakes=(
        copied,
        head_into_embedding,
        head_is_the_embedding,
        frozen,
        head_frozen,
        a_third_one,
        no_linear_layer,
        redrawn,
        scaled,
        everything_tied,
        nothing_done,
    ),
    alternatives=(registered, by_setattr, new_head),
)
