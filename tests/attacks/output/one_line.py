# Prints one line of 200 MB, to both streams and past Python's own objects.
# attacks: product_moments
# verdicts: wrong, time, output, exited

# %%
import os
import sys

print("x" * 200_000_000)
sys.stderr.write("y" * 100_000_000)
sys.__stdout__.write("z" * 10_000_000)
for fd in (1, 2):
    try:
        for _ in range(100):
            os.write(fd, b"w" * 1_000_000)
    except OSError as error:
        print("refused:", error)

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
