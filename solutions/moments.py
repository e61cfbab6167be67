"""Mean and variance of a score before any scaling (chapter 02)."""


def product_moments(
    d_k: int, mean_q: float, var_q: float, mean_k: float, var_k: float
) -> tuple[float, float]:
    """Mean and variance of the inner product of two random vectors.

    d_k            number of entries of q and of k
    mean_q, var_q  mean and variance of every entry of q
    mean_k, var_k  mean and variance of every entry of k
    ->             (mean, variance) of q . k, the sum of all q_i k_i

    All 2 d_k entries are independent of each other.
    Source: Vaswani et al. 2017, footnote 4, for mean 0 and variance 1.

    >>> product_moments(64, 0.0, 1.0, 0.0, 1.0)
    (0.0, 64.0)
    """
    ### BEGIN SOLUTION
    mean = mean_q * mean_k
    variance = var_q * var_k + var_q * mean_k**2 + mean_q**2 * var_k
    return d_k * mean, d_k * variance
    ### END SOLUTION
