"""Exercise: what each head adds to the output of multi-head attention.

Out of scope: how to find out which head is important.
"""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor
from torch.nn.functional import linear

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_04 import CHAPTER
from autograder.exercises.chapter_04 import merge_heads as merging
from autograder.inputs import described, normal, sizes
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import call
from solutions.heads import head_contributions, merge_heads, split_heads


def _trial(answers: Tensor, w_o: Tensor, of: dict[str, int]) -> Trial:
    words = f"{described('answers', 'B H L K', of)}, {described('w_o', 'D D', of)}"
    return Trial(call(answers, w_o), words, of, "B H L D")


def _drawn(rng: Generator, **fixed: int) -> Trial:
    of = sizes(rng, "B H L K") | fixed
    of["D"] = of["H"] * of["K"]
    return _trial(normal(rng, "B H L K", of), normal(rng, "D D", of), of)


def one_batch(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng)


def small(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, H=1)
    yield _drawn(rng, K=1)
    yield _drawn(rng, L=1)
    yield _drawn(rng, B=1)


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    side = sizes(rng, "L")["L"]
    of = dict.fromkeys("BHLK", side) | {"D": side**2}
    yield _trial(normal(rng, "B L H K", of).transpose(1, 2), normal(rng, "D D", of).T, of)


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng))


def kept(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_drawn(rng))


CASES = (
    Case("each head meets its own block of the matrix", one_batch, values, weight=2),
    Case("works with one head, one entry, one token, one example", small, values),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("the gradient reaches the answers and the matrix", gradients, values),
    Case("the dtype of the answers is kept", dtypes, values, tolerance=3e-2),
    Case("answers and matrix are not changed", kept, inputs_kept),
    Case("works on whatever device the answers are on", devices, values),
)


def _blocks(answers: Tensor, w_o: Tensor) -> Tensor:
    """Cut the matrix into (H, K, D): the block of each head, to be applied as x w."""
    return torch.stack(w_o.T.chunk(answers.shape[1]))


def summed(answers: Tensor, w_o: Tensor) -> Tensor:
    """You return the output, the sum over the heads. Asked is each head's own part of it."""
    return linear(merge_heads(answers), w_o)


def rows_for_columns(answers: Tensor, w_o: Tensor) -> Tensor:
    """The matrix is applied as x w, and cut into rows. It is laid out as in `nn.Linear`: each head
    has a block of its columns.
    """
    return head_contributions(answers, w_o.T)


def every_hth_column(answers: Tensor, w_o: Tensor) -> Tensor:
    """A head gets every H-th column, not K neighbouring ones: the columns are cut into (K, H), not
    into (H, K).
    """
    heads, width = answers.shape[1], answers.shape[-1]
    return answers @ w_o.reshape(-1, width, heads).permute(2, 1, 0)


def first_block(answers: Tensor, w_o: Tensor) -> Tensor:
    """Every head meets the block of head 0. Each has its own."""
    return answers @ _blocks(answers, w_o)[0]


def blocks_backwards(answers: Tensor, w_o: Tensor) -> Tensor:
    """Head 0 meets the last block. The blocks are in the order of the heads."""
    return answers @ _blocks(answers, w_o).flip(0)


def output_cut(answers: Tensor, w_o: Tensor) -> Tensor:
    """You cut the output into pieces. After the mixing no piece belongs to one head: cut before."""
    return split_heads(summed(answers, w_o), answers.shape[1])


def output_shared(answers: Tensor, w_o: Tensor) -> Tensor:
    """The output is shared out equally among the heads. Some may add more than others."""
    heads = answers.shape[1]
    return (summed(answers, w_o) / heads).unsqueeze(1).repeat(1, heads, 1, 1)


def not_mixed(answers: Tensor, w_o: Tensor) -> Tensor:
    """Every head is put in its place of the merged vector, but the matrix is not applied."""
    heads = answers.shape[1]
    own = torch.eye(heads, dtype=answers.dtype, device=answers.device)
    return torch.einsum("bhlk,hg->bhlgk", answers, own).flatten(-2)


def untouched(answers: Tensor, w_o: Tensor) -> Tensor:
    """You return the answers as they came in: each head still has to meet its block of w_o."""
    return answers


