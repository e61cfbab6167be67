# Writes bytes that mean nothing to every descriptor.
# attacks: product_moments
# verdicts: wrong, output, exited, time

# %%
import os

for fd in range(65):
    try:
        os.write(fd, b"\xff\x00garbage\n" * 100)
    except OSError:
        pass

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
