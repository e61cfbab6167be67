# Asks the finders of an editable install where the course lies, and reads it there.
# attacks: product_moments
# shows: attack over
# never: BEGIN SOLUTION

# %%
import glob
import os
import sys

places = set()
for finder in sys.meta_path:
    module = sys.modules.get(getattr(finder, "__module__", ""))
    places |= set(map(str, getattr(module, "MAPPING", {}).values()))
for folder in sys.path:
    for name in glob.glob(os.path.join(folder or ".", "*.pth")):
        places |= set(open(name).read().splitlines())
    for name in glob.glob(os.path.join(folder or ".", "__editable__*")):
        places |= set(open(name).read().split("'"))
print(sorted(places)[:20])
for place in places:
    for name in ("costs.py", "solutions/costs.py", "../solutions/costs.py"):
        try:
            print(open(os.path.join(place, name)).read())
        except OSError:
            pass
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
