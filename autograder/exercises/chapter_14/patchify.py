"""Exercise: pictures as rows of patches.

Out of scope: sizes that do not divide the picture, integers, and the projection that follows.
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_14 import CHAPTER
from autograder.exercises.chapter_14._draws import beyond_float32
from autograder.exercises.chapter_14._draws import not_contiguous as turned
from autograder.inputs import described, integer, normal
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
from solutions.patches import patchify


def _trial(rng: Generator, **fixed: int) -> Trial:
    """Draw R rows and N columns of patches, each with S rows and columns of pixels."""
    order = (torch.randperm(5, generator=rng) + 2).tolist()  # 2 to 6, no two equal
    of = {**dict(zip("BCRN", order[:4], strict=True)), "S": integer(rng, 2, 3), **fixed}
    of |= {"I": of["R"] * of["S"], "J": of["N"] * of["S"]}
    of |= {"L": of["R"] * of["N"], "P": of["C"] * of["S"] ** 2}
    words = f"{described('pictures', 'B C I J', of)}, size = {of['S']}"
    return Trial(call(normal(rng, "B C I J", of), of["S"]), words, of, "B L P")


def usual(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng)
    yield _trial(rng, C=3)


def one_channel(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, C=1)
    yield _trial(rng, C=1, R=4, N=4)


def high_and_wide(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, B=2, R=7, N=2)
    yield _trial(rng, B=2, R=2, N=5)
    yield _trial(rng, R=1)
    yield _trial(rng, N=1)


def one_patch(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, R=1, N=1, C=2, S=3)


def single_pixels(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, S=1, C=3, R=4, N=5)


def small(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, B=1)
    yield _trial(rng, B=1, C=1, S=2)


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, B=3, C=3, R=3, N=3, S=3)


def contiguous_or_not(rng: Generator) -> Iterator[Trial]:
    yield turned(_trial(rng, B=2))


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng, B=2, C=3))
    yield beyond_float32(_trial(rng, B=2, C=3))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(rng, B=2, C=3, R=3, N=4), rng)


def kept(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, B=2, C=3)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng))


CASES = (
    Case("patches of pictures with several channels", usual, values, weight=2),
    Case("pictures in grey", one_channel, values),
    Case("pictures that are high or wide", high_and_wide, values, weight=2),
    Case("a picture that is one patch", one_patch, values),
    Case("patches of a single pixel", single_pixels, values),
    Case("a single picture", small, values),
    Case("works where all sizes are equal", equal_sizes, values),
    Case("works for a tensor that is not contiguous", contiguous_or_not, values),
    Case("the dtype is kept", dtypes, values),
    Case("the gradient reaches every pixel", gradients, values),
    Case("the pictures themselves are not changed", kept, inputs_kept),
    Case("works on whatever device the pictures are on", devices, values),
)


def _cut(pictures: Tensor, size: int) -> Tensor:
    """Give (B, R, N, C, S, S)."""
    pieces = pictures.unfold(2, size, size).unfold(3, size, size)
    return pieces.movedim(1, 3)


def _rows(cut: Tensor) -> Tensor:
    return cut.flatten(3).flatten(1, 2)


def all_at_once(pictures: Tensor, size: int) -> Tensor:
    """The shape is right, but one reshape does it all, and a reshape moves no number: a patch then
    holds pixels of one long row of the picture. Its rows lie a whole row of the picture apart.
    """
    return pictures.reshape(len(pictures), -1, pictures.shape[1] * size * size)


def column_by_column(pictures: Tensor, size: int) -> Tensor:
    """The patches come column by column, from top to bottom. Here they come as one reads: a row
    from left to right, then the next row.
    """
    return _rows(_cut(pictures, size).transpose(1, 2))


def pixels_turned(pictures: Tensor, size: int) -> Tensor:
    """Within a patch the pixels come column by column. Rows first, as in the picture."""
    return _rows(_cut(pictures, size).mT)


def channels_last(pictures: Tensor, size: int) -> Tensor:
    """Within a patch the channels of a pixel lie side by side. Much code does so; here all pixels
    of channel 0 come first, as in the weights of a convolution.
    """
    return _rows(_cut(pictures, size).movedim(3, 5))


def channels_in_turn(pictures: Tensor, size: int) -> Tensor:
    """Within a patch the channels take turns, row by row. All rows of channel 0 come first, then
    those of the next channel.
    """
    return _rows(_cut(pictures, size).transpose(3, 4))


def rows_of_pixels(pictures: Tensor, size: int) -> Tensor:
    """Each token is a whole row of pixels of one channel. A patch is a square, with all channels
    of its pixels.
    """
    return pictures.flatten(1, 2)


def channels_apart(pictures: Tensor, size: int) -> Tensor:
    """Each channel makes patches of its own. A patch holds all channels of its pixels."""
    return _cut(pictures, size).movedim(3, 1).flatten(4).flatten(1, 3)


def every_other_pixel(pictures: Tensor, size: int) -> Tensor:
    """A patch is a coarse copy of the whole picture: pixels that lie far apart. It should hold
    neighbours. Of the two axes into which the rows are cut, which is the one within a patch?
    """
    batch, channels, rows, columns = pictures.shape
    cut = pictures.reshape(batch, channels, size, rows // size, size, columns // size)
    return _rows(cut.permute(0, 3, 5, 1, 2, 4))


def strips(pictures: Tensor, size: int) -> Tensor:
    """The pictures are cut into strips from left to right, not into squares."""
    batch, channels, rows, columns = pictures.shape
    cut = pictures.reshape(batch, channels, rows // size, size, columns)
    return cut.transpose(1, 2).flatten(2)


def overlapping(pictures: Tensor, size: int) -> Tensor:
    """The patches overlap: each begins one pixel after the last. The next begins where one ends."""
    return F.unfold(pictures, size).mT


def grid_left(pictures: Tensor, size: int) -> Tensor:
    """The patches still lie in a grid, (B, rows, columns, P). Make one sequence of it."""
    return _cut(pictures, size).flatten(3)


def patches_not_flat(pictures: Tensor, size: int) -> Tensor:
    """The patches are still small pictures, (B, L, C, size, size). Write each as one row."""
    return _cut(pictures, size).flatten(1, 2)


def features_first(pictures: Tensor, size: int) -> Tensor:
    """The axes are (B, P, L): `F.unfold` and a convolution give them so. Patches come first."""
    return patchify(pictures, size).mT


def square_pictures(pictures: Tensor, size: int) -> Tensor:
    """You take the number of columns of patches from the rows of the picture. That fits square
    pictures only.
    """
    side = pictures.shape[2] // size
    return _rows(_cut(pictures, size)).reshape(len(pictures), side * side, -1)


def last_channel_missing(pictures: Tensor, size: int) -> Tensor:
    """Only the first channel is cut. A patch holds all of them."""
    return patchify(pictures[:, :1], size)


def channels_averaged(pictures: Tensor, size: int) -> Tensor:
    """The channels are averaged. A patch holds each of them."""
    return patchify(pictures.mean(1, keepdim=True), size)


def averages(pictures: Tensor, size: int) -> Tensor:
    """Each patch is replaced by its mean. All of its numbers are asked for."""
    return patchify(pictures, size).mean(-1, keepdim=True)


def first_picture_repeated(pictures: Tensor, size: int) -> Tensor:
    """All rows of the batch hold the patches of the first picture."""
    return patchify(pictures[:1], size).expand(len(pictures), -1, -1)


def from_the_last(pictures: Tensor, size: int) -> Tensor:
    """The patches come from the end: bottom right first. Begin at the top left."""
    return patchify(pictures, size).flip(1)


def rows_exchanged(pictures: Tensor, size: int) -> Tensor:
    """Rows and columns of the pictures are exchanged before they are cut."""
    return patchify(pictures.mT, size)


def other_size(pictures: Tensor, size: int) -> Tensor:
    """`size` is taken as the number of patches along a side. It is the number of pixels in one."""
    return patchify(pictures, max(1, pictures.shape[2] // size))


def torch_unfolds(pictures: Tensor, size: int) -> Tensor:
    return F.unfold(pictures, kernel_size=size, stride=size).transpose(1, 2)


def one_after_the_other(pictures: Tensor, size: int) -> Tensor:
    patches = []
    for top in range(0, pictures.shape[2], size):
        for left in range(0, pictures.shape[3], size):
            patch = pictures[:, :, top : top + size, left : left + size]
            patches.append(patch.reshape(len(pictures), -1))
    return torch.stack(patches, dim=1)


def by_convolution(pictures: Tensor, size: int) -> Tensor:
    numbers = pictures.shape[1] * size * size
    units = torch.eye(numbers, dtype=pictures.dtype, device=pictures.device)
    kernels = units.view(numbers, -1, size, size)
    return F.conv2d(pictures, kernels, stride=size).flatten(2).mT


def by_splitting(pictures: Tensor, size: int) -> Tensor:
    strips = torch.split(pictures, size, dim=-2)
    patches = [patch for strip in strips for patch in torch.split(strip, size, dim=-1)]
    return torch.cat([patch.flatten(1).unsqueeze(1) for patch in patches], 1)


def by_unfolding_axes(pictures: Tensor, size: int) -> Tensor:
    pieces = pictures.unfold(2, size, size).unfold(3, size, size)
    b, c, r, n, _, _ = pieces.shape
    return torch.einsum("bcrnij->brncij", pieces).reshape(b, r * n, c * size**2)


def by_pixel_unshuffle(pictures: Tensor, size: int) -> Tensor:
    return F.pixel_unshuffle(pictures, size).flatten(2).transpose(-1, -2)


EXERCISE = Exercise(
    solution=patchify,
    chapter=CHAPTER,
    title="Pictures as sequences",
    points=3,
    minutes=12,
    difficulty=3,
    statement=(
        "Cut each picture into squares that do not overlap, and write every square as one row of "
        "numbers. They are to be the tokens: a linear layer will make vectors of them. "
        "Any operation of torch may be used."
    ),
    example=(
        "A picture with 4 rows and 4 columns holds the numbers 0 to 15 in reading order. Its "
        "patches of size 2 are (0, 1, 4, 5), (2, 3, 6, 7), (8, 9, 12, 13) and (10, 11, 14, 15)."
    ),
    conventions=(
        "Pictures are (B, C, I, J): batch, channels, rows, columns. Rows and columns may differ, "
        "and the size divides both. The numbers are floats.",
        "Patches come in reading order.",
        "Within a patch: channel 0 row by row, then channel 1, and so on, as in the weights of "
        "`nn.Conv2d`. (Code for pictures whose channels come last has them pixel by pixel.)",
    ),
    hints=(
        "Cut the axis of the rows into two: which patch, and which row within it. The same for the "
        "columns. A reshape does that without moving a number.",
        "Now there are six axes. Which of them say *which* patch, and which say where in it? Bring "
        "the former to the front.",
        "At the end, two axes become one, and three others become one.",
    ),
    cases=CASES,
    mistakes=(
        all_at_once,
        column_by_column,
        pixels_turned,
        channels_last,
        channels_in_turn,
        rows_of_pixels,
        channels_apart,
        every_other_pixel,
        strips,
        overlapping,
        grid_left,
        patches_not_flat,
        features_first,
        square_pictures,
        last_channel_missing,
        channels_averaged,
        averages,
        first_picture_repeated,
        from_the_last,
        rows_exchanged,
        other_size,
        on_the_cpu(patchify),
        always_float32(patchify),
        float64_narrowed(patchify),
        cut_from_autograd(patchify),
        changed_in_place(patchify),
    ),
    alternatives=(
        torch_unfolds,
        one_after_the_other,
        by_convolution,
        by_splitting,
        by_unfolding_axes,
        by_pixel_unshuffle,
    ),
)
