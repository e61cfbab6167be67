"""Exercise: turn the pairs of queries or keys by the angles of their positions.

Out of scope: vectors whose own entries are apart in memory. No projection makes them, and published
code with complex numbers does not take them.
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_06 import CHAPTER
from autograder.inputs import described, integer, normal
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import DTYPES, backward, elsewhere
from autograder.wire import call
from solutions.positions import sinusoidal_encoding
from solutions.rotary import apply_rope

Sizes = dict[str, int]
SMALLEST, SPREAD = 2, 5  # sizes are 2 to 6
FAR = 300  # times larger angles are those of positions in the hundreds


def drawn_sizes(rng: Generator, axes: str = "B H L") -> Sizes:
    """Draw sizes that all differ, K = 2 P too; there are more tokens than heads.

    They are small, for a class bundle carries the replies of every mistake.
    """
    names = axes.split()
    drawn = sorted(torch.randperm(SPREAD, generator=rng)[: len(names)].tolist())
    drawn = [SMALLEST + n for n in drawn]
    pairs = next(n for n in (3, 4, 5, 6, 7) if n not in drawn and 2 * n not in drawn)
    return {**dict(zip(names, drawn, strict=True)), "P": pairs, "K": 2 * pairs}


def turns(rng: Generator, axes: str, of: Sizes) -> Tensor:
    """Draw angles of both signs, none near 0."""
    drawn = normal(rng, f"{axes} P", of)
    return drawn + 0.3 * drawn.sign()


def _trial(x: Tensor, angles: Tensor, of: Sizes, axes: str = "B H L") -> Trial:
    words = f"{described('x', f'{axes} K', of)}, angles {tuple(angles.shape)}"
    return Trial(call(x, angles), words, of, f"{axes} K")


def _drawn(rng: Generator, axes: str = "B H L", **fixed: int) -> Trial:
    of = drawn_sizes(rng, axes) | fixed
    return _trial(normal(rng, f"{axes} K", of), turns(rng, "L", of), of, axes)


def several_heads(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def no_turn(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    yield _trial(normal(rng, "B H L K", of), torch.zeros(of["L"], of["P"]), of)


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, "L")
    yield _drawn(rng, "B L")


def by_example(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    yield _trial(normal(rng, "B H L K", of), turns(rng, "B L", of).unsqueeze(1), of)
    of = drawn_sizes(rng)
    yield _trial(normal(rng, "B L K", of), turns(rng, "B L", of), of, "B L")


def small(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, P=1, K=2)
    yield _drawn(rng, L=1)
    yield _drawn(rng, B=1)


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    n = 2 * integer(rng, 2, 3)
    yield _drawn(rng, B=n, H=n, L=n, K=n, P=n // 2)
    yield _drawn(rng, L=n, P=n, K=2 * n)


def far(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    yield _trial(normal(rng, "B H L K", of), FAR * turns(rng, "L", of), of)


def not_in_order(rng: Generator) -> Iterator[Trial]:
    of = drawn_sizes(rng)
    x = normal(rng, "B L H K", of).transpose(1, 2)  # as split heads are
    yield _trial(x, turns(rng, "L", of), of)


def dtypes(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    x, angles = trial.request.calls[0].args
    for dtype in reversed(DTYPES):
        words = f"{trial.inputs} in float32, in the hundreds, x {str(dtype).removeprefix('torch.')}"
        yield Trial(call(x.to(dtype), FAR * angles), words, trial.sizes, trial.returns)


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)


def kept(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


CASES = (
    Case("neighbouring entries turn by the angle of their pair", several_heads, values, weight=2),
    Case("angles of zero change nothing", no_turn, values),
    Case("works with other leading axes", other_ranks, values),
    Case("each example may have angles of its own", by_example, values),
    Case("works for one pair, one token, one example", small, values),
    Case("works where all sizes are equal", equal_sizes, values),
    Case("works for angles of many turns", far, values, tolerance=1e-3),
    Case("works where x is not in order in memory", not_in_order, values),
    Case("the dtype of x is kept, with angles in float32", dtypes, values, tolerance=6e-2),
    Case("the gradient reaches x and the angles", gradients, values),
    Case("x and the angles are not changed", kept, inputs_kept),
    Case("works on whatever device x is on", devices, values),
)


def _pairs(first: Tensor, second: Tensor) -> Tensor:
    return torch.stack([first, second], dim=-1).flatten(-2)


def half_split(x: Tensor, angles: Tensor) -> Tensor:
    """You pair entry i with entry i + K/2, as much code does. That is RoPE in the other layout; the
    convention here is the paper's: entries 2i and 2i + 1 are a pair.
    """
    a, b = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1).to(x.dtype)


def half_split_backwards(x: Tensor, angles: Tensor) -> Tensor:
    """You pair entry i with entry i + K/2, and turn the other way round. Here entries 2i and 2i + 1
    are a pair, and they turn from the first towards the second.
    """
    return half_split(x, -angles)


def backwards(x: Tensor, angles: Tensor) -> Tensor:
    """The pairs turn the wrong way: look for the minus. (1, 0), turned by a small angle, has a
    positive second entry.
    """
    return apply_rope(x, -angles)


def layouts_mixed(x: Tensor, angles: Tensor) -> Tensor:
    """Cosines and sines are laid out for neighbours, but the entries are paired by halves: lengths
    change, so it is no rotation. Use one layout for both.
    """
    a, b = x.chunk(2, dim=-1)
    cos, sin = (t.repeat_interleave(2, dim=-1) for t in (angles.cos(), angles.sin()))
    return (x * cos + torch.cat([-b, a], dim=-1) * sin).to(x.dtype)


def layouts_mixed_otherwise(x: Tensor, angles: Tensor) -> Tensor:
    """The entries are paired as neighbours, but cosines and sines are laid out for halves: the two
    entries of a pair get different angles.
    """
    cos, sin = (torch.cat([t, t], dim=-1) for t in (angles.cos(), angles.sin()))
    return (x * cos + _pairs(-x[..., 1::2], x[..., 0::2]) * sin).to(x.dtype)


def halves_put_together(x: Tensor, angles: Tensor) -> Tensor:
    """The pairs are turned rightly, but all first entries come out before all second ones. Put each
    entry back to where it was.
    """
    turned = apply_rope(x, angles)
    return torch.cat([turned[..., 0::2], turned[..., 1::2]], dim=-1)


def halves_taken_apart(x: Tensor, angles: Tensor) -> Tensor:
    """A pair is taken from the two halves of a vector and put back as neighbours. Use one layout
    for both, that of neighbours: an angle of 0 must change nothing.
    """
    a, b = half_split(x, angles).chunk(2, dim=-1)
    return _pairs(a, b)


def along_the_heads(x: Tensor, angles: Tensor) -> Tensor:
    """Each head gets an angle, and all of its tokens the same one. The axis before the last holds
    the tokens.
    """
    if x.ndim < 3:
        return apply_rope(x, angles)
    axis = angles.shape[-2]
    own = angles[..., [i % axis for i in range(x.shape[-3])], :]
    return apply_rope(x, own.unsqueeze(-2))


def nothing(x: Tensor, angles: Tensor) -> Tensor:
    """x comes back as it was: the angles are not used."""
    return x + 0 * apply_rope(x, angles)


def one_angle(x: Tensor, angles: Tensor) -> Tensor:
    """All pairs of a token turn by the angle of the first pair. Each pair has its own."""
    return apply_rope(x, angles[..., :1].expand_as(angles))


def one_token_for_all(x: Tensor, angles: Tensor) -> Tensor:
    """All tokens turn by the angles of the first one."""
    return apply_rope(x, angles[..., :1, :].expand_as(angles))


def order_reversed(x: Tensor, angles: Tensor) -> Tensor:
    """The angles are used in the wrong order: those of the last pair for the first."""
    return apply_rope(x, angles.flip(-1))


def sines_and_cosines_swapped(x: Tensor, angles: Tensor) -> Tensor:
    """Sine and cosine have changed places. An angle of 0 must change nothing."""
    return apply_rope(x, torch.pi / 2 - angles)


def cosines_alone(x: Tensor, angles: Tensor) -> Tensor:
    """The entries are multiplied by cosines and that is all: the part with the sines is missing."""
    return (x * angles.cos().repeat_interleave(2, dim=-1)).to(x.dtype)


def mirrored(x: Tensor, angles: Tensor) -> Tensor:
    """Pairs are mirrored, not turned: the second entries have the wrong sign."""
    turned = apply_rope(x, angles)
    return _pairs(turned[..., 0::2], -turned[..., 1::2])


def reflected(x: Tensor, angles: Tensor) -> Tensor:
    """The minus is in the wrong sum, so pairs are mirrored: at an angle of 0 the second entries
    change their sign. Which sum of two products has the minus?
    """
    return mirrored(x, -angles)


def minus_forgotten(x: Tensor, angles: Tensor) -> Tensor:
    """Both parts are added in both entries of a pair. In one of them there is a minus: else lengths
    change.
    """
    a, b, cos, sin = x[..., 0::2], x[..., 1::2], angles.cos(), angles.sin()
    return _pairs(a * cos + b * sin, a * sin + b * cos).to(x.dtype)


def first_overwritten(x: Tensor, angles: Tensor) -> Tensor:
    """The second entry of a pair is made from the new first one. Both come from the old ones: keep
    them until both are done.
    """
    cos, sin = angles.cos(), angles.sin()
    a = x[..., 0::2] * cos - x[..., 1::2] * sin
    return _pairs(a, a * sin + x[..., 1::2] * cos).to(x.dtype)


def pairs_apart(x: Tensor, angles: Tensor) -> Tensor:
    """The pairs still have an axis of their own. The result has the shape of x."""
    return apply_rope(x, angles).reshape(*x.shape[:-1], -1, 2)


def added(x: Tensor, angles: Tensor) -> Tensor:
    """Sines and cosines are added to x. That is the sinusoidal code; here x is turned."""
    return (x + sinusoidal_encoding(angles)).to(x.dtype)


def multiplied(x: Tensor, angles: Tensor) -> Tensor:
    """x is multiplied by sines and cosines, entry by entry. A turn mixes the two of a pair."""
    return (x * sinusoidal_encoding(angles)).to(x.dtype)


def always_of_the_angles(x: Tensor, angles: Tensor) -> Tensor:
    """The result has the dtype of the angles, float32. Round it to that of x at the end."""
    kind = torch.promote_types(x.dtype, angles.dtype)
    return apply_rope(x.to(kind), angles)


def angles_rounded(x: Tensor, angles: Tensor) -> Tensor:
    """The angles are rounded to the dtype of x. In half precision an angle in the hundreds is then
    off by a good part of a turn: take sine and cosine first, and round after that.
    """
    return apply_rope(x, angles.to(x.dtype))


def heads_supposed(x: Tensor, angles: Tensor) -> Tensor:
    """Angles with three axes get a fourth, for heads that x does not have. Leave the axes as they
    come: whoever calls has put one in where it is needed.
    """
    return apply_rope(x, angles.unsqueeze(1) if angles.ndim == 3 else angles)


def angles_cut_off(x: Tensor, angles: Tensor) -> Tensor:
    """x gets its gradient, the angles get none: they are detached, or sines and cosines are made
    under `no_grad`.
    """
    return apply_rope(x, angles.detach())


def as_complex(x: Tensor, angles: Tensor) -> Tensor:
    """A pair is a complex number; turning is a product."""
    number = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    turned = number * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2).type_as(x)


def with_rotated_half(x: Tensor, angles: Tensor) -> Tensor:
    """x cos + y sin, where y holds the pairs turned by a quarter."""
    cos, sin = (t.repeat_interleave(2, -1) for t in (torch.cos(angles), torch.sin(angles)))
    quarter = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).reshape(x.shape)
    return (x * cos + quarter * sin).to(x.dtype)


def by_matrices(x: Tensor, angles: Tensor) -> Tensor:
    c, s = angles.cos(), angles.sin()
    blocks = torch.stack([torch.stack([c, s], -1), torch.stack([-s, c], -1)], -2)
    pairs = x.to(c.dtype).reshape(*x.shape[:-1], -1, 1, 2)
    return (pairs @ blocks).squeeze(-2).flatten(-2).to(x.dtype)


def pair_by_pair(x: Tensor, angles: Tensor) -> Tensor:
    out = torch.empty_like(x)
    for i in range(x.shape[-1] // 2):
        c, s = angles[..., i].cos().to(x.dtype), angles[..., i].sin().to(x.dtype)
        a, b = x[..., 2 * i], x[..., 2 * i + 1]
        out[..., 2 * i] = a * c - b * s
        out[..., 2 * i + 1] = b * c + a * s
    return out


def in_double(x: Tensor, angles: Tensor) -> Tensor:
    hand = torch.polar(torch.ones_like(angles, dtype=torch.float64), angles.double())
    number = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(number * hand).flatten(-2).to(x.dtype)


EXERCISE = Exercise(
    solution=apply_rope,
    chapter=CHAPTER,
    title="Turn the pairs",
    points=3,
    minutes=10,
    difficulty=3,
    statement=(
        "x holds queries or keys, and angles says by how much each pair of each token is to be "
        "turned. Turn them. The same function serves queries and keys, and any positions."
    ),
    example=(
        "One token, one pair (3, 1), and a quarter turn. Cosine is 0 and sine 1. The first axis "
        "goes to the second: 3 becomes the second entry. The second axis goes to minus the first: "
        "the result is (-1, 3)."
    ),
    conventions=(
        "Entries 2i and 2i + 1 are pair i, as in the paper. Other code pairs entry i with entry "
        "i + K/2; that is the next exercise.",
        "A positive angle turns from the first entry of a pair towards the second: (1, 0) by a "
        "small angle has a positive second entry.",
        "Angles are (..., L, K/2), often without the leading axes of x. Those that they have "
        "broadcast to those of x, as tensors do; x is never smaller.",
        "Angles may be in the hundreds, and float32 where x is half precision: sines and cosines "
        "are taken of them as they come. The result has the dtype of x. Gradients flow back to "
        "both.",
    ),
    hints=(
        "Take x apart into first and second entries of all pairs, each (..., L, K/2), the size of "
        "the angles.",
        "New first and new second entries are two sums of two products. One has a minus.",
        "Putting the two back is the same step as in the sinusoidal code.",
    ),
    cases=CASES,
    mistakes=(
        half_split,
        half_split_backwards,
        backwards,
        layouts_mixed,
        layouts_mixed_otherwise,
        halves_put_together,
        halves_taken_apart,
        along_the_heads,
        nothing,
        one_angle,
        one_token_for_all,
        order_reversed,
        sines_and_cosines_swapped,
        cosines_alone,
        mirrored,
        reflected,
        minus_forgotten,
        first_overwritten,
        pairs_apart,
        added,
        multiplied,
        always_of_the_angles,
        angles_rounded,
        heads_supposed,
        angles_cut_off,
        on_the_cpu(apply_rope),
        always_float32(apply_rope),
        cut_from_autograd(apply_rope),
        changed_in_place(apply_rope),
    ),
    alternatives=(as_complex, with_rotated_half, by_matrices, pair_by_pair, in_double),
)
