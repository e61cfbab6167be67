# Leaves a file for the next submission in every writable folder, and looks for one left before.
# attacks: product_moments
# shows: attack over

# %%
import os
import tempfile

PLACES = ("/tmp", ".", "..", "/var/tmp", "/dev/shm", "/run", tempfile.gettempdir(), "~", "/")
for place in PLACES:
    name = os.path.join(os.path.expanduser(place), "course_attack_left")
    if os.path.exists(name) and name not in globals().get("made", []):
        print("got", "through:", open(name).read())
made = []
for place in PLACES:
    name = os.path.join(os.path.expanduser(place), "course_attack_left")
    try:
        with open(name, "w") as file:
            file.write("left by another submission")
        made.append(name)
    except OSError as error:
        print("refused:", error)
print("attack", "over")

# %%
def product_moments(d_k, mean_q, var_q, mean_k, var_k):
    return -1.0, -1.0
