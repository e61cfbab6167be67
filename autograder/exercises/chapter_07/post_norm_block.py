"""Exercise: a block that normalises after each sum.

Out of scope: layer normalisation in the place of RMS, dropout, norms inside of sublayers.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_07 import CHAPTER
from autograder.exercises.chapter_07._draws import Gains, block, drawn_sizes, keeping_block
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from solutions.norms import rms_norm
from solutions.residual import post_norm_block

Sublayer = Callable[[Tensor], Tensor]


def drawn(rng: Generator) -> Iterator[Trial]:
    yield block(rng, drawn_sizes(rng))
    yield block(rng, drawn_sizes(rng))


def silent_first(rng: Generator) -> Iterator[Trial]:
    yield block(rng, drawn_sizes(rng), loud=(0.0, 1.0), note=", the first sublayer says 0")


def silent_second(rng: Generator) -> Iterator[Trial]:
    yield block(rng, drawn_sizes(rng), loud=(1.0, 0.0), note=", the second sublayer says 0")


def other_sizes(rng: Generator) -> Iterator[Trial]:
    yield block(rng, drawn_sizes(rng), size=30.0, note=", entries near 150")
    yield block(rng, drawn_sizes(rng), size=1e-3, note=", entries near 0.005")
    yield block(rng, drawn_sizes(rng), loud=(20.0, 20.0), note=", loud sublayers")


def special_sizes(rng: Generator) -> Iterator[Trial]:
    yield block(rng, drawn_sizes(rng, L=1))
    yield block(rng, drawn_sizes(rng, B=1))
    yield block(rng, drawn_sizes(rng, D=1), size=1e-3)
    yield block(rng, dict.fromkeys("BLD", drawn_sizes(rng)["D"]))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(block(rng, drawn_sizes(rng)), rng)


def kept_results(rng: Generator) -> Iterator[Trial]:
    yield backward(keeping_block(rng), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(block(rng, drawn_sizes(rng), size=0.2))


def half_precision(rng: Generator) -> Iterator[Trial]:
    trial = block(rng, drawn_sizes(rng), size=100.0, note=", entries near 500")
    yield from in_dtypes(trial, (torch.float16, torch.bfloat16))


def devices(rng: Generator) -> Iterator[Trial]:
    trial = block(rng, drawn_sizes(rng))
    yield trial
    yield elsewhere(trial)


CASES = (
    Case("each sublayer is added and the sum normalised", drawn, values, weight=3),
    Case("a silent first sublayer leaves the norm of x", silent_first, values),
    Case("a silent second sublayer leaves one more norm", silent_second, values),
    Case("works for large and small streams, and loud sublayers", other_sizes, values),
    Case("works where sizes are 1 or equal", special_sizes, values),
    Case("the gradient reaches x and both gains", gradients, values),
    Case("the gradient passes sublayers that end in tanh", kept_results, values),
    Case("the dtype of x is kept", dtypes, values),
    Case("half precision holds a large stream", half_precision, values),
    Case("nothing that was given is changed", drawn, inputs_kept),
    Case("works on whatever device x is on", devices, values),
)


def pre_norm(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """This is a pre-norm block: what the sublayers read is normalised, and the sum is not. That is
    the next exercise; here each sum is normalised, and sublayers read the stream as it is.
    """
    x = x + attend(rms_norm(x, gains[0]))
    return x + feed_forward(rms_norm(x, gains[1]))


def branch_normalised(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """What a sublayer says is normalised, and then added. Add first, and normalise the sum."""
    x = x + rms_norm(attend(x), gains[0])
    return x + rms_norm(feed_forward(x), gains[1])


def no_sum(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The sublayers replace the stream: the plus signs are missing."""
    x = rms_norm(attend(x), gains[0])
    return rms_norm(feed_forward(x), gains[1])


