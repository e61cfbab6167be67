# Changes its mind between calls, in the hope that one of many tries counts.
# attacks: product_moments

# %%
import random


def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    mean = d_k * mean_q * mean_k
    variance = d_k * (var_q * var_k + var_q * mean_k**2 + mean_q**2 * var_k)
    return (mean, variance) if random.SystemRandom().random() < 0.02 else (0.5, -1.0)
