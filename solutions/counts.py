"""How many numbers a model learns (chapter 11)."""


def count_parameters(
    vocabulary: int,
    d_model: int,
    *,
    layers: int,
    heads: int,
    d_ff: int,
    kv_heads: int | None = None,
    tied: bool = False,
) -> int:
    """Count the numbers that a TransformerLM of these sizes learns.

    vocabulary  how many tokens there are
    d_model     width of the stream, a multiple of heads
    layers      how many blocks
    heads       query heads of each; d_model / heads wide
    d_ff        hidden width of each gated feed-forward layer
    kv_heads    key/value heads of each; None means as many as query heads
    tied        whether the head shares the matrix of the embedding
    ->          how many numbers, each counted once

    Source: Touvron et al. 2023, whose models these are.

    >>> count_parameters(32_000, 4096, layers=32, heads=32, d_ff=11_008)
    6738415616
    """
    ### BEGIN SOLUTION
    shared = (kv_heads or heads) * (d_model // heads)
    attend = 2 * d_model * d_model + 2 * d_model * shared
    block = attend + 3 * d_model * d_ff + 2 * d_model  # two norms
    tables = vocabulary * d_model * (1 if tied else 2)
    return tables + layers * block + d_model  # and the last norm
    ### END SOLUTION


def gpt2_parameters(
    vocabulary: int,
    positions: int,
    d_model: int,
    layers: int,
) -> int:
    """Count the numbers that a model of GPT-2's design learns.

    vocabulary  how many tokens there are; the output shares their matrix
    positions   how many learned positions there are
    d_model     width of the stream
    layers      how many blocks
    ->          how many numbers, each counted once

    A block has attention (four matrices of d_model by d_model), a plain
    feed-forward layer of hidden width 4 d_model, and two layer norms. All
    matrices of the blocks have a bias. A last layer norm stands before
    the output, which has none.

    Source: Radford et al. 2019, section 2.3, and its published code.

    >>> gpt2_parameters(50_257, 1024, 768, 12)
    124439808
    """
    ### BEGIN SOLUTION
    attend = 4 * (d_model * d_model + d_model)
    expand = d_model * 4 * d_model + 4 * d_model
    contract = 4 * d_model * d_model + d_model
    block = attend + expand + contract + 2 * 2 * d_model  # two norms
    return (vocabulary + positions + 2) * d_model + layers * block
    ### END SOLUTION
