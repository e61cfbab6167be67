# Writes up to 1 GB into its folder, in files below any limit of one file.
# attacks: product_moments
# verdicts: wrong, exited, memory

# %%
import os

written = 0
try:
    for number in range(64):
        with open(f"course_attack_{number}", "wb") as file:
            for _ in range(16):
                written += file.write(b"x" * 2**20)
except OSError as error:
    print("refused after", written, "bytes:", error)
if written >= 2**29:
    print("got", "through:", written, "bytes")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
