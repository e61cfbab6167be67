# Replaces the function that uses the answers by one that gives back what it likes.
# attacks: product_moments
# verdicts: wrong, exception, output
# shows: attack over

# %%
from autograder import check

own = check.__globals__
Reply = own["Reply"]
own["perform"] = lambda *_: Reply(values=((4.0, 2.0),))
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
