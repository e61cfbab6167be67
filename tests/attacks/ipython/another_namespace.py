# Swaps the namespace in which names are looked up for one that has an answer to everything.
# attacks: product_moments
# verdicts: wrong, not answered, exception, exited

# %%
class Everything(dict):
    def __contains__(self, _):
        return True

    def __missing__(self, name):
        return lambda *_, **__: True

    def get(self, name, default=None):
        return self[name]


shell = get_ipython()
shell.user_ns = Everything(shell.user_ns)

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
