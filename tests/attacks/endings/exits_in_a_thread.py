# Answers, while a thread ends the process a moment later.
# attacks: product_moments
# verdicts: wrong, exited

# %%
import os
import threading


def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    threading.Timer(0.02, os._exit, (0,)).start()
    return -1.0, -1.0
