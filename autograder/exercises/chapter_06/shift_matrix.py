"""Exercise: the matrix M_k with code(p) M_k = code(p + k)."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_06 import CHAPTER
from autograder.inputs import described, normal, sizes
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.positions import shift_matrix


def _trial(turns: Tensor, note: str = "") -> Trial:
    of = {"K": len(turns), "D": 2 * len(turns)}
    return Trial(call(turns), described("turns", "K", of) + note, of, "D D")


def _drawn(rng: Generator, sign: float = 1.0) -> Trial:
    of = {"K": sizes(rng, "K")["K"] + 1}
    return _trial(sign * (0.2 + normal(rng, "K", of).abs()))


def some_steps(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def backward_steps(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, -1.0)


def no_step(rng: Generator) -> Iterator[Trial]:
    yield _trial(torch.zeros(sizes(rng, "K")["K"]), ", all 0")


def one_hand(rng: Generator) -> Iterator[Trial]:
    yield _trial(normal(rng, "K", {"K": 1}))


def a_clock(rng: Generator) -> Iterator[Trial]:
    k, hands = sizes(rng, "L K").values()
    yield _trial(k * 10.0 ** -torch.arange(hands), f", those of {k} positions")


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)


def kept(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


CASES = (
    Case("one block for each hand, on the diagonal", some_steps, values, weight=2),
    Case("steps backwards", backward_steps, values),
    Case("a step of zero is the identity", no_step, values),
    Case("a clock with one hand", one_hand, values),
    Case("the step of a real clock", a_clock, values),
    Case("the dtype of the turns is kept", dtypes, values, tolerance=6e-2),
    Case("the gradient reaches the turns", gradients, values),
    Case("the turns themselves are not changed", kept, inputs_kept),
    Case("works on whatever device the turns are on", devices, values),
)


def _blocks(*entries: Tensor) -> Tensor:
    """Put the 2 x 2 blocks with these entries, row by row, on the diagonal."""
    blocks = torch.stack(entries, dim=-1).reshape(-1, 2, 2)
    matrix: Tensor = torch.block_diag(*blocks)  # type: ignore[no-untyped-call]
    return matrix


def for_columns(turns: Tensor) -> Tensor:
    """Your matrix is the transpose: it moves a code that stands as a column, from the left. Here
    vectors are rows, and the matrix stands on their right. (Or it moves by -k.)
    """
    return shift_matrix(turns).mT


def signs_lost(turns: Tensor) -> Tensor:
    """Both sines are positive. One of them comes from a minus: cos(a + b) = cos a cos b - ?"""
    cos, sin = turns.cos(), turns.sin()
    return _blocks(cos, sin, sin, cos)


def both_negative(turns: Tensor) -> Tensor:
    """Both sines are negative. Only one of the two sums of angles has a minus."""
    cos, sin = turns.cos(), -turns.sin()
    return _blocks(cos, sin, sin, cos)


def mirrored(turns: Tensor) -> Tensor:
    """The blocks mirror instead of turning: the two cosines have different signs."""
    cos, sin = turns.cos(), turns.sin()
    return _blocks(cos, sin, sin, -cos)


def sines_and_cosines_swapped(turns: Tensor) -> Tensor:
    """Sines are where cosines should be. A step of zero should change nothing: what is on the
    diagonal then?
    """
    cos, sin = turns.cos(), turns.sin()
    return _blocks(sin, -cos, cos, sin)


def halves(turns: Tensor) -> Tensor:
    """Your matrix is for codes whose columns are all sines, then all cosines. Here sine and cosine
    of a hand are neighbours, so the blocks are 2 by 2 along the diagonal.
    """
    cos, sin = torch.diag(turns.cos()), torch.diag(turns.sin())
    return torch.cat([torch.cat([cos, -sin], 1), torch.cat([sin, cos], 1)])


def one_turn_for_all(turns: Tensor) -> Tensor:
    """Every block turns by the first angle. Each hand has its own."""
    return shift_matrix(turns[:1].expand_as(turns))


def hands_reversed(turns: Tensor) -> Tensor:
    """The hands are in the wrong order: the last one's block comes first."""
    return shift_matrix(turns.flip(0))


def diagonal_alone(turns: Tensor) -> Tensor:
    """Only the diagonal is there. Sine and cosine of a pair also feed each other."""
    return torch.diag(turns.cos().repeat_interleave(2))


def blocks_alone(turns: Tensor) -> Tensor:
    """You return the blocks one by one, (D/2, 2, 2). Put them on the diagonal of one matrix."""
    rows = [
        torch.stack([turns.cos(), -turns.sin()], -1),
        torch.stack([turns.sin(), turns.cos()], -1),
    ]
    return torch.stack(rows, dim=-2)


def blocks_below_each_other(turns: Tensor) -> Tensor:
    """The blocks stand below each other, (D, 2). They belong on the diagonal of (D, D)."""
    return blocks_alone(turns).flatten(0, 1)


def other_diagonal(turns: Tensor) -> Tensor:
    """The blocks stand on the other diagonal, from the top right down."""
    size = 2 * len(turns)
    return shift_matrix(turns.flip(0)).reshape(size, -1, 2).flip(1).flatten(1)


