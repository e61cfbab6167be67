# Reads the memory of its parent: process_vm_readv, ptrace, /proc/PID/mem.
# attacks: product_moments
# shows: attack over

# %%
import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
READV = 310 if platform.machine() == "x86_64" else 270


class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


room = ctypes.create_string_buffer(64)
mine, theirs = Part(ctypes.addressof(room), 64), Part(id(room), 64)
for pid in {os.getppid(), 1, os.getpid() - 1} - {0, os.getpid()}:
    if libc.syscall(READV, pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0) > 0:
        print("got", "through: process_vm_readv", pid)
    if libc.ptrace(16, pid, 0, 0) == 0:
        libc.ptrace(17, pid, 0, 0)
        print("got", "through: ptrace", pid)
    try:
        open(f"/proc/{pid}/mem", "rb").close()
        print("got", "through: mem", pid)
    except OSError as error:
        print("refused:", error)
libc.ptrace(0, 0, 0, 0)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
