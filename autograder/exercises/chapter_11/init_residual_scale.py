"""Exercise: the weights that a model starts with.

The numbers are drawn at random, so it is their spread that is examined, with bounds that chance
does not leave: matrices of 500 numbers and more, whose measured deviation is off by 3 %.

Out of scope: tying (the exercise before), other schemes.
"""

# what a layer of a module is called or gives, torch leaves open
# mypy: disable-error-code="union-attr, arg-type, operator"

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, nn

from autograder.compare import chance_by_seed, worked_on
from autograder.exercises.chapter_11 import CHAPTER
from autograder.exercises.chapter_11._draws import (
    Sizes,
    State,
    block,
    gain,
    stacked,
    tables,
)
from autograder.inputs import integer
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere, in_dtypes
from autograder.wire import Call, Request, call
from autograder.workpiece import Workpiece
from solutions.decoder import TransformerLM
from solutions.initial import init_residual_scale

NEAR = 0.17  # five standard errors of a deviation that is measured with 500 numbers, and more
TOLD = {
    "distinct": "parameters",
    "learning": "parameters that learn",
    "vectors": "gains of the norms",
    "dtypes": "their dtypes",
    "stds": "standard deviation of each matrix",
    "centred": "means",
    "tails": "share beyond two deviations",
}
Spread = tuple[str, ...]
SPREAD = ("distinct", "learning", "stds")


def _state(rng: Generator, layers: int, tied: bool = False) -> tuple[State, Sizes]:
    of = {"D": 24, "H": 6, "K": 4, "G": 6, "F": 32 + 2 * integer(rng, 0, 4)}
    of["V"] = 40 + integer(rng, 0, 9)
    blocks = stacked("blocks", (block(rng, of) for _ in range(layers)))
    state = tables(rng, of) | blocks | gain(rng, of, "norm")
    return state | ({"head.weight": state["embed.weight"]} if tied else {}), of


def _trial(
    rng: Generator,
    layers: int,
    *told: str,
    std: float | None = None,
    tied: bool = False,
    seed: int = 0,
) -> Trial:
    state, of = _state(rng, layers, tied)
    words = f"vocabulary = {of['V']}, d_model = {of['D']}, d_ff = {of['F']}, {layers} layers"
    words += f", std = {std}" if std else ""
    names = ", ".join(("changed", *(TOLD[one] for one in told)))
    names_tied = ("embed.weight", "head.weight") if tied else ()
    piece = Workpiece(state, ("changed", *told), names_tied, seed)
    return Trial(call(piece, *([std] if std else [])), words, of, names)


def spreads(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 2, *SPREAD)


def deep(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 8, *SPREAD)
    yield _trial(rng, 1, *SPREAD)


def other_std(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 3, *SPREAD, std=0.5)
    yield _trial(rng, 2, *SPREAD, std=0.006)
    trial = _trial(rng, 2, *SPREAD)
    (one,) = trial.request.calls
    request = Request((Call(one.args, {"std": 0.1}),))
    yield replace(trial, request=request, inputs=f"{trial.inputs}, std = 0.1")


def gains(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 3, "vectors")


def normal(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 4, "centred", "tails")


def tied_weights(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, 2, *SPREAD, tied=True)


def by_seed(rng: Generator) -> Iterator[Trial]:
    first, second = (integer(rng, 0, 999) for _ in range(2))
    trial = _trial(rng, 2, "stds", seed=first)
    (one,) = trial.request.calls
    other = replace(one.args[0], seed=second + 1000)
    request = Request((one, one, Call((other,))))
    yield replace(trial, request=request, inputs=f"{trial.inputs}, seeds {first} and {second}")


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(
        _trial(rng, 2, "vectors", "stds", "dtypes", std=0.5), (torch.bfloat16, torch.float64)
    )


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, 2, "vectors", "stds"))


CASES = (
    Case("every matrix has its standard deviation", spreads, worked_on, 2, NEAR),
    Case("the more blocks, the smaller what they write", deep, worked_on, 2, NEAR),
    Case("another standard deviation scales them all", other_std, worked_on, 1, NEAR),
    Case("the gains of the norms stay", gains, worked_on),
    Case("the numbers are normal, with mean 0", normal, worked_on, 1, NEAR),
    Case("a tied matrix stays one", tied_weights, worked_on, 1, NEAR),
    Case("a seed of torch decides which numbers", by_seed, chance_by_seed, 1, NEAR),
    Case("works in every dtype", dtypes, worked_on, 1, NEAR),
    Case("works on whatever device the model is on", devices, worked_on, 1, NEAR),
)

