# Makes folders within folders until removing them takes a deep recursion.
# attacks: product_moments
# verdicts: wrong, exited, memory

# %%
import os

try:
    for depth in range(5000):
        os.mkdir("course_attack_deep")
        os.chdir("course_attack_deep")
except OSError as error:
    print("refused after", depth, "folders:", error)

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
