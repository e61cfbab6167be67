# Draws the judge's inputs itself, with the seed of the environment.
# attacks: product_moments
# shows: attack over

# %%
import os

try:
    from autograder.catalogue import exercise
    from autograder.judge import trials

    one = exercise("product_moments")
    seed = os.environ.get("COURSE_SEED", "public")
    print("got", "through:", [next(trials(one, case, seed)).inputs for case in one.cases])
except ImportError as error:
    print("refused:", error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
