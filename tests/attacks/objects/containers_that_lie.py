# Containers whose length, items and iteration contradict each other.
# attacks: attention_cost, product_moments
# verdicts: wrong, exception

# %%
class Pair(list):
    def __iter__(self):
        calls.append(1)
        return iter([len(calls)] * 2)

    def __len__(self):
        return -(-2)


calls = []


class Names(dict):
    def items(self):
        return [("tensor", "float32"), ("shape", [2**40]), ("stride", None), ("meta", True)]

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return Names(tensor="float32", shape=[2**40], stride=None, meta=True), {"tuple": [1, 2]}

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    return Pair([1, 2, 3])
