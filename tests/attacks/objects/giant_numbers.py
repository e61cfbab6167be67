# Numbers that are costly to write: millions of digits, exponents of billions, strange fractions.
# attacks: attention_cost, product_moments
# verdicts: wrong, exception, time, memory, exited, output

# %%
from decimal import Decimal
from fractions import Fraction

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return Decimal("1e999999999"), Fraction(1, 3) ** 100_000

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return 1 << 50_000_000, -(1 << 5_000_000)
