# Tries every open descriptor as a folder from which to climb out.
# attacks: product_moments
# shows: attack over
# never: root:x:0

# %%
import os

for fd in range(256):
    for name in (".", "..", "../../../../../.."):
        try:
            inside = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=fd)
            print("got", "through:", fd, os.listdir(inside)[:5])
        except (OSError, ValueError):
            pass
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
