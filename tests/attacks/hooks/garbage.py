# Callbacks of the garbage collector, destructors and weak references that do harm when they run.
# attacks: product_moments
# verdicts: wrong, exited, exception, time

# %%
import gc
import os
import weakref


class Bomb:
    def __init__(self, left=1000):
        self.me, self.left = self, left

    def __del__(self):
        if self.left:
            Bomb(self.left - 1)


gc.callbacks.append(lambda *_: os.write(3, b"x"))
gc.set_threshold(1, 1, 1)
kept = Bomb()
weakref.finalize(kept, os._exit, 0)
del kept
gc.collect()

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
