"""What attention costs in arithmetic and memory (chapter 02)."""


def attention_cost(
    n_q: int, n_k: int, d_k: int, d_v: int, *, bytes_per_number: int = 4
) -> tuple[int, int]:
    """Count work and memory of one attention head for one sequence.

    n_q, n_k          number of queries and of keys
    d_k, d_v          entries of one query or key, entries of one value
    bytes_per_number  4 for float32, 2 for bfloat16
    ->                (flops, bytes)
                      flops: of the two matrix products, a multiplication
                      and an addition per term; scale and softmax left out
                      bytes: of one n_q by n_k matrix of weights

    Source: Vaswani et al. 2017, table 1, gives the order n^2 d.

    >>> attention_cost(2, 3, 4, 5)
    (108, 24)
    """
    ### BEGIN SOLUTION
    score_flops = 2 * n_q * n_k * d_k
    mix_flops = 2 * n_q * n_k * d_v
    return score_flops + mix_flops, n_q * n_k * bytes_per_number
    ### END SOLUTION
