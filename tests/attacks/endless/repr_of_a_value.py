# The value that a cell shows never finishes to describe itself.
# attacks: product_moments
# verdicts: wrong, time

# %%
class Endless:
    def __repr__(self):
        while True:
            pass


Endless()

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
