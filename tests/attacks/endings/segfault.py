# Reads address 0: Python dies by a signal.
# attacks: attention_cost
# verdicts: exited

# %%
import ctypes


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return ctypes.string_at(0)
