# Hangs when the process is to leave: atexit, a thread that is joined, and a destructor.
# attacks: product_moments
# shows: attack over

# %%
import atexit
import threading
import time


def forever():
    while True:
        time.sleep(1)


class Last:
    def __del__(self):
        forever()


atexit.register(forever)
threading._register_atexit(forever)
threading.Thread(target=forever).start()
kept = Last()
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
