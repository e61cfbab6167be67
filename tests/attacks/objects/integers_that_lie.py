# Answers with subclasses of int, float and tuple that are equal to everything.
# attacks: attention_cost, product_moments
# verdicts: wrong, exception

# %%
def lying(base):
    body = dict.fromkeys(("__eq__", "__le__", "__ge__"), lambda *_: True)
    body |= dict.fromkeys(("__sub__", "__rsub__", "__abs__"), lambda *_: base(0))
    return type("int", (base,), body | {"__hash__": lambda _: 0, "__float__": lambda _: 0.0})

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return lying(float)(-1.0), lying(float)(-1.0)

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    pair = type("tuple", (tuple,), {"__eq__": lambda *_: True, "__len__": lambda _: 2})
    return pair((lying(int)(3), lying(int)(4)))
