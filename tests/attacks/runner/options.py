# Changes the limits and options that its own side of the wall keeps.
# attacks: attention_cost
# verdicts: time

# %%
import signal
import sys


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    frame = sys._getframe()
    while frame:
        if "options" in frame.f_locals:
            frame.f_locals["options"]["seconds"] = 1e9
        frame = frame.f_back
    signal.setitimer(signal.ITIMER_REAL, 0)
    while True:
        pass
