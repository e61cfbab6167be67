# Starts a program by every road that the standard library has.
# attacks: product_moments
# shows: attack over

# %%
import os
import pty
import subprocess
import sys

ROADS = {
    "subprocess": lambda: subprocess.run(["true"], check=True),
    "shell": lambda: subprocess.run("exit 0", shell=True, check=True),
    "posix_spawn": lambda: os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {}),
    "spawnv": lambda: 1 / (os.spawnv(os.P_NOWAIT, "/bin/true", ["true"]) > 0),
    "popen": lambda: 1 / (len(os.popen("echo yes").read()) > 0),
    "system": lambda: 1 / (os.system("exit 0") == 0),
    "pty": lambda: 1 / (pty.spawn(["true"]) == 0),
}
for name, road in ROADS.items():
    try:
        road()
        print("got", "through:", name)
    except Exception as error:
        print("refused:", name, type(error).__name__)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