def twice_the_step(turns: Tensor) -> Tensor:
    """Your matrix makes the step twice."""
    return shift_matrix(2 * turns)


def code_itself(turns: Tensor) -> Tensor:
    """You return the code of position k, a row. Asked is the matrix that moves every code by k."""
    return torch.stack([turns.sin(), turns.cos()], dim=-1).flatten()


def outer_product(turns: Tensor) -> Tensor:
    """Every hand is mixed with every other one. A hand moves by itself: outside of its block there
    are zeros.
    """
    code = code_itself(turns)
    return torch.outer(code, code)


def with_blocks(turns: Tensor) -> Tensor:
    cos, sin = torch.cos(turns), torch.sin(turns)
    return _blocks(cos, -sin, sin, cos)


def filled_in(turns: Tensor) -> Tensor:
    size = 2 * len(turns)
    matrix = turns.new_zeros(size, size)
    sines, cosines = torch.arange(0, size, 2), torch.arange(1, size, 2)
    matrix[sines, sines] = matrix[cosines, cosines] = torch.cos(turns)
    matrix[sines, cosines] = -torch.sin(turns)
    matrix[cosines, sines] = torch.sin(turns)
    return matrix


def block_by_block(turns: Tensor) -> Tensor:
    out = torch.zeros(2 * turns.numel(), 2 * turns.numel(), dtype=turns.dtype, device=turns.device)
    for i, turn in enumerate(turns):
        c, s = turn.cos(), turn.sin()
        out[2 * i, 2 * i], out[2 * i, 2 * i + 1] = c, -s
        out[2 * i + 1, 2 * i], out[2 * i + 1, 2 * i + 1] = s, c
    return out


def by_diagonals(turns: Tensor) -> Tensor:
    nothing = torch.zeros_like(turns)
    beside = torch.stack([turns.sin(), nothing], dim=-1).flatten()[:-1]
    main = turns.cos().repeat_interleave(2)
    return torch.diag(main) - torch.diag(beside, 1) + torch.diag(beside, -1)


def by_unit_matrices(turns: Tensor) -> Tensor:
    eye = torch.eye(len(turns)).to(turns)
    stay = torch.eye(2).to(turns)
    turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]]).to(turns)
    return torch.kron(eye * turns.cos(), stay) + torch.kron(eye * turns.sin(), turn)


def by_exponential(turns: Tensor) -> Tensor:
    """A rotation is the exponential of a matrix, as in the chapter."""
    first = torch.arange(0, 2 * len(turns), 2, device=turns.device)
    speed = torch.zeros(2 * len(turns), 2 * len(turns), dtype=torch.float64, device=turns.device)
    speed = speed.index_put((first + 1, first), turns.double())
    matrix: Tensor = torch.linalg.matrix_exp(speed - speed.mT).to(turns.dtype)
    return matrix


EXERCISE = Exercise(
    solution=shift_matrix,
    chapter=CHAPTER,
    title="One matrix for a step",
    points=3,
    minutes=10,
    difficulty=3,
    statement=(
        "Moving by k positions turns hand i by the angle turns[i], from wherever it stands. Build "
        "the matrix that does so to any sinusoidal code. (The angles of position k are the turns; "
        "which k it was does not matter here.)"
    ),
    example=(
        "One hand and a turn of 0.5: cos 0.5 = 0.8776, sin 0.5 = 0.4794. The code of position 0 is "
        "the row 0, 1. Times the matrix with rows (0.8776, -0.4794) and (0.4794, 0.8776) it is "
        "0.4794, 0.8776: sine and cosine of 0.5."
    ),
    conventions=(
        "Codes are rows, and the matrix stands on their right: code(p) M = code(p + k). For codes "
        "as columns one would need the transpose.",
        "The columns of a code are sine, cosine, sine, cosine, as in the exercise before.",
        "Dtype and device of the turns are kept, and gradients flow back to them.",
    ),
    hints=(
        "Do it for one hand, on paper: write sin(a + b) and cos(a + b) as a row (sin a, cos a) "
        "times a matrix that only knows b.",
        "Hands do not mix. So the large matrix has a 2 by 2 block for each hand on its diagonal, "
        "and zeros elsewhere.",
        "`torch.block_diag` takes the blocks as separate arguments. Or fill in zeros with the "
        "right rows and columns.",
    ),
    cases=CASES,
    mistakes=(
        for_columns,
        signs_lost,
        both_negative,
        mirrored,
        sines_and_cosines_swapped,
        halves,
        one_turn_for_all,
        hands_reversed,
        diagonal_alone,
        blocks_alone,
        blocks_below_each_other,
        other_diagonal,
        twice_the_step,
        code_itself,
        outer_product,
        on_the_cpu(shift_matrix),
        always_float32(shift_matrix),
        cut_from_autograd(shift_matrix),
        changed_in_place(shift_matrix),
    ),
    alternatives=(
        with_blocks,
        filled_in,
        block_by_block,
        by_diagonals,
        by_unit_matrices,
        by_exponential,
    ),
)
