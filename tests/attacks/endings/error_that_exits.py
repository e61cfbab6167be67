# Raises an error whose text, when someone asks for it, ends the process.
# attacks: attention_cost
# verdicts: exited, exception

# %%
import os


class Trap(Exception):
    def __str__(self):
        os._exit(0)

    __repr__ = __str__


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    raise Trap
