# Resets the shell and deletes what the grader may have put there.
# attacks: product_moments
# verdicts: wrong, exception, not answered

# %%
shell = get_ipython()
shell.run_line_magic("reset", "-f")

# %%
shell = get_ipython()
shell.user_ns.clear()
shell.user_module.__dict__.clear()

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
