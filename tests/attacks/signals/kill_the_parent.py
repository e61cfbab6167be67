# Kills, stops and interrupts the process that started it.
# attacks: product_moments
# shows: attack over

# %%
import os
import signal

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGSTOP, signal.SIGKILL):
    try:
        if os.getppid() > 1:
            os.kill(os.getppid(), number)
            print("got", "through:", number)
    except OSError as error:
        print("refused:", number, error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