def blocks_unturned(answers: Tensor, w_o: Tensor) -> Tensor:
    """The blocks are still (D, H, K), as they were cut from w_o. One product for all heads needs
    (H, K, D): heads first, and last the axis that the output keeps.
    """
    return answers @ w_o.reshape(-1, answers.shape[1], answers.shape[-1])


def without_head(answers: Tensor, w_o: Tensor) -> Tensor:
    """You return what is left of the output when a head is removed. Asked is what it adds."""
    parts = head_contributions(answers, w_o)
    return parts.sum(1, keepdim=True) - parts


def up_to_head(answers: Tensor, w_o: Tensor) -> Tensor:
    """Each entry holds the sum of a head and of all heads before it."""
    return head_contributions(answers, w_o).cumsum(1)


def not_exchanged(answers: Tensor, w_o: Tensor) -> Tensor:
    """The axes are (B, L, H, D). Heads come before tokens."""
    return head_contributions(answers, w_o).transpose(1, 2)


def merged_wrongly(answers: Tensor, w_o: Tensor) -> Tensor:
    """The answers are reshaped to (B, L, D) without an exchange of axes, so that each block meets
    pieces of other tokens.
    """
    heads = answers.shape[1]
    return head_contributions(split_heads(merging.merged_at_once(answers), heads), w_o)


def by_einsum(answers: Tensor, w_o: Tensor) -> Tensor:
    blocks = w_o.view(w_o.shape[0], answers.shape[1], answers.shape[3])
    return torch.einsum("bhlk,dhk->bhld", answers, blocks)


def by_loop(answers: Tensor, w_o: Tensor) -> Tensor:
    blocks = w_o.tensor_split(answers.size(1), dim=1)
    parts = [answers[:, head] @ block.T for head, block in enumerate(blocks)]
    return torch.stack(parts, dim=1)


def by_silencing(answers: Tensor, w_o: Tensor) -> Tensor:
    """The whole output, with all heads but one set to zero."""
    parts = []
    for head in range(answers.shape[1]):
        alone = torch.zeros_like(answers)
        alone[:, head] = answers[:, head]
        parts.append(linear(alone.transpose(1, 2).flatten(2), w_o))
    return torch.stack(parts, dim=1)


def by_transposed_rows(answers: Tensor, w_o: Tensor) -> Tensor:
    heads, width = answers.size(1), answers.size(3)
    return torch.matmul(answers, w_o.t().reshape(heads, width, heads * width)).contiguous()


EXERCISE = Exercise(
    solution=head_contributions,
    chapter=CHAPTER,
    title="What each head adds",
    points=3,
    minutes=10,
    difficulty=3,
    statement=(
        "Merging and multiplying by the output matrix is a sum with one term for each head. Give "
        "the terms. With them you can see how much a head writes, and remove it."
    ),
    example=(
        "Two heads of width 1 found 1 and 10 for a token; w_o is [[1, 2], [3, 4]]. Column 0 "
        "belongs to head 0, which adds 1 x (1, 3) = 1 3. Head 1 adds 10 x (2, 4) = 20 40. The sum, "
        "21 43, is the output."
    ),
    conventions=(
        "w_o is laid out as in `nn.Linear`, (out, in), and applied as x w^T. The merged vector "
        "comes in along its columns: with K = 3, columns 0 to 2 belong to head 0.",
        "The result has an axis for heads, (B, H, L, D); summed over it, it is the output.",
    ),
    hints=(
        "In the product of the merged vector with w_o^T, which entries of w_o does an entry of "
        "head 1 meet?",
        "Give the columns of w_o two axes: which head, and which entry of it.",
        "Per head, (L, K) times (K, D). In which order must the axes of the blocks be, so that "
        "one product does it for all heads?",
    ),
    cases=CASES,
    mistakes=(
        summed,
        rows_for_columns,
        every_hth_column,
        first_block,
        blocks_backwards,
        output_cut,
        output_shared,
        not_mixed,
        untouched,
        blocks_unturned,
        without_head,
        up_to_head,
        not_exchanged,
        merged_wrongly,
        changed_in_place(head_contributions),
        on_the_cpu(head_contributions),
        always_float32(head_contributions),
        cut_from_autograd(head_contributions),
    ),
    alternatives=(by_einsum, by_loop, by_silencing, by_transposed_rows),
)
