# Sends half a message, and the rest byte by byte, one each tenth of a second.
# attacks: attention_cost
# verdicts: time, output, exited

# %%
import os
import struct
import time


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    while True:
        for fd in range(3, 65):
            try:
                os.write(fd, started.pop(fd, b"x"))
            except OSError:
                pass
            except BaseException:
                continue
        try:
            time.sleep(0.1)
        except BaseException:
            pass


started = {fd: struct.pack("!i", 1000) for fd in range(3, 65)}
