# Asks the C library and the kernel themselves for a process: fork, vfork, clone, clone3.
# attacks: product_moments
# shows: attack over

# %%
import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
CLONE, CLONE3 = (56, 435) if x86 else (220, 435)


def tried(name, call, *args):
    child = call(*args)
    if child == 0:
        os._exit(0)
    print(("got", "through:", name) if child > 0 else ("refused:", name, ctypes.get_errno()))


tried("fork", libc.fork)
tried("syscall clone", libc.syscall, CLONE, 17, 0, 0, 0, 0)
request = (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17)
tried("syscall clone3", libc.syscall, CLONE3, ctypes.byref(request), 88)
if x86:
    tried("syscall fork", libc.syscall, 57)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
