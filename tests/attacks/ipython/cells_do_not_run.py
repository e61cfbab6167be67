# Replaces the shell's run_cell and everything around it by a report of success.
# attacks: product_moments
# verdicts: wrong, not answered, exception

# %%
shell = get_ipython()


class Fine:
    success, result, error_before_exec, error_in_exec = True, 3.0, None, None


for name in ("run_cell", "run_cell_async", "run_code", "run_ast_nodes", "compile"):
    setattr(type(shell), name, lambda *_, **__: Fine())
    setattr(shell, name, lambda *_, **__: Fine())

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
