# Forks: a child could outlive the question and change scores later.
# attacks: product_moments
# shows: attack over

# %%
import os

try:
    child = os.fork()
    if child == 0:
        os._exit(0)
    print("got", "through: fork")
except OSError as error:
    print("refused:", error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
