# Answers that contain themselves, that never end, or that are nested 100,000 deep.
# attacks: attention_cost, product_moments
# verdicts: wrong, exception, exited, memory, time

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    knot = []
    knot.append(knot)
    return knot, {"a": knot}

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    deep = ()
    for _ in range(100_000):
        deep = (deep,)
    return deep, (n for n in iter(int, 1))
