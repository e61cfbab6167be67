# Replaces the hooks that Python calls by itself: errors, warnings, codecs, breakpoints, exit.
# attacks: product_moments
# verdicts: wrong, exited, exception, output

# %%
import atexit
import codecs
import faulthandler
import os
import sys
import warnings

for name in ("excepthook", "unraisablehook", "breakpointhook", "displayhook"):
    setattr(sys, name, lambda *_: os._exit(0))
warnings.showwarning = warnings.warn = warnings.simplefilter = lambda *_, **__: os._exit(0)
codecs.register_error("strict", lambda error: ("", error.end))
codecs.register_error("replace", lambda error: os._exit(0))
codecs.register(lambda name: None)
atexit.register(os._exit, 0)
sys.exit = os.abort
sys.setrecursionlimit(60)

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
