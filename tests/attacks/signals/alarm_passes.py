# Puts a handler in the place of the time limit's own that lets the answer "return".
# attacks: attention_cost
# verdicts: time, wrong

# %%
import signal
import time


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    signal.signal(signal.SIGALRM, lambda *_: signal.setitimer(signal.ITIMER_REAL, 0))
    time.sleep(300)
    return n_q, n_k