Layer = nn.Linear | nn.Embedding


def _drawn(model: TransformerLM, std: float, writes: float, ends: tuple[str, ...]) -> None:
    """Draw all matrices, those whose names end so with another deviation."""
    for name, module in model.named_modules():
        if isinstance(module, Layer):
            nn.init.normal_(module.weight, std=writes if name.endswith(ends) else std)


def not_scaled(model: TransformerLM, std: float = 0.02) -> None:
    """All matrices have the same standard deviation: nothing is smaller where a block writes to the
    stream. (A comparison of full names with short ones finds nothing, and nobody notices.)
    """
    _drawn(model, std, std, ())


def layers_counted_once(model: TransformerLM, std: float = 0.02) -> None:
    """You divide by the root of the number of blocks. Each block writes to the stream twice."""
    _drawn(model, std, std / math.sqrt(len(model.blocks)), ("w_o", "w_down"))


def no_root(model: TransformerLM, std: float = 0.02) -> None:
    """You divide by twice the number of blocks, without the root. Variances add, not deviations."""
    _drawn(model, std, std / (2 * len(model.blocks)), ("w_o", "w_down"))


def root_of_two(model: TransformerLM, std: float = 0.02) -> None:
    """You divide by the root of 2, whatever the number of blocks."""
    _drawn(model, std, std / math.sqrt(2), ("w_o", "w_down"))


def attention_alone(model: TransformerLM, std: float = 0.02) -> None:
    """Only w_o is smaller. The feed-forward layer writes to the stream, too, through w_down."""
    _drawn(model, std, std / math.sqrt(2 * len(model.blocks)), ("w_o",))


def feed_forward_alone(model: TransformerLM, std: float = 0.02) -> None:
    """Only w_down is smaller. Attention writes to the stream, too, through w_o."""
    _drawn(model, std, std / math.sqrt(2 * len(model.blocks)), ("w_down",))


def all_scaled(model: TransformerLM, std: float = 0.02) -> None:
    """All matrices are smaller. Only those are that write to the stream."""
    small = std / math.sqrt(2 * len(model.blocks))
    _drawn(model, small, small, ())


def readers_scaled(model: TransformerLM, std: float = 0.02) -> None:
    """The matrices that read are smaller, and those that write are not. It is the other way
    round.
    """
    ends = ("w_q", "w_k", "w_v", "w_gate", "w_up")
    _drawn(model, std, std / math.sqrt(2 * len(model.blocks)), ends)


def head_scaled(model: TransformerLM, std: float = 0.02) -> None:
    """The head is smaller, too. It reads the stream and does not write to it."""
    _drawn(model, std, std / math.sqrt(2 * len(model.blocks)), ("w_o", "w_down", "head"))


def enlarged(model: TransformerLM, std: float = 0.02) -> None:
    """What writes to the stream is larger. It is to be smaller, by that factor."""
    _drawn(model, std, std * math.sqrt(2 * len(model.blocks)), ("w_o", "w_down"))


def by_depth(model: TransformerLM, std: float = 0.02) -> None:
    """Each block is divided by the root of twice its own number. All are divided by the same: the
    root of twice the number of all blocks.
    """
    init_residual_scale(model, std)
    for number, one in enumerate(model.blocks, start=1):
        for layer in (one.attend.w_o, one.feed_forward.w_down):
            nn.init.normal_(layer.weight, std=std / math.sqrt(2 * number))


def embedding_kept(model: TransformerLM, std: float = 0.02) -> None:
    """The embedding still has the numbers that it had: it is an nn.Embedding, no nn.Linear. All
    matrices are drawn again.
    """
    held = model.embed.weight.detach().clone()
    init_residual_scale(model, std)
    with torch.no_grad():
        model.embed.weight.copy_(held)


def head_kept(model: TransformerLM, std: float = 0.02) -> None:
    """The head still has the numbers that it had. All matrices are drawn again."""
    held = model.head.weight.detach().clone()
    init_residual_scale(model, std)
    with torch.no_grad():
        model.head.weight.copy_(held)


