# Reads what every Unix machine has: users, hosts, mounts, other processes.
# attacks: product_moments
# shows: attack over
# never: root:x:0

# %%
import os

NAMES = "etc/passwd etc/shadow etc/hosts etc/hostname proc/1/environ proc/mounts"
for name in NAMES.split():
    try:
        print("got", "through:", name, open("/" + name).read(300))
    except OSError as error:
        print("refused:", error)
for folder in ("proc", "sys", "dev/shm", "run", "var", "home", "etc", "boot", "mnt"):
    try:
        print(folder, sorted(os.listdir("/" + folder))[:10])
    except OSError as error:
        print("refused:", error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
