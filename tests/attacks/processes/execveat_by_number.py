# Calls execve and execveat by their numbers, on a script that it wrote.
# attacks: product_moments
# verdicts: wrong, exited

# %%
import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
EXECVE, EXECVEAT = (59, 322) if platform.machine() == "x86_64" else (221, 281)
with open("course_attack.sh", "w") as script:
    script.write("#!/bin/sh\necho got th''rough >&2\n")
import os

os.chmod("course_attack.sh", 0o755)
path = ctypes.c_char_p(b"course_attack.sh")
argv = (ctypes.c_char_p * 2)(b"x", None)
print(libc.syscall(EXECVE, path, argv, None), ctypes.get_errno())
print(libc.syscall(EXECVEAT, -100, path, argv, None, 0), ctypes.get_errno())

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
