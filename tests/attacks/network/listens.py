# Listens for the next submission, or for someone outside.
# attacks: product_moments
# shows: attack over

# %%
import socket

for family, address in (
    (socket.AF_INET, ("0.0.0.0", 0)),
    (socket.AF_UNIX, "/tmp/course_attack.sock"),
    (socket.AF_UNIX, "\0course_attack"),
):
    try:
        one = socket.socket(family)
        one.bind(address)
        one.listen()
        print("got", "through:", address)
    except OSError as error:
        print("refused:", error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
