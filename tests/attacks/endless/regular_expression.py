# A regular expression that takes longer than the universe exists, inside C.
# attacks: attention_cost
# verdicts: time

# %%
import re


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return re.match(r"(a|a|aa)+$", "a" * 5000 + "!")
