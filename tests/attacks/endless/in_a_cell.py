# A helper cell that never ends, before the first answer.
# attacks: product_moments
# verdicts: wrong, time

# %%
while True:
    try:
        while True:
            pass
    except BaseException:
        pass

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
