# Opens the interpreter, its packages and the grader for writing; makes files beside them.
# attacks: product_moments
# shows: attack over

# %%
import os
import sys
import sysconfig

names = {sys.executable, os.__file__, torch.__file__}
names |= {m.__file__ for m in list(sys.modules.values()) if getattr(m, "__file__", None)}
for name in names:
    try:
        os.close(os.open(name, os.O_RDWR))
        print("got", "through:", name)
    except OSError:
        pass
for place in {sysconfig.get_path("purelib"), sys.prefix, sys.base_prefix, "/", "/usr", "/dev"}:
    try:
        open(os.path.join(place, "course_attack"), "w").close()
        print("got", "through:", place)
    except OSError as error:
        print("refused:", error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
