# Changes what it shares with the warm parent: open files' positions and flags, torch's caches.
# attacks: product_moments
# shows: attack over

# %%
import fcntl
import os

import matplotlib

for fd in range(65):
    try:
        fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK | os.O_APPEND)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.lseek(fd, 0, os.SEEK_END)
    except OSError:
        pass
try:
    if hasattr(matplotlib, "course_attack_left"):
        print("got", "through: a module")
    matplotlib.course_attack_left = True
    torch._dynamo.config.cache_size_limit = 0
except Exception as error:
    print("refused:", error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