def blocks_kept(model: TransformerLM, std: float = 0.02) -> None:
    """The blocks still have the numbers that they had: only the outermost layers were drawn. There
    are modules within modules.
    """
    for module in model.children():
        if isinstance(module, Layer):
            nn.init.normal_(module.weight, std=std)


def writers_alone(model: TransformerLM, std: float = 0.02) -> None:
    """Only the matrices that write to the stream were drawn again. All are."""
    for one in model.blocks:
        for layer in (one.attend.w_o, one.feed_forward.w_down):
            nn.init.normal_(layer.weight, std=std / math.sqrt(2 * len(model.blocks)))


def first_block_alone(model: TransformerLM, std: float = 0.02) -> None:
    """Only the first block's w_o and w_down are smaller. Those of all blocks are."""
    writes = std / math.sqrt(2 * len(model.blocks))
    _drawn(model, std, writes, ("blocks.0.attend.w_o", "blocks.0.feed_forward.w_down"))


def gains_drawn(model: TransformerLM, std: float = 0.02) -> None:
    """The gains of the norms were drawn, too. They are no matrices, and stay."""
    init_residual_scale(model, std)
    for weight in model.parameters():
        if weight.ndim == 1:
            nn.init.normal_(weight, std=std)


def gains_set_to_one(model: TransformerLM, std: float = 0.02) -> None:
    """The gains of the norms were set to 1. They are no matrices, and stay as they are."""
    init_residual_scale(model, std)
    for weight in model.parameters():
        if weight.ndim == 1:
            nn.init.ones_(weight)


def std_ignored(model: TransformerLM, std: float = 0.02) -> None:
    """The argument `std` is not used: it is 0.02 whatever is asked."""
    init_residual_scale(model)


def variance_for_deviation(model: TransformerLM, std: float = 0.02) -> None:
    """The variance is `std`. The standard deviation is, the variance its square."""
    init_residual_scale(model, math.sqrt(std))


def uniform(model: TransformerLM, std: float = 0.02) -> None:
    """The numbers are uniform. They come from a normal distribution."""
    writes = std / math.sqrt(2 * len(model.blocks))
    for name, module in model.named_modules():
        if isinstance(module, Layer):
            bound = math.sqrt(3) * (writes if name.endswith(("w_o", "w_down")) else std)
            nn.init.uniform_(module.weight, -bound, bound)


def mean_not_zero(model: TransformerLM, std: float = 0.02) -> None:
    """The mean of the numbers is not 0: `std` stands in the place of the mean, or was added."""
    init_residual_scale(model, std)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 2:
                weight.add_(std)


def by_width(model: TransformerLM, std: float = 0.02) -> None:
    """The deviations follow from the widths of the layers (Xavier, Kaiming). Here they follow from
    `std` and the number of blocks.
    """
    writes = math.sqrt(2 * len(model.blocks))
    for name, module in model.named_modules():
        if isinstance(module, Layer):
            scale = writes if name.endswith(("w_o", "w_down")) else 1.0
            nn.init.normal_(module.weight, std=module.weight.shape[1] ** -0.5 / scale)


def own_seed(model: TransformerLM, std: float = 0.02) -> None:
    """The function sets a seed of its own: all models are the same, and so is all chance after it.
    The caller seeds torch.
    """
    torch.default_generator.manual_seed(0)
    init_residual_scale(model, std)


def untied(model: TransformerLM, std: float = 0.02) -> None:
    """Each layer got a new parameter, and head and embedding are tied no more. Write into the one
    that is there.
    """
    init_residual_scale(model, std)
    for module in (model.embed, model.head):
        module.weight = nn.Parameter(module.weight.detach().clone())


def learns_no_more(model: TransformerLM, std: float = 0.02) -> None:
    """The matrices do not learn any more: `requires_grad` is gone."""
    init_residual_scale(model, std)
    for module in model.modules():
        if isinstance(module, Layer):
            module.weight.requires_grad_(False)


def in_float32(model: TransformerLM, std: float = 0.02) -> None:
    """The matrices are float32 now, whatever the model's dtype was: they were replaced by what
    `randn` gave. Write numbers into those that are there.
    """
    init_residual_scale(model, std)
    for weight in model.parameters():
        if weight.ndim == 2:
            weight.data = weight.data.float()


