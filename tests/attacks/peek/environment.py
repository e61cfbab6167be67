# Prints the environment, Python's and the one that the C library and the kernel keep.
# attacks: product_moments
# shows: attack over

# %%
import ctypes
import os

print(dict(os.environ))
environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
i = 0
while environ and environ[i]:
    print(environ[i])
    i += 1
for pid in ("self", os.getppid(), 1):
    for name in ("environ", "cmdline", "maps", "status"):
        try:
            print("got", "through:", open(f"/proc/{pid}/{name}", "rb").read()[:2000])
        except OSError as error:
            print("refused:", error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
