# The answer itself prints 100 MB at every call and writes to the descriptors 1 and 2.
# attacks: attention_cost
# verdicts: wrong, time, output

# %%
import os


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    print("x" * 100_000_000)
    os.write(1, b"y" * 1_000_000)
    os.write(2, b"z" * 1_000_000)
    return n_q, n_k