def by_parameters(model: TransformerLM, std: float = 0.02) -> None:
    """By the parameters' names, drawn by hand, in another order."""
    root = (2 * len(model.blocks)) ** 0.5
    with torch.no_grad():
        for name, weight in reversed([*model.named_parameters()]):
            if weight.ndim < 2:
                continue
            writes = "w_o" in name or "w_down" in name
            weight.copy_(torch.randn_like(weight) * (std / root if writes else std))


def block_by_block(model: TransformerLM, std: float = 0.02) -> None:
    """All alike, then the writing ones again; torch.Tensor.normal_."""
    for weight in (w for w in model.parameters() if w.dim() == 2):
        weight.data.normal_(mean=0.0, std=std)
    for one in model.blocks:
        for layer in (one.attend.w_o, one.feed_forward.w_down):
            layer.weight.data.normal_(0.0, std * (2 * len(model.blocks)) ** -0.5)


def applied(model: TransformerLM, std: float = 0.02) -> None:
    """With nn.Module.apply, then shrink what writes."""

    def start(module: nn.Module) -> None:
        if isinstance(module, Layer):
            module.weight.data = torch.normal(torch.zeros_like(module.weight), std)

    model.apply(start)
    for name, weight in model.named_parameters():
        if name.split(".")[-2] in {"w_o", "w_down"}:
            weight.data /= math.sqrt(2 * len(model.blocks))


def cut_far_out(model: TransformerLM, std: float = 0.02) -> None:
    """By torch's initialiser that draws again what lies beyond -2 or 2: here, nothing."""
    writes = std * (2 * len(model.blocks)) ** -0.5
    for name, weight in model.named_parameters():
        layer = name.removesuffix(".weight").rpartition(".")[2]
        if not layer.startswith("norm"):
            nn.init.trunc_normal_(weight, std=writes if layer in ("w_o", "w_down") else std)


EXERCISE = Exercise(
    solution=init_residual_scale,
    chapter=CHAPTER,
    title="How a model starts",
    points=3,
    minutes=10,
    difficulty=3,
    statement=(
        "Draw all matrices of a language model again, from normal distributions with mean 0: with "
        "standard deviation `std`, and smaller where a block writes to the stream, so that the "
        "stream's variance does not grow with the number of blocks. This changes the model that is "
        "given and returns nothing. Since it is chance, the check looks at deviations and not at "
        "numbers."
    ),
    example=(
        "8 blocks write to the stream 16 times, so with std = 0.02 their w_o and w_down are drawn "
        "with 0.02 / 4 = 0.005; embed, head, w_q, w_k, w_v, w_gate and w_up with 0.02."
    ),
    conventions=(
        "All matrices are drawn, embedding and head as well. The gains of the norms stay as they "
        "are.",
        "Write into the parameters that are there: a head that is tied to the embedding stays "
        "tied, and everything that learned learns.",
        "Torch's own generator gives the numbers: the caller sets its seed, you set none.",
        "You are given a model with the names of `TransformerLM` made of nn.Linear and "
        "nn.Embedding. Blocks and norms need not be objects of your classes: go by names, shapes "
        "or torch's classes.",
    ),
    hints=(
        "`named_modules` and `named_parameters` walk through everything, and give names such as "
        "blocks.3.attend.w_o and blocks.3.attend.w_o.weight.",
        "Which two matrices of a block have an output that is added to the stream?",
        "Independent terms: variances add. 2 N terms with variance v / (2 N) make v.",
    ),
    cases=CASES,
    mistakes=(
        not_scaled,
        layers_counted_once,
        no_root,
        root_of_two,
        attention_alone,
        feed_forward_alone,
        all_scaled,
        readers_scaled,
        head_scaled,
        enlarged,
        by_depth,
        embedding_kept,
        head_kept,
        blocks_kept,
        writers_alone,
        first_block_alone,
        gains_drawn,
        gains_set_to_one,
        std_ignored,
        variance_for_deviation,
        uniform,
        mean_not_zero,
        by_width,
        own_seed,
        untied,
        learns_no_more,
        in_float32,
    ),
    alternatives=(by_parameters, block_by_block, applied, cut_far_out),
)
