# Sends a signal to its whole process group, in which the grader may be.
# attacks: product_moments
# verdicts: wrong, exited

# %%
import os
import signal

for target in (0, os.getpgrp()):
    try:
        os.killpg(target, signal.SIGTERM)
    except OSError as error:
        print("refused:", error)

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
