# Raises the runner's own words, so that the judge may take it for a stub or a fault of the grader.
# attacks: attention_cost
# verdicts: not answered, exception, wrong, exited, time

# %%
import sys

MODULES = [m for name, m in list(sys.modules.items()) if name.startswith("autograder")]
RAISED = [
    one
    for module in MODULES
    for one in vars(module).values()
    if isinstance(one, type) and issubclass(one, BaseException)
]


def attention_cost(n_q, n_k, d_k, d_v, *, bytes_per_number=4):
    calls.append(1)
    raise RAISED[len(calls) % len(RAISED)] if RAISED else NotImplementedError


calls = []
