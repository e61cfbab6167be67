# Stops itself: whoever waits for it to end waits for ever.
# attacks: attention_cost
# verdicts: time, exited, exception

# %%
import os
import signal


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    signal.raise_signal(signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGSTOP)
    return n_q, n_k
