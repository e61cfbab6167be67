"""Exercise: the Jacobian of softmax, from the weights alone."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_02 import CHAPTER
from autograder.inputs import described, normal, sizes
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere
from autograder.wire import call
from solutions.softmax import softmax, softmax_jacobian


def _trial(p: Tensor, axes: str, of: dict[str, int], note: str = "") -> Trial:
    returns = f"{axes} M"
    return Trial(call(p), described("p", axes, of) + note, of, returns)


def _drawn(rng: Generator, axes: str, dtype: torch.dtype = torch.float32) -> Trial:
    of = sizes(rng, axes)
    note = "" if dtype == torch.float32 else f", {str(dtype).removeprefix('torch.')}"
    return _trial(softmax(normal(rng, axes, of)).to(dtype), axes, of, note)


def one_vector(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, "M")


def batches(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, "B M")
    yield _drawn(rng, "B L M")
    yield _drawn(rng, "B H L M")
    of = sizes(rng, "B M")
    yield _trial(softmax(normal(rng, "M B", of).mT), "B M", of)  # not contiguous


def square_batch(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "M")
    p = softmax(torch.randn(of["M"], of["M"], generator=rng))
    yield Trial(call(p), f"p (B, M) = ({of['M']}, {of['M']})", of, "M M M")


def saturated(rng: Generator) -> Iterator[Trial]:
    of = sizes(rng, "B M")
    winner = torch.randint(of["M"], (of["B"],), generator=rng)
    p = torch.nn.functional.one_hot(winner, of["M"]).float()
    yield _trial(p, "B M", of, ", one weight 1, the others 0")


def dtypes(rng: Generator) -> Iterator[Trial]:
    for dtype in (torch.bfloat16, torch.float64):
        yield _drawn(rng, "B M", dtype)


def all_kinds(rng: Generator) -> Iterator[Trial]:
    yield from batches(rng)
    yield from dtypes(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng, "B M")
    yield trial
    yield elsewhere(trial)


CASES = (
    Case("the derivative of one vector of weights", one_vector, values, weight=2),
    Case("each vector of a batch by itself", batches, values),
    Case("a batch of as many vectors as weights", square_batch, values),
    Case("all zeros where one weight is 1", saturated, values),
    Case("the dtype of the weights is kept", dtypes, values, tolerance=3e-2),
    Case("the weights themselves are not changed", all_kinds, inputs_kept, tolerance=3e-2),
    Case("works on whatever device the weights are on", devices, values),
)


def _outer(p: Tensor) -> Tensor:
    return p.unsqueeze(-1) * p.unsqueeze(-2)


def no_diagonal(p: Tensor) -> Tensor:
    """The term of j = m is missing: raising a score also raises its own exponential in the
    numerator. The rows of the Jacobian must sum to 0.
    """
    return -_outer(p)


def only_diagonal(p: Tensor) -> Tensor:
    """Only the diagonal is filled. Raising one score lowers every other weight: what is the
    derivative of p_j in x_m for j != m?
    """
    return torch.diag_embed(p * (1 - p))


def just_the_weights(p: Tensor) -> Tensor:
    """The diagonal holds p and all else is 0: the derivative of the denominator is missing."""
    return torch.diag_embed(p)


def plus(p: Tensor) -> Tensor:
    """The product of the weights is added. Raising one score enlarges the denominator: does that
    raise or lower the weights?
    """
    return torch.diag_embed(p) + _outer(p)


def plus_off_diagonal(p: Tensor) -> Tensor:
    """The diagonal is right, but the other entries have the wrong sign: when one weight grows, the
    others shrink.
    """
    return 2 * torch.diag_embed(p * (1 - p)) - softmax_jacobian(p)


def negated(p: Tensor) -> Tensor:
    """Every sign is reversed: a higher score raises its own weight."""
    return -softmax_jacobian(p)


def square_on_diagonal(p: Tensor) -> Tensor:
    """The diagonal of your first term holds p squared. What is left of the quotient rule when the
    denominator is held fixed?
    """
    return torch.diag_embed(p**2) - _outer(p)


def ones_on_diagonal(p: Tensor) -> Tensor:
    """The diagonal of your first term holds ones. The derivative of exp(x_j) is exp(x_j), so a
    weight remains, not 1.
    """
    return torch.diag_embed(torch.ones_like(p)) - _outer(p)


def kronecker_left_out(p: Tensor) -> Tensor:
    """You compute p_j (1 - p_m) for every pair. The 1 belongs to j = m alone."""
    return p.unsqueeze(-1) * (1 - p.unsqueeze(-2))


def row_vector(p: Tensor) -> Tensor:
    """You subtract p_m alone where p_j p_m belongs: one factor was lost in the quotient rule."""
    return torch.diag_embed(p) - p.unsqueeze(-2).expand(*p.shape, p.shape[-1])


def softmax_again(p: Tensor) -> Tensor:
    """You apply softmax to the argument. It already holds the weights, not the scores."""
    return softmax_jacobian(softmax(p))


def diagonal_vector(p: Tensor) -> Tensor:
    """You return p (1 - p), the diagonal alone and as a vector. The Jacobian has one entry for each
    pair of weight and score.
    """
    return p * (1 - p)


def batch_mixed(p: Tensor) -> Tensor:
    """The products mix the vectors of a batch. Give the two factors an axis each by `unsqueeze`,
    so that every vector meets itself alone.
    """
    if p.ndim == 1:
        return softmax_jacobian(p)
    return torch.diag_embed(p) - p.transpose(-2, -1) @ p


def one_vector_only(p: Tensor) -> Tensor:
    """`torch.outer` and `torch.diag` take one vector. See `torch.diag_embed` and broadcasting with
    `unsqueeze` for a batch.
    """
    return torch.diag(p) - torch.outer(p, p)


def own_buffer(p: Tensor) -> Tensor:
    """You fill a tensor made with `torch.zeros`, `torch.eye` or `torch.empty` alone: it is float32
    and on the CPU whatever p is. See `p.new_zeros` and the arguments dtype and device.
    """
    out = torch.zeros(*p.shape, p.shape[-1])
    out[:] = softmax_jacobian(p)
    return out


def eye_on_cpu(p: Tensor) -> Tensor:
    """`torch.eye(M)` is float32 and on the CPU whatever p is, which changes the dtype of the result
    or fails on a GPU. Give it dtype and device of p.
    """
    return torch.eye(p.shape[-1]) * p.unsqueeze(-1) - _outer(p)


def eye_without_device(p: Tensor) -> Tensor:
    """`torch.eye` makes its matrix on the CPU whatever p is, which fails on a GPU. Give it the
    device of p.
    """
    return p.unsqueeze(-1) * (torch.eye(p.shape[-1], dtype=p.dtype) - p.unsqueeze(-2))


def on_the_cpu(p: Tensor) -> Tensor:
    """p is moved to the CPU, and the result stays there. Leave everything on the device of p."""
    return softmax_jacobian(p.cpu())


def factor_on_the_wrong_side(p: Tensor) -> Tensor:
    """Without `unsqueeze`, p lines up with the last axis of the identity twice: you get
    p_m (1 - p_m) on the diagonal, but -p_m^2 elsewhere. One factor belongs to the row j, the other
    to the column m.
    """
    eye = torch.eye(p.shape[-1], dtype=p.dtype, device=p.device)
    row = p.unsqueeze(-2)
    return row * (eye - row)


def leading_axes(p: Tensor) -> Tensor:
    """`unsqueeze(0)` and `unsqueeze(1)`, or `[None, :]` and `[:, None]`, are right for one vector.
    In a batch the new axis must come last and next to last: count from the end.
    """
    return torch.diag_embed(p) - p.unsqueeze(0) * p.unsqueeze(1)


def always_float32(p: Tensor) -> Tensor:
    """The result is float32 whatever the dtype of p. Give it back in the dtype that came in."""
    return softmax_jacobian(p.float())


def in_place(p: Tensor) -> Tensor:
    """An operation writes into the caller's tensor. Make a new tensor instead."""
    result = softmax_jacobian(p)
    p.sub_(p**2)
    return result


