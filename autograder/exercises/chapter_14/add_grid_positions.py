"""Exercise: a code for the row and one for the column of a patch.

Out of scope: learned tables, and grids whose last row is not full.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, last_of_several_calls, values
from autograder.exercises.chapter_14 import CHAPTER
from autograder.exercises.chapter_14._draws import beyond_float32, in_turn
from autograder.exercises.chapter_14._draws import not_contiguous as turned
from autograder.inputs import described, normal, sizes
from autograder.slips import (
    always_float32,
    changed_in_place,
    cut_from_autograd,
    on_the_cpu,
)
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.patches import add_grid_positions
from solutions.positions import position_angles, sinusoidal_encoding


def _trial(rng: Generator, size: float = 1.0, **fixed: int) -> Trial:
    """Draw R rows and N columns of patches."""
    of = {**sizes(rng, "B R N"), "D": 8 + 4 * int(torch.randint(3, (), generator=rng)), **fixed}
    of["L"] = of["R"] * of["N"]
    words = f"{described('tokens', 'B L D', of)}, columns = {of['N']}"
    return Trial(call(size * normal(rng, "B L D", of), of["N"]), words, of, "B L D")


def usual(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, R=3, N=4)
    yield _trial(rng)


def high_and_wide(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, R=7, N=2)
    yield _trial(rng, R=2, N=9)


def one_row_or_column(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, R=1, N=6)
    yield _trial(rng, R=5, N=1)
    yield _trial(rng, R=1, N=1)


def narrow(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, D=4, R=3, N=5)


def wide(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, D=36, R=4, N=3)


def small(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, B=1)


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, B=4, R=2, N=2, D=4)
    yield _trial(rng, B=3, R=4, N=4, D=16)


def sizes_of_tokens(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, size=0.0)
    yield _trial(rng, size=30.0)


def several_calls(rng: Generator) -> Iterator[Trial]:
    """A table that is kept must not outlive the call: the same length, other columns."""
    trial = _trial(rng, R=4, N=6, D=8)
    other = _trial(rng, R=6, N=4, D=8)
    both = in_turn(iter((trial, other)))
    for calls in (both.request.calls[:2], both.request.calls[1:]):
        yield replace(both, request=replace(both.request, calls=calls))


def contiguous_or_not(rng: Generator) -> Iterator[Trial]:
    yield turned(_trial(rng))


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng, R=3, N=4))
    yield beyond_float32(_trial(rng))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(rng, R=3, N=4), rng)


def kept(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng))


CASES = (
    Case("rows in the first half, columns in the second", usual, values, weight=2),
    Case("grids that are high or wide", high_and_wide, values, weight=2),
    Case("a single row, column or patch", one_row_or_column, values),
    Case("the narrowest tokens", narrow, values),
    Case("wide tokens", wide, values),
    Case("a single picture", small, values),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("the code does not depend on the tokens", sizes_of_tokens, values),
    Case("another grid does not remember the one before", several_calls, last_of_several_calls),
    Case("works for a tensor that is not contiguous", contiguous_or_not, values),
    Case("the dtype of the tokens is kept", dtypes, values, tolerance=6e-2),
    Case("the gradient reaches the tokens", gradients, values),
    Case("the tokens themselves are not changed", kept, inputs_kept),
    Case("works on whatever device the tokens are on", devices, values),
)


def _code(place: Tensor, width: int) -> Tensor:
    return sinusoidal_encoding(position_angles(place, width))


def _places(tokens: Tensor) -> Tensor:
    return torch.arange(tokens.shape[1], device=tokens.device)


def _halves(tokens: Tensor, first: Tensor, second: Tensor) -> Tensor:
    half = tokens.shape[2] // 2
    code = torch.cat([_code(first, half), _code(second, half)], -1)
    return tokens + code.to(tokens.dtype)


def column_first(tokens: Tensor, columns: int) -> Tensor:
    """The code of the column is in the first half and that of the row in the second. Here the row
    comes first.
    """
    place = _places(tokens)
    return _halves(tokens, place % columns, place // columns)


def grid_turned(tokens: Tensor, columns: int) -> Tensor:
    """The tokens are taken column by column. They come in reading order: with 4 columns, token 4
    is the first one of row 1.
    """
    place, rows = _places(tokens), tokens.shape[1] // columns
    return _halves(tokens, place % rows, place // rows)


def divided_by_rows(tokens: Tensor, columns: int) -> Tensor:
    """You count with the number of rows. How many tokens stand in a row? As many as there are
    columns.
    """
    place, rows = _places(tokens), tokens.shape[1] // columns
    return _halves(tokens, place // rows, place % rows)


def square_grid(tokens: Tensor, columns: int) -> Tensor:
    """The grid is taken to be square. It has as many columns as you are told."""
    place, side = _places(tokens), max(1, math.isqrt(tokens.shape[1]))
    return _halves(tokens, place // side, place % side)


def row_twice(tokens: Tensor, columns: int) -> Tensor:
    """Both halves hold the code of the row: all patches of a row look alike."""
    row = _places(tokens) // columns
    return _halves(tokens, row, row)


def column_twice(tokens: Tensor, columns: int) -> Tensor:
    """Both halves hold the code of the column: all patches of a column look alike."""
    column = _places(tokens) % columns
    return _halves(tokens, column, column)


def place_in_the_sequence(tokens: Tensor, columns: int) -> Tensor:
    """The code is that of the place in the sequence, as for text. A picture has two directions."""
    return tokens + _code(_places(tokens), tokens.shape[2]).to(tokens.dtype)


def columns_not_wrapped(tokens: Tensor, columns: int) -> Tensor:
    """The second half holds the code of the place in the sequence. The column begins with 0 again
    in each row.
    """
    place = _places(tokens)
    return _halves(tokens, place // columns, place)


def counted_from_one(tokens: Tensor, columns: int) -> Tensor:
    """Rows and columns are counted from 1. Both count from 0."""
    place = _places(tokens)
    return _halves(tokens, place // columns + 1, place % columns + 1)


def codes_added(tokens: Tensor, columns: int) -> Tensor:
    """Two codes of full width are added, and then (row 1, column 2) is the same as (row 2,
    column 1). Each gets half of the features.
    """
    place = _places(tokens)
    code = _code(place // columns, tokens.shape[2]) + _code(place % columns, tokens.shape[2])
    return tokens + code.to(tokens.dtype)


def features_alternate(tokens: Tensor, columns: int) -> Tensor:
    """Features of the row and of the column alternate. The first half belongs to the row."""
    place, half = _places(tokens), tokens.shape[2] // 2
    both = [_code(place // columns, half), _code(place % columns, half)]
    return tokens + torch.stack(both, -1).flatten(-2).to(tokens.dtype)


def sines_first(tokens: Tensor, columns: int) -> Tensor:
    """Within a code all sines come before all cosines. Some code does so; here they alternate, as
    `sinusoidal_encoding` gives them.
    """
    place, half = _places(tokens), tokens.shape[2] // 2
    angles = [position_angles(p, half) for p in (place // columns, place % columns)]
    code = torch.cat([part for a in angles for part in (a.sin(), a.cos())], -1)
    return tokens + code.to(tokens.dtype)


def clock_of_full_width(tokens: Tensor, columns: int) -> Tensor:
    """The hands of the clock are those of the full width, cut off in the middle. A code for half
    of the features has a clock for that width, from fast to slow.
    """
    place, width = _places(tokens), tokens.shape[2]
    half = width // 2
    codes = [_code(p, width)[:, :half] for p in (place // columns, place % columns)]
    return tokens + torch.cat(codes, -1).to(tokens.dtype)


def tokens_scaled(tokens: Tensor, columns: int) -> Tensor:
    """The tokens are multiplied by the root of their width first. Some models do that with words;
    here they are added as they are.
    """
    return add_grid_positions(tokens * math.sqrt(tokens.shape[2]), columns)


def multiplied(tokens: Tensor, columns: int) -> Tensor:
    """The code is multiplied with the tokens. Add it."""
    code = add_grid_positions(torch.zeros_like(tokens), columns)
    return tokens * code


def code_alone(tokens: Tensor, columns: int) -> Tensor:
    """The code comes back alone. It is added to the tokens."""
    return add_grid_positions(0 * tokens, columns)


def row_alone(tokens: Tensor, columns: int) -> Tensor:
    """Only the row is told, with a code of full width. The other half is for the column."""
    return tokens + _code(_places(tokens) // columns, tokens.shape[2]).to(tokens.dtype)


def shares_of_the_picture(tokens: Tensor, columns: int) -> Tensor:
    """Rows and columns are divided by how many there are. Here they are counted in patches."""
    place, rows = _places(tokens), tokens.shape[1] // columns
    return _halves(tokens, place // columns / rows, place % columns / columns)


def place_in_the_batch(tokens: Tensor, columns: int) -> Tensor:
    """The place is taken along the batch: all patches of a picture get the same code. Which axis
    holds the patches?
    """
    place = torch.arange(len(tokens), device=tokens.device)[:, None]
    return _halves(tokens, place // columns, place % columns)


def plain_numbers(tokens: Tensor, columns: int) -> Tensor:
    """Row and column are added as plain numbers. Add their sinusoidal codes."""
    place, half = _places(tokens), tokens.shape[2] // 2
    both = torch.stack([place // columns, place % columns], -1)
    return tokens + both.repeat_interleave(half, -1).to(tokens.dtype)


def put_in_front(tokens: Tensor, columns: int) -> Tensor:
    """The code is joined to the tokens, which become wider. Add it."""
    return torch.cat([add_grid_positions(0 * tokens, columns), tokens], -1)


def narrowed(tokens: Tensor, columns: int) -> Tensor:
    """The tokens pass through float32 on the way, and lose digits if they came with more."""
    return add_grid_positions(tokens.float(), columns).to(tokens.dtype)


def by_grid(tokens: Tensor, columns: int) -> Tensor:
    batch, length, width = tokens.shape
    rows, half = length // columns, width // 2
    down = _code(torch.arange(rows, device=tokens.device), half).to(tokens.dtype)
    across = _code(torch.arange(columns, device=tokens.device), half).to(tokens.dtype)
    grid = tokens.reshape(batch, rows, columns, width)
    first, second = torch.split(grid, half, dim=-1)
    return torch.cat([first + down[:, None], second + across], -1).flatten(1, 2)


def in_a_loop(tokens: Tensor, columns: int) -> Tensor:
    width = tokens.shape[-1]
    coded = []
    for i, token in enumerate(tokens.unbind(1)):
        numbers = []
        for position in divmod(i, columns):
            for j in range(width // 4):
                angle = position / 10_000 ** (4 * j / width)
                numbers += [math.sin(angle), math.cos(angle)]
        coded.append(token + torch.tensor(numbers, dtype=token.dtype, device=token.device))
    return torch.stack(coded, 1)


def by_meshgrid(tokens: Tensor, columns: int) -> Tensor:
    rows = torch.arange(tokens.size(1) // columns, device=tokens.device)
    down, across = torch.meshgrid(rows, torch.arange(columns, device=tokens.device), indexing="ij")
    pieces = [_code(axis.reshape(-1), tokens.size(2) // 2) for axis in (down, across)]
    return tokens + torch.hstack(pieces).type_as(tokens)


def in_a_copy(tokens: Tensor, columns: int) -> Tensor:
    half = tokens.shape[-1] // 2
    place = _places(tokens)
    coded = tokens.clone()
    coded[..., :half] += _code(place.div(columns, rounding_mode="floor"), half).to(tokens.dtype)
    coded[..., half:] += _code(place.remainder(columns), half).to(tokens.dtype)
    return coded


EXERCISE = Exercise(
    solution=add_grid_positions,
    chapter=CHAPTER,
    title="Two directions",
    points=3,
    minutes=12,
    difficulty=3,
    statement=(
        "A picture has two directions. Add to each token a code for its row, in the first half of "
        "the features, and one for its column, in the second. `position_angles(positions, width)` "
        "and `sinusoidal_encoding(angles)` of chapter 6 are imported at the top."
    ),
    example=(
        "With 2 columns and D = 4, token 1 stands in row 0, column 1. To its features are added "
        "(sin 0, cos 0, sin 1, cos 1) = (0, 1, 0.8415, 0.5403)."
    ),
    conventions=(
        "Tokens come in reading order, and rows and columns count from 0.",
        "Each of the two codes is D/2 wide, with a clock for that width, and sine and cosine "
        "alternate as in chapter 6.",
        "What comes back has the dtype and the device of the tokens. The code itself is computed "
        "in float32, for float64 tokens, too.",
    ),
    hints=(
        "In which row does token i stand, if there are `columns` in a row? And in which column?",
        "Two codes of half the width are joined along the features.",
    ),
    cases=CASES,
    mistakes=(
        column_first,
        grid_turned,
        divided_by_rows,
        square_grid,
        row_twice,
        column_twice,
        place_in_the_sequence,
        columns_not_wrapped,
        counted_from_one,
        codes_added,
        features_alternate,
        sines_first,
        clock_of_full_width,
        tokens_scaled,
        multiplied,
        code_alone,
        row_alone,
        shares_of_the_picture,
        place_in_the_batch,
        plain_numbers,
        put_in_front,
        narrowed,
        on_the_cpu(add_grid_positions),
        always_float32(add_grid_positions),
        cut_from_autograd(add_grid_positions),
        changed_in_place(add_grid_positions),
    ),
    alternatives=(by_grid, in_a_loop, by_meshgrid, in_a_copy),
)
