"""Exercise: a block whose sublayers read a normalised copy.

Out of scope: the final norm of a model (chapter 11), dropout.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_07 import CHAPTER
from autograder.exercises.chapter_07 import post_norm_block as post
from autograder.exercises.chapter_07._draws import Gains, block, drawn_sizes, keeping_block
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from solutions.norms import rms_norm
from solutions.residual import post_norm_block, pre_norm_block

Sublayer = Callable[[Tensor], Tensor]


def drawn(rng: Generator) -> Iterator[Trial]:
    yield from post.drawn(rng)


def silent_both(rng: Generator) -> Iterator[Trial]:
    yield block(rng, drawn_sizes(rng), loud=(0.0, 0.0), note=", both sublayers say 0")


def silent_one(rng: Generator) -> Iterator[Trial]:
    yield from post.silent_first(rng)
    yield from post.silent_second(rng)


def other_sizes(rng: Generator) -> Iterator[Trial]:
    yield from post.other_sizes(rng)


def special_sizes(rng: Generator) -> Iterator[Trial]:
    yield from post.special_sizes(rng)


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(block(rng, drawn_sizes(rng)), rng)


def kept_results(rng: Generator) -> Iterator[Trial]:
    yield backward(keeping_block(rng), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(block(rng, drawn_sizes(rng), size=0.2))


def half_precision(rng: Generator) -> Iterator[Trial]:
    yield from post.half_precision(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    trial = block(rng, drawn_sizes(rng))
    yield trial
    yield elsewhere(trial)


CASES = (
    Case("sublayers read normalised copies and are added", drawn, values, weight=3),
    Case("silent sublayers leave the stream as it is", silent_both, values, weight=2),
    Case("works if one of the two sublayers is silent", silent_one, values),
    Case("works for large and small streams, and loud sublayers", other_sizes, values),
    Case("works where sizes are 1 or equal", special_sizes, values),
    Case("the gradient reaches x and both gains", gradients, values),
    Case("the gradient passes sublayers that end in tanh", kept_results, values),
    Case("the dtype of x is kept", dtypes, values),
    Case("half precision holds a large stream", half_precision, values),
    Case("nothing that was given is changed", drawn, inputs_kept),
    Case("works on whatever device x is on", devices, values),
)


def post_norm(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """This is a post-norm block: the sums are normalised. In pre-norm the stream never is; each
    sublayer reads a normalised copy of it.
    """
    return post_norm_block(x, attend, feed_forward, gains)


def stream_overwritten(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The sublayer is added to the normalised copy, and the stream itself is lost: `x` got a new
    value before the sum. If both sublayers say 0, x should come out unchanged.
    """
    x = rms_norm(x, gains[0])
    x = x + attend(x)
    x = rms_norm(x, gains[1])
    return x + feed_forward(x)