def by_entries(p: Tensor) -> Tensor:
    size = p.shape[-1]
    rows = [
        [p[..., j] * ((1.0 if j == m else 0.0) - p[..., m]) for m in range(size)]
        for j in range(size)
    ]
    return torch.stack([torch.stack(row, dim=-1) for row in rows], dim=-2)


def by_einsum(p: Tensor) -> Tensor:
    eye = torch.eye(p.size(-1), dtype=p.dtype, device=p.device)
    return torch.einsum("...i,ij->...ij", p, eye) - torch.einsum("...i,...j->...ij", p, p)


def factored(p: Tensor) -> Tensor:
    eye = torch.eye(p.size(-1), dtype=p.dtype, device=p.device)
    return p[..., :, None] * (eye - p[..., None, :])


def by_matmul(p: Tensor) -> Tensor:
    column = p.unsqueeze(-1)
    return torch.diag_embed(p) - column @ column.mT


EXERCISE = Exercise(
    solution=softmax_jacobian,
    chapter=CHAPTER,
    title="How weights answer to scores",
    points=3,
    minutes=15,
    difficulty=3,
    statement=(
        "`p` holds weights that softmax returned. Return the matrix of the derivatives of every "
        "weight in every score. It can be written with `p` alone; the scores are not needed."
    ),
    example=(
        "For p = (1/4, 3/4) a higher first score raises the first weight at the rate "
        "1/4 - 1/16 = 3/16 and lowers the second at the rate 3/16. So the first column is "
        "(3/16, -3/16), and the second is (-3/16, 3/16)."
    ),
    conventions=(
        "J[..., j, m] is the derivative of weight j in score m (the matrix is symmetric, so the "
        "other order gives the same).",
        "Batch axes stand in front: (..., M) becomes (..., M, M), every vector by itself.",
        "Weights may be exactly 0 or 1.",
    ),
    hints=(
        "Write p_j = e_j / s with s the sum of all e. What is the derivative of e_j in x_m for "
        "j = m, and for j different from m?",
        "The derivative of s in x_m is e_m. Apply the quotient rule to e_j / s, and divide out s "
        "until only weights are left.",
        "`torch.diag_embed` puts the last axis on a diagonal; `unsqueeze` makes a column and a row "
        "that broadcast to all pairs.",
    ),
    cases=CASES,
    mistakes=(
        no_diagonal,
        only_diagonal,
        just_the_weights,
        plus,
        plus_off_diagonal,
        negated,
        square_on_diagonal,
        ones_on_diagonal,
        kronecker_left_out,
        row_vector,
        softmax_again,
        diagonal_vector,
        batch_mixed,
        one_vector_only,
        own_buffer,
        eye_on_cpu,
        eye_without_device,
        on_the_cpu,
        factor_on_the_wrong_side,
        leading_axes,
        always_float32,
        in_place,
    ),
    alternatives=(by_entries, by_einsum, factored, by_matmul),
)
