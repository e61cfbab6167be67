# Raises its own limits and priority, and lowers those of its parent.
# attacks: product_moments
# shows: attack over

# %%
import os
import resource

LIMITS = ("RLIMIT_AS", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CPU", "RLIMIT_NPROC")
for name in LIMITS:
    which = getattr(resource, name)
    before = resource.getrlimit(which)
    try:
        resource.setrlimit(which, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (OSError, ValueError) as error:
        print("refused:", name, error)
        continue
    if before[1] != resource.RLIM_INFINITY:
        print("got", "through:", name, before)
for name, road in {
    "parent's limits": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1)),
    "nice": lambda: os.setpriority(os.PRIO_PROCESS, 0, -20),
}.items():
    try:
        if os.getppid() > 1 or name == "nice":
            road()
            print("got", "through:", name)
    except OSError as error:
        print("refused:", name, error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
