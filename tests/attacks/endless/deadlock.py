# Waits for a lock that it holds.
# attacks: attention_cost
# verdicts: time

# %%
import threading

lock = threading.Lock()


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    while True:
        try:
            lock.acquire()
        except BaseException:
            pass
