# Forks until nothing else runs (here: at most 2000 children of 5 seconds).
# attacks: product_moments
# shows: attack over

# %%
import os
import time

children = 0
for _ in range(2000):
    try:
        if os.fork() == 0:
            time.sleep(5)
            os._exit(0)
        children += 1
    except OSError:
        break
if children:
    print("got", "through:", children, "children")
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
