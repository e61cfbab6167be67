# Announces a message of 2 GB, in every way that a length is written, and sends a part.
# attacks: product_moments
# verdicts: wrong, output, exited, time

# %%
import os
import struct

LENGTHS = (
    struct.pack("!i", 2**31 - 1),
    struct.pack("!iQ", -1, 2**40),
    struct.pack("<Q", 2**31),
    b"Content-Length: 2000000000\r\n\r\n",
)
for fd in range(3, 65):
    for length in LENGTHS:
        try:
            os.write(fd, length + b"x" * 1000)
        except OSError:
            pass

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
