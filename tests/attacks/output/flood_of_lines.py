# Prints 100 MB in lines.
# attacks: product_moments
# verdicts: wrong, time, output

# %%
for _ in range(1_000_000):
    print("course_attack " * 7)

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
