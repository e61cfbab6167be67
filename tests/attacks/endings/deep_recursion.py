# Recurses without end with the limit taken away: the C stack overflows.
# attacks: attention_cost
# verdicts: exited, exception, memory, time

# %%
import sys


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    sys.setrecursionlimit(10**9)
    return attention_cost(n_q, n_k, d_k, d_v)
