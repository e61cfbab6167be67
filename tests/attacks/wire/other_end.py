# Puts its own socket in the place of the wire, and asks through what it took away.
# attacks: product_moments
# verdicts: wrong, output, exited, time

# %%
import os
import socket

try:
    near, far = socket.socketpair()
    for fd in range(3, 65):
        if fd not in (near.fileno(), far.fileno()):
            try:
                os.fstat(fd)
                os.dup2(near.fileno(), fd)
            except OSError:
                pass
except OSError as error:
    print("refused:", error)

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
