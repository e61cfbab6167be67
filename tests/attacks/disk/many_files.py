# Makes up to 100,000 empty files.
# attacks: product_moments
# verdicts: wrong, exited, memory, time

# %%
import os

made = 0
try:
    os.mkdir("course_attack")
    for made in range(100_000):
        os.close(os.open(f"course_attack/{made}", os.O_CREAT | os.O_WRONLY))
except OSError as error:
    print("refused after", made, "files:", error)
if made == 99_999:
    print("got", "through:", made, "files")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
