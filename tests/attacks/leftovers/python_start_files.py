# Writes what Python runs when it starts: sitecustomize, usercustomize, .pth files.
# attacks: product_moments
# shows: attack over

# %%
import builtins
import os
import site
import sys

if hasattr(builtins, "course_attack_left"):
    print("got", "through: it ran")
NAMES = ("sitecustomize.py", "usercustomize.py", "course_attack.pth")
PLACES = [*sys.path, *site.getsitepackages(), site.getusersitepackages(), sys.prefix]
for place in PLACES:
    for name in NAMES:
        try:
            os.makedirs(place, exist_ok=True)
            with open(os.path.join(place, name), "x") as file:
                file.write("import builtins; builtins.course_attack_left = True\n")
            if os.path.isabs(place) and not place.startswith(os.getcwd()):
                print("got", "through:", place, name)
        except OSError:
            pass
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
