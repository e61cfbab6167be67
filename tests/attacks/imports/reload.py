# Deletes, reloads and half-loads the modules that everything stands on.
# attacks: product_moments
# verdicts: wrong, exception, exited, output, not answered

# %%
import importlib
import sys

for name in ("json", "struct", "signal", "math", "multiprocessing.connection", "socket"):
    try:
        importlib.reload(importlib.import_module(name))
    except BaseException as error:
        print("refused:", name, type(error).__name__)
for name in list(sys.modules):
    if name not in ("sys", "builtins", "__main__"):
        del sys.modules[name]
sys.path.clear()
sys.meta_path.clear()
sys.path_hooks.clear()

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
