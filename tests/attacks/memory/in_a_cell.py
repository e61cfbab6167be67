# A helper cell that holds all the memory it can get when the honest answers are asked.
# attacks: product_moments
# verdicts: wrong, exception, memory, exited

# %%
held = []
for size in (10**9, 10**8, 10**7, 10**6, 10**5):
    try:
        while len(held) < 5000:
            held.append(bytearray(size))
    except MemoryError:
        pass

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
