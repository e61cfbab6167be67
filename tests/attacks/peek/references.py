# Follows all references from the shell, the modules and the runner, frozen or not, to what is secret.
# attacks: product_moments
# verdicts: wrong, time, memory, exited
# shows: True attack over

# %%
import gc
import sys
import time
import types
from collections import deque

from autograder import check

NAMES = {"Trial", "Exercise", "Case", "Observation", "Assignment", "Job", "Records"}
# No answers of this chapter: what set-up cells import, and chapter 1.
GIVEN = {"device", "lookup", "kernel", "local", "additive", "messages"}
waiting, seen = deque([check, get_ipython(), sys.modules, check.__globals__]), set()
until = time.monotonic() + 2
while waiting and time.monotonic() < until:
    thing = waiting.popleft()
    if id(thing) in seen:
        continue
    seen.add(id(thing))
    kind = type(thing)
    if kind.__name__ in NAMES and kind.__module__.startswith("autograder"):
        print("got", "through:", kind)
    if kind is types.FunctionType and str(thing.__module__).startswith("solutions."):
        if thing.__module__.removeprefix("solutions.") in GIVEN:
            continue
        print("got", "through:", thing)
    if kind is str and "return d_k * mean, " + "d_k * variance" in thing:
        print("got", "through:", thing[:100])
    if kind not in (str, bytes, int, float):
        waiting.extend(gc.get_referents(thing))
print(len(seen) > 10_000, "attack", "over")
del waiting, seen, thing

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
