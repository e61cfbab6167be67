# Closes every descriptor, the wire to the judge too.
# attacks: product_moments
# verdicts: wrong, exited

# %%
import os

os.closerange(0, 4096)

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