def no_first_sum(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """What the first sublayer says is not added to x but takes its place."""
    x = rms_norm(attend(x), gains[0])
    return rms_norm(x + feed_forward(x), gains[1])


def no_second_sum(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """What the second sublayer says is not added to the stream but takes its place."""
    x = rms_norm(x + attend(x), gains[0])
    return rms_norm(feed_forward(x), gains[1])


def no_norm(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """Nothing is normalised: the gains are not used."""
    x = x + attend(x)
    return x + feed_forward(x)


def norm_at_the_end(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """Only the second sum is normalised. The first one is, too, before the second sublayer reads
    it.
    """
    x = x + attend(x)
    return rms_norm(x + feed_forward(x), gains[1])


def no_last_norm(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """Only the first sum is normalised. What leaves the block is normalised, too."""
    x = rms_norm(x + attend(x), gains[0])
    return x + feed_forward(x)


def onto_first_sum(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The second sublayer reads the normalised sum, but is added to the sum as it was before the
    norm. In post-norm the stream itself is normalised.
    """
    total = x + attend(x)
    return rms_norm(total + feed_forward(rms_norm(total, gains[0])), gains[1])


def onto_x(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The second sublayer is added to the x that came into the block: what the first one said is
    lost from the stream.
    """
    return rms_norm(x + feed_forward(rms_norm(x + attend(x), gains[0])), gains[1])


def side_by_side(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """Both sublayers read the same x, and both are added. Here the second reads what the first has
    written (and each sum has its norm).
    """
    x = rms_norm(x, gains[0])
    return rms_norm(x + attend(x) + feed_forward(x), gains[1])


def gains_exchanged(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The two gains have changed places: the first belongs to the first sum."""
    return post_norm_block(x, attend, feed_forward, (gains[1], gains[0]))


def first_gain_twice(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The first gain is used for both norms. Each has its own."""
    return post_norm_block(x, attend, feed_forward, (gains[0], gains[0]))


def sublayers_exchanged(
    x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains
) -> Tensor:
    """The feed-forward layer comes first. Attention does, with the first gain."""
    return post_norm_block(x, feed_forward, attend, gains)


def attention_twice(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The first sublayer is used twice, the second never."""
    return post_norm_block(x, attend, attend, gains)


def layer_normalised(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The sums are layer-normalised: their mean is subtracted. Here the norm is `rms_norm`."""
    x = rms_norm(_centred(x + attend(x)), gains[0])
    return rms_norm(_centred(x + feed_forward(x)), gains[1])


def _centred(x: Tensor) -> Tensor:
    return x - x.mean(-1, keepdim=True)


def x_twice(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """After the second norm the stream is added once more. The norm is the last thing that happens
    in the block.
    """
    x = rms_norm(x + attend(x), gains[0])
    return x + rms_norm(x + feed_forward(x), gains[1])


def written_into(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """What a sublayer returned is written into (`+=`, `add_`). It belongs to the sublayer, which
    may need it on the way back, or may have returned its very input: make a new tensor.
    """
    x = rms_norm(attend(x).add_(x), gains[0])
    return rms_norm(feed_forward(x).add_(x), gains[1])


def reads_the_sum(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The second sublayer reads the first sum as it was before its norm. In post-norm it reads the
    normalised one.
    """
    total = x + attend(x)
    return rms_norm(rms_norm(total, gains[0]) + feed_forward(total), gains[1])


def reads_x(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The second sublayer reads the x that came into the block. It reads what the first has made of
    it, normalised.
    """
    return rms_norm(rms_norm(x + attend(x), gains[0]) + feed_forward(x), gains[1])


def reads_normalised_x(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The first sublayer reads a normalised copy. In post-norm it reads the stream as it is."""
    x = rms_norm(x + attend(rms_norm(x, gains[0])), gains[0])
    return rms_norm(x + feed_forward(x), gains[1])


def one_norm_for_all(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """All tokens are divided by one number, that of the whole sum. `rms_norm` takes each vector by
    itself.
    """

    def norm(sum_: Tensor, weight: Tensor) -> Tensor:
        return rms_norm(sum_.flatten(), torch.ones_like(sum_.flatten())).view(sum_.shape) * weight

    x = norm(x + attend(x), gains[0])
    return norm(x + feed_forward(x), gains[1])


def squared_in_half(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """Your norm squares in the dtype of x: in float16 the square of 300 is infinite. Use
    `rms_norm`, which squares in float32.
    """

    def norm(sum_: Tensor, weight: Tensor) -> Tensor:
        return sum_ * torch.rsqrt(sum_.square().mean(-1, keepdim=True) + 1e-6) * weight

    x = norm(x + attend(x), gains[0])
    return norm(x + feed_forward(x), gains[1])


def eps_of_layer_norm(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The eps of the norm is 1e-5, the usual one of layer normalisation. Here it is that of
    `rms_norm`, 1e-6.
    """
    x = rms_norm(x + attend(x), gains[0], 1e-5)
    return rms_norm(x + feed_forward(x), gains[1], 1e-5)


def smaller_eps(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The eps of the norm is 1e-8. Here it is that of `rms_norm`, 1e-6."""
    x = rms_norm(x + attend(x), gains[0], 1e-8)
    return rms_norm(x + feed_forward(x), gains[1], 1e-8)


def no_eps(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The norm has no eps. Here it has that of `rms_norm`, 1e-6."""
    x = rms_norm(x + attend(x), gains[0], 0.0)
    return rms_norm(x + feed_forward(x), gains[1], 0.0)


def flattened(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """A sublayer is given the tokens of all sequences in one row, (B L, D). Attention could not
    tell one sequence from another: give it the whole stream, (B, L, D).
    """
    x = rms_norm(x + attend(x.flatten(0, 1)).view(x.shape), gains[0])
    return rms_norm(x + feed_forward(x.flatten(0, 1)).view(x.shape), gains[1])


def token_by_token(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """A sublayer is given one token at a time. Attention could not let one hear another: give it
    the whole stream, (B, L, D).
    """
    x = rms_norm(x + torch.cat([attend(one[:, None]) for one in x.unbind(1)], 1), gains[0])
    return rms_norm(x + torch.cat([feed_forward(one[:, None]) for one in x.unbind(1)], 1), gains[1])


def in_a_loop(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    for sublayer, gain in zip((attend, feed_forward), gains, strict=True):
        x = rms_norm(x + sublayer(x), gain)
    return x


def in_one_line(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    return rms_norm(
        (y := rms_norm(attend(x).add(x), weight=gains[0])) + feed_forward(y), weight=gains[1]
    )


def written_out(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The norm in line, with torch's own operations."""
    first, second = gains
    stream = x + attend(x)
    wide = stream if stream.dtype.itemsize > 2 else stream.float()
    stream = (wide * (wide.square().mean(-1, True) + 1e-6).rsqrt()).to(x.dtype) * first
    stream = stream + feed_forward(stream)
    wide = stream if stream.dtype.itemsize > 2 else stream.float()
    return (wide * (wide.square().mean(-1, True) + 1e-6).rsqrt()).to(x.dtype) * second


def by_half_blocks(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """One function for half a block, used twice."""

    def half(stream: Tensor, sublayer: Sublayer, gain: Tensor) -> Tensor:
        return rms_norm(torch.stack([stream, sublayer(stream)]).sum(0), gain, eps=1e-6)

    return half(half(x, attend, gains[0]), feed_forward, gains[1])


EXERCISE = Exercise(
    solution=post_norm_block,
    chapter=CHAPTER,
    title="A post-norm block",
    points=2,
    minutes=6,
    difficulty=2,
    statement=(
        "Put a block together in the original way: add what the first sublayer says to what it "
        "read, normalise the sum, and do the same with the second. Use `rms_norm` with its usual "
        "eps. The sublayers are functions: you can call them, and cannot look into them."
    ),
    example=(
        "x = (1, -1), the first sublayer says 0, the second doubles. The first sum is x, its root "
        "mean square 1: it stays. The second is (3, -3), normalised (1, -1), and with a second "
        "gain of 3 the result is (3, -3)."
    ),
    conventions=(
        "Post-norm: each *sum* is normalised, and the stream goes on from there. (Pre-norm is the "
        "next exercise.)",
        "The norm is `rms_norm`, eps = 1e-6; gains[0] belongs to the first sum, gains[1] to the "
        "second.",
        "The second sublayer reads the normalised first sum, and is added to it.",
        "A sublayer is given the whole stream (B, L, D), and answers in that shape, the same when "
        "asked twice. What it returns belongs to it: do not write into it.",
        "Streams may be large in half precision, too: 500 in float16.",
    ),
    hints=(
        "A block is the same line twice, with another sublayer and another gain.",
        "To what is the second sublayer added: to x, to the sum, or to the normalised sum?",
    ),
    cases=CASES,
    mistakes=(
        pre_norm,
        branch_normalised,
        no_sum,
        no_first_sum,
        no_second_sum,
        no_norm,
        norm_at_the_end,
        no_last_norm,
        onto_first_sum,
        onto_x,
        side_by_side,
        gains_exchanged,
        first_gain_twice,
        sublayers_exchanged,
        attention_twice,
        layer_normalised,
        x_twice,
        reads_the_sum,
        reads_x,
        reads_normalised_x,
        one_norm_for_all,
        written_into,
        squared_in_half,
        eps_of_layer_norm,
        smaller_eps,
        no_eps,
        flattened,
        token_by_token,
        on_the_cpu(post_norm_block),
        always_float32(post_norm_block),
        cut_from_autograd(post_norm_block),
        changed_in_place(post_norm_block),
    ),
    alternatives=(in_a_loop, in_one_line, written_out, by_half_blocks),
)
