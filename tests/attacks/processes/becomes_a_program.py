# Replaces itself by another program that still holds the wire.
# attacks: product_moments
# verdicts: wrong, exited

# %%
import os
import sys

SAY = "import os; [os.write(fd, b'got' + b' through') for fd in range(3, 20)]"
try:
    os.execv(sys.executable, [sys.executable, "-c", SAY])
except OSError as error:
    print("refused:", error)

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
