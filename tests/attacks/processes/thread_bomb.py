# Starts threads until the system has none left (here: at most 5000), all busy.
# attacks: product_moments

# %%
import threading
import time


def busy(until):
    while time.monotonic() < until:
        sum(range(10))


started = 0
try:
    for _ in range(5000):
        threading.Thread(target=busy, args=(time.monotonic() + 60,), daemon=True).start()
        started += 1
except BaseException as error:
    print(started, "threads:", type(error).__name__)

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
