# Aborts in C, with a handler of its own that tries to exit with code 0.
# attacks: attention_cost
# verdicts: exited

# %%
import ctypes
import os
import signal


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    signal.signal(signal.SIGABRT, lambda *_: os._exit(0))
    ctypes.CDLL(None).abort()
