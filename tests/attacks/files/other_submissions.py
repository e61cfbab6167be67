# Reads the submissions of others, which lie beside one's own where a grader runs in its folder.
# attacks: product_moments
# shows: attack over

# %%
import glob

UP = ("*", "../*", "../../*/*", "../../../*/*/*", "submitted/*/*/*", "source/*/*", "/tmp/*/*")
for pattern in UP:
    for name in glob.glob(pattern):
        if name.endswith((".ipynb", ".db", "seed.txt", "nbgrader_config.py")):
            print("got", "through:", name)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
