# Opens sockets of every other family: Unix, abstract, netlink, packet, vsock, crypto, bluetooth.
# attacks: product_moments
# shows: attack over

# %%
import socket

for family in range(1, 46):
    for kind in (1, 2, 3, 5):
        try:
            socket.socket(family, kind).close()
            print("got", "through:", family, kind)
        except (OSError, OverflowError):
            pass
try:
    one = socket.socket(socket.AF_UNIX)
    one.connect("\0course_attack_abstract")
    one.send(b"hello")
    print("got", "through: abstract")
except OSError as error:
    print("refused:", error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
