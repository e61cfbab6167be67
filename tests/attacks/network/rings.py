# Asks for system calls by io_uring and bpf, which go past a filter of system calls.
# attacks: product_moments
# shows: attack over

# %%
import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
NUMBERS = {
    "io_uring": (425, 8),
    "bpf": (321 if x86 else 280, 0),
    "userfaultfd": (323 if x86 else 282, 0),
    "perf": (298 if x86 else 241, 0),
    "memfd": (319 if x86 else 279, 0),
    "keyctl": (250 if x86 else 219, 0),
    "seccomp": (317 if x86 else 277, 1),
    "socket by number": (41 if x86 else 198, 2),
}
room = ctypes.create_string_buffer(256)
for name, (number, first) in NUMBERS.items():
    second = ctypes.byref(room) if name != "socket by number" else 1
    if name == "memfd":
        done = libc.syscall(number, b"course_attack", 0)
    else:
        done = libc.syscall(number, first, second, 0, 0, 0)
    if done >= 0 and name not in ("keyctl",):
        print("got", "through:", name)
if x86:
    X32 = 0x40000000
    if libc.syscall(X32 + 41, 2, 1, 0) >= 0:
        print("got", "through: x32")
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
