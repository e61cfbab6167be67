# Raises what a person's Ctrl-C raises, and what stops a generator.
# attacks: product_moments, attention_cost
# verdicts: exception, exited, wrong

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    raise KeyboardInterrupt

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    raise GeneratorExit
