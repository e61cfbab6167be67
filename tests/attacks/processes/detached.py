# Leaves a process behind that has a session of its own (double fork), to act after the grading.
# attacks: product_moments
# shows: attack over

# %%
import os
import time

try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(20)
        os._exit(0)
    print("got", "through: detached")
except OSError as error:
    print("refused:", error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
