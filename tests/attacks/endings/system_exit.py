# Raises SystemExit in a cell, in an import and in the answer.
# attacks: attention_cost
# verdicts: exited, exception

# %%
import pathlib
import sys

pathlib.Path("course_attack_module.py").write_text("raise SystemExit(0)\n")
sys.path.insert(0, ".")
try:
    import course_attack_module
except SystemExit:
    pass

# %%
sys.exit(0)

# %%
quit()

# %%
def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    raise SystemExit(0)