def first_overwritten(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The first sublayer is added to the normalised copy instead of the stream; the second is
    right.
    """
    x = rms_norm(x, gains[0])
    x = x + attend(x)
    return x + feed_forward(rms_norm(x, gains[1]))


def sum_inside(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The sum is inside of the sublayer: it reads the normalised copy plus x, and takes the place
    of the stream. Add x to what the sublayer *says*.
    """
    x = attend(rms_norm(x, gains[0]) + x)
    return feed_forward(rms_norm(x, gains[1]) + x)


def branch_normalised(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """What a sublayer says is normalised, not what it reads. (Some models do both.)"""
    return post.branch_normalised(x, attend, feed_forward, gains)


def no_sum(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The sublayers replace the stream: the plus signs are missing."""
    x = attend(rms_norm(x, gains[0]))
    return feed_forward(rms_norm(x, gains[1]))


def no_first_sum(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """What the first sublayer says is not added to x but takes its place."""
    x = attend(rms_norm(x, gains[0]))
    return x + feed_forward(rms_norm(x, gains[1]))


def no_second_sum(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """What the second sublayer says is not added to the stream but takes its place."""
    x = x + attend(rms_norm(x, gains[0]))
    return feed_forward(rms_norm(x, gains[1]))


def no_norm(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """Nothing is normalised: the gains are not used."""
    return post.no_norm(x, attend, feed_forward, gains)


def no_first_norm(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The first sublayer reads the stream as it is. Both read a normalised copy."""
    x = x + attend(x)
    return x + feed_forward(rms_norm(x, gains[1]))


def no_second_norm(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The second sublayer reads the stream as it is. Both read a normalised copy."""
    x = x + attend(rms_norm(x, gains[0]))
    return x + feed_forward(x)


def norm_at_the_end(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """What leaves the block is normalised once more. A pre-norm *model* has one norm at its very
    end; a block leaves the stream as it is.
    """
    out = pre_norm_block(x, attend, feed_forward, gains)
    return rms_norm(out, torch.ones_like(gains[1]))


def side_by_side(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """Both sublayers read the same x, as in a parallel block (PaLM has those). Here the second
    reads what the first has written.
    """
    return x + attend(rms_norm(x, gains[0])) + feed_forward(rms_norm(x, gains[1]))


def onto_x(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The second sublayer is added to the x that came into the block: what the first one said is
    lost from the stream.
    """
    middle = x + attend(rms_norm(x, gains[0]))
    return x + feed_forward(rms_norm(middle, gains[1]))


def reads_the_branch(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The second sublayer reads only what the first one said. It reads the stream: x and that."""
    said = attend(rms_norm(x, gains[0]))
    return x + said + feed_forward(rms_norm(said, gains[1]))


def gains_exchanged(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The two gains have changed places: the first belongs to the first sublayer."""
    return pre_norm_block(x, attend, feed_forward, (gains[1], gains[0]))


def first_gain_twice(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The first gain is used for both norms. Each has its own."""
    return pre_norm_block(x, attend, feed_forward, (gains[0], gains[0]))


def sublayers_exchanged(
    x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains
) -> Tensor:
    """The feed-forward layer comes first. Attention does, with the first gain."""
    return pre_norm_block(x, feed_forward, attend, gains)


def attention_twice(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The first sublayer is used twice, the second never."""
    return pre_norm_block(x, attend, attend, gains)


def layer_normalised(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The copies are layer-normalised: their mean is subtracted. Here the norm is `rms_norm`."""
    x = x + attend(rms_norm(x - x.mean(-1, keepdim=True), gains[0]))
    return x + feed_forward(rms_norm(x - x.mean(-1, keepdim=True), gains[1]))


def written_into(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """What a sublayer returned is written into (`+=`, `add_`). It belongs to the sublayer, which
    may need it on the way back, or may have returned its very input: make a new tensor.
    """
    x = attend(rms_norm(x, gains[0])).add_(x)
    return feed_forward(rms_norm(x, gains[1])).add_(x)


def stream_written_into(
    x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains
) -> Tensor:
    """The stream is written into (`+=`, `add_`). The numbers are right, but the norm that has read
    it needs it as it was on the way back: give the sum a tensor of its own.
    """
    x = x.clone()
    x += attend(rms_norm(x, gains[0]))
    x += feed_forward(rms_norm(x, gains[1]))
    return x


def second_overwritten(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The second sublayer is added to the normalised copy instead of the stream; the first is
    right.
    """
    x = x + attend(rms_norm(x, gains[0]))
    x = rms_norm(x, gains[1])
    return x + feed_forward(x)


def first_copy_again(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """Both sublayers read the same normalised copy. The second reads one of its own, of the stream
    with what the first has said.
    """
    copy = rms_norm(x, gains[0])
    return x + attend(copy) + feed_forward(copy)


def gains_on_branches(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The gains multiply what the sublayers say. They belong to the norm, and multiply what the
    sublayers read.
    """
    x = x + gains[0] * attend(rms_norm(x, torch.ones_like(gains[0])))
    return x + gains[1] * feed_forward(rms_norm(x, torch.ones_like(gains[1])))


def norms_on_both_sides(
    x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains
) -> Tensor:
    """What a sublayer says is normalised too, as Gemma 2 does. Here only what it reads is."""
    x = x + rms_norm(attend(rms_norm(x, gains[0])), torch.ones_like(gains[0]))
    return x + rms_norm(feed_forward(rms_norm(x, gains[1])), torch.ones_like(gains[1]))


def one_plus_gain(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The norms multiply by 1 + gain. Some models store gains like that (Gemma); here the gain is
    the factor itself.
    """
    return pre_norm_block(x, attend, feed_forward, (1 + gains[0], 1 + gains[1]))


def squared_in_half(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """Your norm squares in the dtype of x: in float16 the square of 300 is infinite. Use
    `rms_norm`, which squares in float32.
    """

    def norm(stream: Tensor, weight: Tensor) -> Tensor:
        return stream * torch.rsqrt(stream.square().mean(-1, keepdim=True) + 1e-6) * weight

    x = x + attend(norm(x, gains[0]))
    return x + feed_forward(norm(x, gains[1]))


def eps_of_layer_norm(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The eps of the norm is 1e-5, the usual one of layer normalisation. Here it is that of
    `rms_norm`, 1e-6.
    """
    x = x + attend(rms_norm(x, gains[0], 1e-5))
    return x + feed_forward(rms_norm(x, gains[1], 1e-5))


def smaller_eps(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The eps of the norm is 1e-8. Here it is that of `rms_norm`, 1e-6."""
    x = x + attend(rms_norm(x, gains[0], 1e-8))
    return x + feed_forward(rms_norm(x, gains[1], 1e-8))


def no_eps(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The norm has no eps. Here it has that of `rms_norm`, 1e-6."""
    x = x + attend(rms_norm(x, gains[0], 0.0))
    return x + feed_forward(rms_norm(x, gains[1], 0.0))


def flattened(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """A sublayer is given the tokens of all sequences in one row, (B L, D). Attention could not
    tell one sequence from another: give it the whole copy, (B, L, D).
    """
    x = x + attend(rms_norm(x, gains[0]).flatten(0, 1)).view(x.shape)
    return x + feed_forward(rms_norm(x, gains[1]).flatten(0, 1)).view(x.shape)


def token_by_token(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """A sublayer is given one token at a time. Attention could not let one hear another: give it
    the whole copy, (B, L, D).
    """
    copy = rms_norm(x, gains[0])
    x = x + torch.cat([attend(one[:, None]) for one in copy.unbind(1)], 1)
    copy = rms_norm(x, gains[1])
    return x + torch.cat([feed_forward(one[:, None]) for one in copy.unbind(1)], 1)


def in_a_loop(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    for sublayer, gain in zip((attend, feed_forward), gains, strict=True):
        x = x + sublayer(rms_norm(x, gain))
    return x


def said_and_added(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """Keep what each sublayer says, and add it all up at the end."""
    first = attend(rms_norm(x, weight=gains[0]))
    second = feed_forward(rms_norm(x + first, weight=gains[1]))
    return torch.stack((x, first, second)).sum(0)


def as_a_running_sum(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """The stream is a list of what was said, and its sum."""
    said = [x]
    for sublayer, gain in ((attend, gains[0]), (feed_forward, gains[1])):
        said.append(sublayer(rms_norm(torch.stack(said).sum(0), gain)))
    return said[2] + (said[0] + said[1])


def with_residual(x: Tensor, attend: Sublayer, feed_forward: Sublayer, gains: Gains) -> Tensor:
    """As transformers' models are written: keep the stream under another name."""
    residual = x
    hidden = rms_norm(x, gains[0])
    hidden = attend(hidden)
    hidden = residual + hidden
    residual = hidden
    hidden = rms_norm(hidden, gains[1])
    return feed_forward(hidden).add(residual)


EXERCISE = Exercise(
    solution=pre_norm_block,
    chapter=CHAPTER,
    title="A pre-norm block",
    points=3,
    minutes=7,
    difficulty=2,
    statement=(
        "Now the way of most models since GPT-2: each sublayer reads a normalised copy of the "
        "stream, and what it says is added to the stream itself. Use `rms_norm` with its usual "
        "eps. The sublayers are functions: you can call them, and cannot look into them."
    ),
    example=(
        "x = (8, -8), the first sublayer says 0, the second doubles. The copy for the second is "
        "(1, -1) times a gain of 3, so it says (6, -6), and the result is (14, -14). If both say "
        "0, x comes out as it went in."
    ),
    conventions=(
        "Pre-norm: the *copy that a sublayer reads* is normalised, the stream never is, not even "
        "at the end of the block.",
        "The norm is `rms_norm`, eps = 1e-6; gains[0] belongs to the first sublayer, gains[1] to "
        "the second.",
        "One after the other: the second sublayer reads the stream with what the first has said.",
        "A sublayer is given a whole copy (B, L, D), and answers in that shape, the same when "
        "asked twice. What it returns belongs to it: do not write into it.",
        "Streams may be large in half precision, too: 500 in float16.",
    ),
    hints=(
        "A block is the same line twice, with another sublayer and another gain.",
        "Give the normalised copy no name of its own, or another name than the stream.",
        "Test yourself with sublayers that return zeros: x must come out unchanged.",
    ),
    cases=CASES,
    mistakes=(
        post_norm,
        stream_overwritten,
        first_overwritten,
        sum_inside,
        branch_normalised,
        no_sum,
        no_first_sum,
        no_second_sum,
        no_norm,
        no_first_norm,
        no_second_norm,
        norm_at_the_end,
        side_by_side,
        onto_x,
        reads_the_branch,
        gains_exchanged,
        first_gain_twice,
        sublayers_exchanged,
        attention_twice,
        layer_normalised,
        written_into,
        stream_written_into,
        second_overwritten,
        first_copy_again,
        gains_on_branches,
        norms_on_both_sides,
        one_plus_gain,
        squared_in_half,
        eps_of_layer_norm,
        smaller_eps,
        no_eps,
        flattened,
        token_by_token,
        on_the_cpu(pre_norm_block),
        always_float32(pre_norm_block),
        cut_from_autograd(pre_norm_block),
        changed_in_place(pre_norm_block),
    ),
    alternatives=(in_a_loop, said_and_added, as_a_running_sum, with_residual),
)
