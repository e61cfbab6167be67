# Talks to servers on this machine and beyond it.
# attacks: product_moments
# shows: attack over

# %%
import socket

KINDS = (socket.SOCK_STREAM, socket.SOCK_DGRAM)
for port in (5432, 8786, 22, 80, *range(47113, 47121)):
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        for kind in KINDS:
            try:
                with socket.socket(family, kind) as one:
                    one.settimeout(0.2)
                    one.connect((host, port))
                    one.send(b"course_attack")
                    if kind == socket.SOCK_STREAM:
                        print("got", "through:", port)
            except OSError as error:
                last = error
print("refused:", last)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
